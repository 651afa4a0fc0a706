"""Estimated scores: exact where labels are, the same in every form, and refusals in a sentence."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.estimation import ESTIMATORS, VettedLabels, make_candidates
from karat.estimation.estimation import draw_scores
from karat.estimation.estimator import run_probabilities
from karat.estimation.relevance import labels_of
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure

MEASURES = ["P@10", "RP", "AP", "mAP@R", "R@1", "nDCG@10"]


def evaluated(runs, bench, measures, **options):
    """The columns of both directions, without their means."""
    return [column for column in karat.evaluate(runs, bench, measures, **options) if not column.parts]


def with_truth(bench, name, image, caption, rating, queries=None, **provenance):
    """The benchmark with one more truth."""
    asked = queries or {"i2t": np.arange(30), "t2i": np.arange(60)}
    sources = provenance.pop("sources", [Provenance("people")])
    judged = Judgments(image, caption, rating=rating, sources=sources, **provenance)
    return replace(bench, truths={**bench.truths, name: Truth(name, judged, asked)})


@pytest.fixture(scope="module")
def part(bench):
    """A third of all pairs is vetted."""
    image, caption = np.divmod(np.flatnonzero(np.random.default_rng(3).random(1800) < 0.3), 60)
    return with_truth(
        bench, "part", image, caption, labels_of(bench.truth("complete"), "i2t", image, caption)
    )


@pytest.mark.parametrize("ties", ["stable", "expected"])
@pytest.mark.parametrize("estimator", ["naive", "mixed"])
def test_everything_vetted_is_the_score_itself(bench, runs, rounded, ties, estimator):
    systems = [*runs, rounded]
    found = karat.estimate(
        systems, bench, MEASURES, noisy="original", vetted="complete", ties=ties, estimator=estimator, draws=8
    )
    card = evaluated(systems, bench, MEASURES, truth="complete", ties=ties)
    assert len(found.records()) == len(card) == 6 * 3 * 2
    for column in card:
        # A query without a relevant item counts as 0.
        expected = np.nan_to_num(column.values).mean()
        value = found.value(str(column.measure), column.run, column.direction)
        assert value == pytest.approx(expected, abs=1e-12)
    for record in found.records():
        assert record["spread"] == pytest.approx(0, abs=1e-12)
        assert record["value"] == pytest.approx(record["vetted_only"], abs=1e-12)


def test_ranked_lists(bench, ranked):
    found = karat.estimate(
        ranked, bench, "P@10", noisy="original", vetted="complete", estimator="mixed", draws=8
    )
    for column in evaluated(ranked, bench, ["P@10"], truth="complete"):
        assert found.value("P@10", direction=column.direction) == pytest.approx(column.value, abs=1e-12)


def test_naive_is_the_score_by_noisy_labels_where_nothing_is_vetted(bench, runs):
    # The one label that is vetted says what the noisy one says.
    one = with_truth(bench, "one", [0], [0], [1])
    found = karat.estimate(
        runs, one, MEASURES, noisy="original", vetted="one", estimator="naive", depth=60, draws=8
    )
    for column in evaluated(runs, one, MEASURES, truth="original", ties="stable"):
        value = found.value(str(column.measure), column.run, column.direction)
        assert value == pytest.approx(np.nan_to_num(column.values).mean(), abs=1e-12)
    assert "P@10 image→text: rests on 1 vetted pair, which is few" in found.notes


def test_records_tables_and_gaps(part, runs):
    found = karat.estimate(
        runs, part, "P@5", noisy="original", vetted="part", direction="t2i", estimator="mixed"
    )
    assert str(found) == str(
        karat.estimate(runs, part, "P@5", noisy="original", vetted="part", direction="t2i", estimator="mixed")
    )
    [column] = found.columns
    assert len(column.candidates) > column.looked_at.sum()
    for record, score in zip(found.records(), column.scores):
        assert record["value"] == pytest.approx(score)
        assert record["estimator"] == "mixed"
        assert record["target"] == "test-set"
        assert record["candidates"] == column.looked_at.sum()
        assert record["vetted"] == (column.looked_at & column.labels.vetted).sum()
    [gap] = found.differences()
    drawn = (column.draws[:, 0] - column.draws[:, 1]).round(12)
    assert gap["value"] == pytest.approx(column.scores[0] - column.scores[1])
    assert gap["spread"] == pytest.approx(drawn.std())
    assert gap["first_ahead"] == pytest.approx((drawn > 0).mean() + (drawn == 0).mean() / 2)
    text = str(found)
    assert "for this test set: the score that fully vetted labels would give on these queries." in text
    assert f"{found.records()[0]['vetted']} of {found.records()[0]['candidates']}" in text
    with pytest.raises(InputError, match="2 estimates of P@5 fit; name the measure, the run and the dir"):
        found.value("P@5")


def test_the_spread_is_that_of_independent_labels(part, runs):
    [column] = karat.estimate(
        runs, part, "P@5", noisy="original", vetted="part", direction="t2i", estimator="mixed", draws=4000
    ).columns
    p = column.probability
    for run, spread in zip(column.candidates.runs, column.spread):
        inside = column.candidates.places[run] < 5
        by_hand = np.sqrt((p * (1 - p))[inside].sum()) / 5 / 60
        assert spread == pytest.approx(by_hand, rel=0.06)
    assert draw_scores(column.candidates, np.full(len(p), np.nan), parse_measure("P@5"), 3).shape == (3, 2)


def test_the_target(part, runs):
    options = {"noisy": "original", "vetted": "part", "direction": "t2i", "estimator": "mixed"}
    here = karat.estimate(runs, part, "P@5", **options)
    anywhere = karat.estimate(runs, part, "P@5", target="population", **options)
    assert here.value("P@5", "seer") == anywhere.value("P@5", "seer")
    for first, second, values in zip(here.records(), anywhere.records(), here.columns[0].values):
        assert second["target"] == "population"
        # Captions of one image are drawn together.
        pairs = values.reshape(30, 2).mean(axis=1)
        between = pairs.var(ddof=1) / 30
        assert second["spread"] == pytest.approx(np.sqrt(first["spread"] ** 2 + between), rel=1e-9)
    assert "queries like these" in str(anywhere)


def test_unlisted_pairs_that_are_not_relevant(part, runs):
    options = {"noisy": "original", "vetted": "part", "direction": "t2i", "estimator": "naive"}
    found = karat.estimate(runs, part, ["AP", "P@5"], unlisted="no", **options)
    card = karat.evaluate(runs, part, ["AP", "P@5"], truth="part", direction="t2i", ties="stable")
    for column in card:
        expected = np.nan_to_num(column.values).mean()
        assert found.value(str(column.measure), column.run) == pytest.approx(expected, abs=1e-12)


def test_other_estimators_beside(part, runs):
    found = karat.estimate(
        runs, part, "P@5", noisy="original", vetted="part", direction="t2i", estimator="mixed"
    )
    [column] = found.columns
    p5, draw = parse_measure("P@5"), np.random.default_rng(0)
    for name in ("naive", "sample-mean"):
        p = run_probabilities(ESTIMATORS[name](), column.labels, p5, draw)
        scores = values_per_query(column.candidates, p, p5).mean(axis=1)
        np.testing.assert_allclose(getattr(column, name.replace("-", "_")), scores)


@pytest.mark.parametrize("estimator", list(ESTIMATORS))
def test_every_estimator_gives_probabilities_and_the_same_ones_again(part, runs, estimator):
    candidates = make_candidates(runs, part, "original", direction="t2i", depth=5)
    label = labels_of(part.truth("complete"), "t2i", candidates.queries[candidates.query], candidates.item)
    rows = np.random.default_rng(1).permutation(len(candidates))[:150]
    labels = VettedLabels(candidates, rows, label[rows] > 0)
    first, second = (
        ESTIMATORS[estimator]().probabilities(labels, parse_measure("AP"), np.random.default_rng(4))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape == (len(candidates),)
    known = first[~np.isnan(first)]
    assert ((known >= 0) & (known <= 1)).all()


def test_labels_outside_the_candidates(bench, runs):
    only = {"i2t": np.arange(10), "t2i": np.arange(20)}
    few = with_truth(bench, "few", np.arange(10), 2 * np.arange(10), np.ones(10), queries=only)
    both = with_truth(few, "both", [0, 29], [3, 59], [0, 1])
    found = karat.estimate(
        runs, both, "P@60", noisy="few", vetted="both", direction="i2t", estimator="naive", draws=4
    )
    assert found.notes[0] == (
        "image→text: 1 of 2 labels of both are not used: of queries that few does not cover, or of items "
        "that are not ranked"
    )
    away = with_truth(few, "away", [29], [59], [1])
    with pytest.raises(InputError, match=r"all labels of truth 'away' are outside the candidates \(i2t\); n"):
        karat.estimate(runs, away, "P@10", noisy="few", vetted="away", estimator="naive")
    deep = int(np.argmin(runs[0].scores[0]))
    low = with_truth(bench, "low", [0], [deep], [0])
    said = r"none of the 1 vetted pair is among what P@2 looks at \(i2t\); vet pairs that the runs rank first"
    with pytest.raises(InputError, match=said):
        karat.estimate(runs[0], low, "P@2", noisy="original", vetted="low", estimator="naive")


def test_labels_that_cannot_be_used(bench, runs):
    def refused(name, rating, measure="P@10", **judged):
        made = with_truth(bench, name, [0] * len(rating), [0] * len(rating), rating, **judged)
        with pytest.raises(InputError) as error:
            karat.estimate(runs, made, measure, noisy="original", vetted=name, estimator="naive")
        return str(error.value)

    assert refused("empty", []) == "truth 'empty' has no labels; name another truth, or vet some pairs."
    both = {"source": [0, 1], "sources": [Provenance("ann"), Provenance("bob")]}
    assert "'torn' has contradictory labels of 1 pair, first of image 0" in refused("torn", [1, 0], **both)
    half = {"sources": [Provenance("ann", "0 to 1", Share(top=1))]}
    said = refused("graded", [0.5], **half)
    assert said.startswith("truth 'graded' has grades between 0 and 1, and an estimate is of labels")
    assert "as in P(rel=1)@10, or rel=any" in said
    graded = with_truth(bench, "graded", [0, 0], [0, 1], [0.5, 1], **half)
    for measure, positives in (("P(rel=any)@60", 2), ("P(rel=0.75)@60", 1)):
        found = karat.estimate(
            runs, graded, measure, noisy="original", vetted="graded", estimator="naive", direction="i2t"
        )
        assert found.columns[0].labels.relevant.sum() == positives


def test_measures_without_an_estimate(bench, runs):
    for measure, said in (
        ("MedR", "MedR is not a mean of shares over queries; choose P@10"),
        ("MeanR", "MeanR is not a mean of shares over queries"),
        ("RSUM", "RSUM is made of several columns; estimate its parts: R@1,R@5,R@10"),
        ("NCS(cider)@10", "looks at similarities, not at labels"),
    ):
        with pytest.raises(InputError, match=said):
            karat.estimate(runs, bench, measure, noisy="original", vetted="complete")
    with pytest.raises(InputError, match="ties is 'pessimistic', which orders equal scores by their labels"):
        karat.estimate(runs, bench, "P@5", noisy="original", vetted="complete", ties="pessimistic")
    with pytest.raises(InputError, match="depth is 0; give a whole number from 1"):
        karat.estimate(runs, bench, "P@5", noisy="original", vetted="complete", depth=0)


def test_a_run_without_scores(bench, ranked):
    for estimator in ("learned", "direct"):
        with pytest.raises(InputError, match="lists: ranked lists have no scores, and this estimator learns"):
            karat.estimate(ranked, bench, "P@10", noisy="original", vetted="complete", estimator=estimator)
