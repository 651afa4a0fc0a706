"""The pieces of the training script: trees that are cut, bent and made."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))

from english.captions import made_captions
from english.treebank import Tree, projective, read_trees, simple_label
from english.variants import clauses, participle, phrases, plain, present

from karat.lexicon.syntax import LABELS, TAGS, XPOS, Sentence
from tests.lexicon.syntax.gold import assert_tree

CONLLU = """# text = The old man was riding a wave.
1\tThe\tthe\tDET\tDT\t_\t3\tdet\t_\t_
2\told\told\tADJ\tJJ\t_\t3\tamod\t_\t_
3\tman\tman\tNOUN\tNN\t_\t5\tnsubj\t_\t_
4\twas\tbe\tAUX\tVBD\t_\t5\taux\t_\t_
5\trode\tride\tVERB\tVBD\t_\t0\troot\t_\t_
5.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_
6-7\tawave\t_\t_\t_\t_\t_\t_\t_\t_
6\ta\ta\tDET\tDT\t_\t7\tdet\t_\t_
7\twave\twave\tNOUN\tNN\t_\t5\tobj\t_\t_
8\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

"""


@pytest.fixture
def tree(tmp_path) -> Tree:
    path = tmp_path / "one.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    (tree,) = read_trees(path)
    return tree


def check(tree: Tree) -> None:
    upos, xpos = zip(*tree.tags)
    assert set(upos) <= set(TAGS)
    assert set(xpos) <= set(XPOS)
    assert set(tree.labels) <= set(LABELS)
    assert_tree(Sentence(list(tree.words), list(upos), list(xpos), list(tree.heads), list(tree.labels)))


def test_reading(tree):
    assert tree.words == ("The", "old", "man", "was", "rode", "a", "wave", ".")
    assert tree.heads == (2, 2, 4, 4, -1, 6, 4, 4)
    check(tree)


def test_plain(tree):
    assert plain(tree).words == ("the", "old", "man", "was", "rode", "a", "wave")


def test_a_clause_becomes_a_phrase(tree):
    doing, does = clauses(tree, {})
    assert " ".join(doing.words) == "The old man riding a wave"
    assert doing.heads == (2, 2, -1, 2, 5, 3)
    assert doing.labels == ("det", "amod", "root", "acl", "det", "obj")
    assert doing.tags[3] == ("VERB", "VBG")
    assert " ".join(does.words) == "The old man rides a wave"
    assert does.labels[3] == "root"
    check(doing)
    check(does)


def test_phrases(tree):
    assert [" ".join(piece.words) for piece in phrases(tree)] == ["The old man"]


def test_crossing_arcs_are_lifted():
    crossed = Tree(
        tuple("abcd"), (("NOUN", "NN"),) * 4, tuple("abcd"), (-1, 3, 0, 0), ("root", "nmod", "nmod", "nmod")
    )
    lifted = projective(crossed)
    assert lifted.heads == (-1, 0, 0, 0)
    assert projective(lifted) == lifted


@pytest.mark.parametrize(
    ("lemma", "form"),
    [("ride", "riding"), ("sit", "sitting"), ("lie", "lying"), ("see", "seeing"), ("eat", "eating")],
)
def test_participles(lemma, form):
    assert participle(lemma, {}) == form


@pytest.mark.parametrize(
    ("lemma", "form"), [("catch", "catches"), ("fly", "flies"), ("play", "plays"), ("have", "has")]
)
def test_third_person(lemma, form):
    assert present(lemma) == form


def test_labels_lose_unknown_subtypes():
    assert [simple_label(x) for x in ("nmod:poss", "nmod:desc", "acl:relcl", "strange")] == [
        "nmod:poss", "nmod", "acl:relcl", "dep",
    ]  # fmt: skip


def test_made_captions_are_trees_and_repeat():
    facts = {"terrier": (1, 5, 0), "lorry": (1, 6, 0), "baker": (1, 18, 0), "bagel": (1, 13, 0)}
    made = made_captions(facts, 400, 100, seed=1)
    assert made == made_captions(facts, 400, 100, seed=1)
    assert made != made_captions(facts, 400, 100, seed=2)
    assert [tree.origin for tree in made] == list(range(100, 500))
    for tree in made:
        check(tree)
        assert projective(tree) == tree
