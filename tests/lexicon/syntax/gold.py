"""Captions with trees written by hand, and what makes a list of heads a tree."""

from pathlib import Path

from karat.lexicon.syntax import Sentence


def captions(name: str = "captions.txt") -> list[Sentence]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    out = []
    for line in lines:
        if not line.startswith("#"):
            words, tags, xpos, heads, labels = zip(*(cell.split("|") for cell in line.split()))
            out.append(
                Sentence(list(words), list(tags), list(xpos), [int(h) - 1 for h in heads], list(labels))
            )
    return out


def assert_tree(sentence: Sentence) -> None:
    """One root, which every word reaches; the root, and only it, is labelled so."""
    heads = sentence.heads
    assert all(-1 <= head < len(heads) and head != i for i, head in enumerate(heads))
    assert [label == "root" for label in sentence.labels] == [head == -1 for head in heads]
    assert heads.count(-1) == (1 if heads else 0)
    for i in range(len(heads)):
        steps = 0
        while i >= 0:
            i = heads[i]
            steps += 1
            assert steps <= len(heads), "a circle"
