"""Perturbed captions: seeds, logged changes, shares, languages, the file of queries."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.captions import (
    PerturbedQuery,
    WordChange,
    apply_changes,
    read_queries,
    tokenise,
    word_spans,
    write_queries,
)
from karat.errors import InputError
from karat.perturbations import PERTURBATIONS
from karat.world import make_world
from perturbations.test_perturbations import made

WORLD = make_world(images=20, captions=3, seed=3).benchmark()
ODD = [
    "A man’s dog &amp; a red bus",
    "  Two BIG dogs, (brown) ...",
    "Ein roter Hund",
    "",
    "A café's white table\twith a\nsmall cup.",
    "A small İstanbul street.",
]


@pytest.mark.parametrize("kind", list(PERTURBATIONS))
@pytest.mark.parametrize("words", ["one", "all"])
def test_nothing_but_the_logged_spans_changes(kind, words):
    texts = [*ODD, *WORLD.needed_texts]
    result = karat.perturb(made(texts), kind, words=words, seed=4)
    assert result == karat.perturb(made(texts), kind, words=words, seed=4)
    assert {query.old for query in result.queries} <= set(texts)
    for query in result.queries:
        assert query.new != query.old
        assert any(change.kind == kind for change in query.changes)
        assert apply_changes(query.old, query.changes) == query.new
        assert [c.position for c in query.changes] == sorted({c.position for c in query.changes})
        for change in query.changes:
            assert change.old != change.new
            assert query.old[change.position :].startswith(change.old)


def test_a_draw_depends_on_the_seed_and_the_caption_alone():
    texts = ["A red bus.", "A blue car near a green tree.", "A white dog."]
    whole = {query.caption: query.new for query in karat.perturb(made(texts), "colour").queries}
    part = {query.caption: query.new for query in karat.perturb(made(texts[:2]), "colour").queries}
    assert part == {name: whole[name] for name in part}
    other = {tuple(q.new for q in karat.perturb(made(texts), "colour", seed=s).queries) for s in range(5)}
    assert len(other) == 5


def test_one_word_or_all():
    bench = made(["A red bus, a blue car and a green tree."])
    (one,) = karat.perturb(bench, "colour").queries
    (every,) = karat.perturb(bench, "colour", words="all").queries
    assert sum(change.kind == "colour" for change in one.changes) == 1
    assert sum(change.kind == "colour" for change in every.changes) == 3


def test_shares_of_captions_and_of_sets():
    bench = made(["A red bus.", "A bus.", "A dog.", "A cat."], ["x", "x", "y", "y"])
    result = karat.perturb(bench, "colour", keep_unchanged=True)
    assert (result.share, result.set_share) == (0.25, 0.5)
    assert "captions            1   4  25.0\ncaption sets        1   2  50.0" in str(result)
    assert len(result.unchanged) == 3
    nothing = karat.perturb(bench, "antonym-verb")
    assert nothing.queries == ()
    assert nothing.notes == ("no caption has a word that antonym-verb changes",)


@pytest.mark.parametrize(
    "texts",
    [
        ["ein mann in einem roten hemd steht auf der straße", "zwei hunde laufen im gras"],
        ["un homme en chemise rouge marche dans la rue", "deux chiens jouent"],
        ["un hombre con una camisa roja", "dos perros negros", "un hombre con caballo"],
        ["een man met een rode hoed", "twee honden in het gras"],
        ["一个男人骑马", "两只狗"],
    ],
)
def test_other_languages_are_refused(texts):
    with pytest.raises(InputError, match="karat rewrites English alone"):
        karat.perturb(made(texts), "colour")


def test_single_captions_in_another_language_are_left_alone():
    texts = ["A red bus.", "A black dog.", "ein rotes auto in der stadt"]
    result = karat.perturb(made(texts), "full-stop")
    assert [query.old for query in result.queries] == texts[:2]
    assert result.notes == ("1 caption has too few English words and is left as written",)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("colr", "did you mean colour"),
        ("colour(blue)", "give all or in"),
        ("colour(distance=-1)", "give a number, 0 or more"),
        ("size(big=1)", "no parameter 'big'"),
    ],
)
def test_unknown_kinds(kind, message):
    with pytest.raises(InputError, match=message):
        karat.perturb(WORLD, kind)
    with pytest.raises(InputError, match="words"):
        karat.perturb(WORLD, "colour", words="some")


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_spans_are_where_the_words_are(text):
    spans = word_spans(text, tokenise(text))
    if spans is None:
        return
    plain = text.replace("’", "'").replace("‘", "'")
    ends = [0, *(end for _, end in spans)]
    for (begin, end), word, before in zip(spans, tokenise(text), ends):
        assert before <= begin < end == begin + len(word)
        if plain[begin:end].isascii():
            assert plain[begin:end].lower() == word


def test_spans_of_plain_captions_are_always_found():
    for text in WORLD.needed_texts:
        assert [text[a:b].lower() for a, b in word_spans(text, tokenise(text))] == list(tokenise(text))


# The file.


def test_the_file_comes_back(tmp_path):
    texts = ["A red\tbus.", "a blue\\n car", "a green tree\nand a white house"]
    result = karat.perturb(made(texts), "colour", words="all", keep_unchanged=True)
    result.save(tmp_path / "q.tsv")
    assert read_queries(tmp_path / "q.tsv", made(texts)) == (*result.queries, *result.unchanged)
    result.save(tmp_path / "q.csv")
    assert (tmp_path / "q.csv").read_text().startswith("caption,old,new,changes\n")


GOOD = {"word": "red", "position": 2, "kind": "colour", "old": "red", "new": "blue"}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("1", "a red bus", "a blue bus", "x"), "row 2: its changes are not a json list"),
        (("1", "a red bus", "a blue bus", "[" * 100_000), "row 2: its changes are not a json list"),
        (("1", "a red bus", "a blue bus", "[1]"), r"row 2: changes\[0\] is not a json object"),
        (("1", "a red bus", "a blue bus", [{**GOOD, "position": "2"}]), "give a whole number"),
        (("1", "a red bus", "a blue bus", [{**GOOD, "position": -1}]), "give a whole number"),
        (("1", "a red bus", "a blue bus", [{**GOOD, "position": True}]), "position"),
        (("1", "a red bus", "a blue bus", [{"word": "red"}]), "has no key"),
        (("1", "a red bus", "a blue bus", [GOOD, GOOD]), "is not its old text with its changes"),
        (("1", "a red bus", "a green bus", [GOOD]), "is not its old text with its changes"),
        (("1", "a red bus", "a blue bus", []), "is not its old text with its changes"),
        (("9", "a red bus", "a blue bus", [GOOD]), "made has no caption 9"),
        (("c0", "a red bus", "a blue bus", [GOOD]), "has another text"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, cells, message):
    *texts, changes = cells
    line = "\t".join([*texts, changes if isinstance(changes, str) else json.dumps(changes)])
    (tmp_path / "q.tsv").write_text(f"caption\told\tnew\tchanges\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_queries(tmp_path / "q.tsv", made(["a red car"]))


def test_a_caption_twice_and_missing_columns(tmp_path):
    query = PerturbedQuery("1", "a red bus", "a blue bus", (WordChange(**GOOD),))
    write_queries([query, query], tmp_path / "q.tsv")
    with pytest.raises(InputError, match="repeats the caption 1"):
        read_queries(tmp_path / "q.tsv")
    (tmp_path / "q.tsv").write_text("caption\told\n1\ta\n")
    with pytest.raises(InputError, match="has no column 'new'"):
        read_queries(tmp_path / "q.tsv")
