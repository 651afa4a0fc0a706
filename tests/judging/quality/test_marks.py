"""Marks from answers: which answers and choices count, for which pair."""

import re

import numpy as np
import pytest

from karat.benchmarks import KINDS, Benchmark, Grouping, Ids, Judgments, Provenance, Truth, sides_of
from karat.errors import InputError
from karat.explanations import summarise_marks
from karat.forms import ADJUDICATOR, PERSON, Choice, ChosenDetails, Form, load_form, make_answers
from karat.judging import answer_marks
from karat.world import make_world

FORM = load_form("misread")
COLOURS = {
    "black",
    "white",
    "red",
    "green",
    "yellow",
    "blue",
    "brown",
    "orange",
    "pink",
    "purple",
    "grey",
    "gray",
}
CODES = [choice.code for choice in FORM.follow_ups[0].choices]


def answered(rows, **more):
    """Return answers from rows of image, caption, annotator, rating and the marked classes."""
    image, caption, annotator, rating, marks = zip(*rows)
    details = [(row, f"misread.{code}") for row, codes in enumerate(marks) for code in codes.split()]
    return make_answers(
        image, caption, annotator, rating, ("ann", "bob", "eve"),
        details=ChosenDetails.of(details), **more,
    )  # fmt: skip


def test_a_pair_is_one_failure_and_gold_and_adjudicators_do_not_count():
    rows = [
        (0, 5, 0, 3, "color number"), (0, 5, 1, 4, "color"), (1, 5, 0, 10, "alternative"),
        (2, 6, 0, 1, "object"), (0, 5, 2, 9, "details"),
    ]  # fmt: skip
    answers = answered(rows, gold=[-1, -1, -1, 0, -1], kinds=(PERSON, PERSON, ADJUDICATOR))
    marks = answer_marks(answers, FORM)
    assert list(marks.classes) == CODES
    marked = {name: column.tolist() for name, column in marks.classes.items() if column.any()}
    assert marked == {
        "color": [True, True, False],
        "number": [True, False, False],
        "alternative": [False, False, True],
    }
    assert marks.pair.tolist() == [0, 0, 1]
    summary = summarise_marks(marks)
    assert (summary.pairs, summary.answers, summary.mean_rating) == (2, 3, (3.5 + 10) / 2)


def test_no_mark_where_one_is_required_is_not_nothing_wrong():
    marks = answer_marks(answered([(0, 5, 0, 3, "color"), (1, 5, 0, 2, ""), (2, 5, 0, 2, "")]), FORM)
    assert len(marks) == 1
    assert marks.notes == ("2 answers without a mark left out",)
    # On this form a good answer has no shortcomings, and is asked for none.
    pair = make_answers([0, 1], [0, 1], [0, 0], [4, 1], ("ann",),
                        details=ChosenDetails.of([(1, "shortcomings.wrong_way")]))  # fmt: skip
    marks = answer_marks(pair, load_form("pair"))
    assert marks.classes["wrong_way"].tolist() == [False, True]
    assert marks.scale == (1, 4)
    assert list(summarise_marks(marks).ratings) == [1, 2, 3, 4]


def test_pairs_of_one_image_are_a_cluster_and_captions_come_along():
    bench = make_world(images=10, captions=2, seed=1).benchmark()
    marks = answer_marks(
        answered([(0, 4, 0, 3, "color"), (1, 5, 0, 2, "size"), (2, 8, 0, 2, "size")]), FORM, bench
    )
    first, second, third = marks.cluster.tolist()
    assert first == second != third
    assert marks.caption.tolist() == [bench.texts[caption] for caption in (4, 5, 8)]


def test_clusters_are_groups_of_the_queries():
    """Queries without groups are each by itself; items of one collection have the groups of their side."""
    first, second, rating = [0, 0, 1], [2, 1, 2], [3, 3, 3]
    marked = ChosenDetails.of((row, f"misread.{CODES[0]}") for row in range(3))
    answers = make_answers(first, second, [0, 0, 0], rating, ("ann",), details=marked)
    rated = Judgments([0, 0, 1], [1, 2, 2], sources=[Provenance("people")])
    ids = Ids([f"d{k}" for k in range(3)])
    groups = Grouping(KINDS["i"], "images", np.array(["x", "y"]), (None, np.array([0, 1, 1])))
    for direction, own, expected in (
        ("q2d", None, [[0, 1], [2]]), ("t2t", groups.within(1), [[0, 1], [2]]),
    ):  # fmt: skip
        truth = Truth("rated", rated, {direction: np.arange(2)})
        bench = Benchmark("made", ids, ids, {"rated": truth}, sides=sides_of(direction), groups=own)
        clusters = answer_marks(answers, FORM, bench).cluster
        found = [np.flatnonzero(clusters == one).tolist() for one in dict.fromkeys(clusters.tolist())]
        assert found == expected


def test_a_planted_rule_from_a_colour_to_a_misread_colour_is_found():
    bench, rng = make_world(images=60, captions=2, seed=2).benchmark(), np.random.default_rng(0)
    named = np.array([not COLOURS.isdisjoint(re.findall(r"\w+", text.lower())) for text in bench.texts])
    wrong = rng.random(len(named)) < np.where(named, 0.9, 0.05)
    rows = [(0, caption, 0, 4, "color" if one else "details") for caption, one in enumerate(wrong.tolist())]
    marks = answer_marks(answered(rows), FORM, bench)
    summary = summarise_marks(marks, slices=["colours", "numbers"])
    best = summary.slice_rules.rules[0]
    assert str(best) == "colour: any → color"
    assert best.p < 0.01
    # Counted by hand.
    assert (best.n, best.of) == ((wrong & named).sum(), named.sum())
    assert {record["what"] for record in summary.records()} >= {"class", "rule from a slice"}
    with pytest.raises(InputError, match="unknown kind of slice of texts 'rivals'"):
        summarise_marks(marks, slices=["rivals"])
    with pytest.raises(InputError, match="the marks have no captions"):
        summarise_marks(answer_marks(answered(rows), FORM), slices=True)


def test_what_cannot_be_marked_is_said():
    no, yes = (Choice(text, text, rating=k, grade=k) for k, text in enumerate(("no", "yes")))
    answers = answered([(0, 5, 0, 1, "color")])
    with pytest.raises(InputError, match="the form 'check' has no question with several choices"):
        answer_marks(answers, Form("check", "", "", (no, yes)))
    with pytest.raises(InputError, match="unknown question with several choices 'misraed'"):
        answer_marks(answers, FORM, question="misraed")
    with pytest.raises(InputError, match="no answer counts"):
        answer_marks(answered([(0, 5, 0, 1, "color")], gold=[0]), FORM)


def test_clusters_widen_intervals():
    bench = make_world(images=30, captions=2, seed=1).benchmark()
    # Both captions of an image fail alike: 60 pairs are worth 30.
    answers = answered([(k, k, 0, 3, "color" if k // 2 % 2 else "size") for k in range(60)])
    for benchmark, worth in ((None, 60), (bench, 30)):
        shares = summarise_marks(answer_marks(answers, FORM, benchmark)).shares
        ((low, high),) = [ends for name, _, _, *ends in shares if name == "color"]
        assert high - low == pytest.approx(wilson_width(worth), rel=1e-9)


def wilson_width(n):
    """The width of Wilson's interval of one half, by its formula."""
    z = 1.959963984540054
    return 2 * z / (1 + z * z / n) * np.sqrt(0.25 / n + z * z / (4 * n * n))
