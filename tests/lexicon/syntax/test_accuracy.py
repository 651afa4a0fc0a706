"""How often the parser is right, on made-up captions and on the treebank's dev part."""

import sys
from pathlib import Path

import pytest

from karat.lexicon.syntax import load_parser
from tests.lexicon.syntax.gold import captions

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))


def shares(gold) -> dict[str, float]:
    parsed = load_parser()([sentence.words for sentence in gold])
    right = {"tags": 0, "xpos": 0, "heads": 0, "both": 0}
    for guess, sentence in zip(parsed, gold):
        for k in range(len(sentence)):
            head = guess.heads[k] == sentence.heads[k]
            right["tags"] += guess.tags[k] == sentence.tags[k]
            right["xpos"] += guess.xpos[k] == sentence.xpos[k]
            right["heads"] += head
            right["both"] += head and guess.labels[k] == sentence.labels[k]
    size = sum(map(len, gold))
    return {name: count / size for name, count in right.items()}


@pytest.mark.parametrize(
    ("name", "tags", "heads", "both"),
    [("captions.txt", 0.97, 0.95, 0.94), ("captions_unseen.txt", 0.96, 0.92, 0.9)],
)
def test_captions(name, tags, heads, both):
    share = shares(captions(name))
    assert share["tags"] >= tags
    assert share["xpos"] >= tags
    assert share["heads"] >= heads
    assert share["both"] >= both


def test_capital_letters_and_a_full_stop_change_nothing():
    plain = [sentence.words for sentence in captions()]
    written = [[words[0].capitalize(), *words[1:], "."] for words in plain]
    alike = total = 0
    for a, b in zip(load_parser()(plain), load_parser()(written)):
        alike += sum(x == y for x, y in zip(a.heads, b.heads[:-1]))
        total += len(a)
    assert alike / total >= 0.97


@pytest.mark.parametrize("manner", ["as written", "plain"])
def test_treebank(data, manner):
    """A floor against getting worse, set below what was measured; the aim of 86% of heads is not met."""
    from english.treebank import read_trees
    from english.variants import plain

    trees = list(read_trees(data / "ud" / "en_ewt-ud-dev.conllu.xz"))
    if manner == "plain":
        trees = [tree for tree in map(plain, trees) if len(tree)]
    parsed = load_parser()([tree.words for tree in trees])
    tags = heads = size = 0
    for guess, tree in zip(parsed, trees):
        tags += sum(a == b for a, (b, _) in zip(guess.tags, tree.tags))
        heads += sum(a == b for a, b in zip(guess.heads, tree.heads))
        size += len(tree)
    assert tags / size >= (0.945 if manner == "as written" else 0.93), f"{tags / size:.4f} of the tags"
    assert heads / size >= (0.84 if manner == "as written" else 0.82), f"{heads / size:.4f} of the heads"
