"""Candidates: which pairs they are, where runs rank them, and that full labels give the scores themselves."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Truth
from karat.errors import InputError
from karat.estimation import Candidates, VettedLabels, covered_queries, make_candidates
from karat.estimation.relevance import labels_of
from karat.estimation.vetting import truth_labels, values_per_query
from karat.measures import parse_measure

MEASURES = ["P@10", "P@3", "RP", "AP", "mAP@R", "R@1", "R@5", "nDCG", "nDCG@10", "MRR"]


def scores_of_full_labels(runs, bench, name, direction, ties):
    """Values [measures, runs, queries] when the truth `name` answers about every candidate."""
    truth = bench.truth(name)
    everything = {"listed": truth, "direction": direction, "ties": ties, "depth": 12}
    candidates = make_candidates(runs, bench, "original", **everything)
    label = truth_labels(candidates, truth, unlisted="no")
    return [values_per_query(candidates, label, parse_measure(measure)) for measure in MEASURES]


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
@pytest.mark.parametrize("ties", ["stable", "expected"])
@pytest.mark.parametrize("name", ["complete", "original"])
def test_full_labels_give_the_scores_of_evaluate(bench, runs, rounded, direction, ties, name):
    systems = [*runs, rounded]
    values = scores_of_full_labels(systems, bench, name, direction, ties)
    card = karat.evaluate(systems, bench, MEASURES, truth=name, direction=direction, ties=ties)
    for measure, by_run in zip(MEASURES, values):
        for run, estimated in zip(systems, by_run):
            [column] = [c for c in card if c.run == run.name and str(c.measure) == measure]
            np.testing.assert_allclose(estimated, np.nan_to_num(column.values), rtol=0, atol=1e-12)


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_full_labels_of_ranked_lists(bench, ranked, direction):
    for measure in ("P@10", "R@5", "MRR@10", "nDCG@10"):
        candidates = make_candidates(
            [ranked], bench, "original", direction=direction, listed=bench.truth("complete")
        )
        label = truth_labels(candidates, bench.truth("complete"))
        values = values_per_query(candidates, label, parse_measure(measure))[0]
        [column] = karat.evaluate(ranked, bench, [measure], truth="complete", direction=direction)
        np.testing.assert_allclose(values, np.nan_to_num(column.values), rtol=0, atol=1e-12)
    assert candidates.scores == {}


def test_lists_that_end_early(bench, ranked, runs):
    [note] = make_candidates([*runs, ranked], bench, "original", direction="t2i", depth=13).notes
    assert note == "lists: its t2i lists end early; what is not in them counts as ranked last"
    just = {"direction": "t2i", "depth": 12, "noisy_positives": False}
    assert make_candidates([*runs, ranked], bench, "original", **just).notes == ()
    candidates = make_candidates([ranked], bench, "original", direction="t2i", listed=bench.truth("complete"))
    missing = np.isinf(candidates.places["lists"])
    assert missing.any()
    # Their labels count in R, as those of items that were not retrieved.
    label = truth_labels(candidates, bench.truth("complete"))
    found = np.bincount(candidates.query, label * ~missing)
    values = values_per_query(candidates, label, parse_measure("RP"))[0]
    cut = np.bincount(candidates.query, label) > 12
    assert cut.any()
    np.testing.assert_allclose(values[cut], found[cut] / np.bincount(candidates.query, label)[cut])


def test_which_pairs_are_candidates(bench, runs):
    candidates = make_candidates(runs, bench, "original", direction="t2i", depth=3)
    scores = np.stack([run.scores for run in runs])
    place = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    own = bench.caption_image[:, None] == np.arange(30)
    expected = (place < 3).any(axis=0).T | own
    image, caption = candidates.pairs
    chosen = np.zeros_like(expected)
    chosen[caption, image] = True
    np.testing.assert_array_equal(chosen, expected)
    np.testing.assert_array_equal(candidates.noisy, own[caption, image])
    for run, there in zip(runs, place):
        np.testing.assert_array_equal(candidates.places[run.name], there[image, caption])
        np.testing.assert_array_equal(candidates.scores[run.name], run.scores[image, caption])
    # A measure with a fixed cut-off looks at nothing below it.
    np.testing.assert_array_equal(
        candidates.matter(parse_measure("P@2")), (place[:, image, caption] < 2).any(axis=0)
    )
    assert candidates.matter(parse_measure("RP")).all()
    assert repr(candidates).startswith(f"Candidates({len(candidates):,} pairs of 60 captions, 60 relevant")


def test_a_random_sample_besides(bench, runs):
    plain = make_candidates(runs[:1], bench, "original", direction="i2t", depth=3)
    more = make_candidates(runs[:1], bench, "original", direction="i2t", depth=3, sample=5)
    again = make_candidates(runs[:1], bench, "original", direction="i2t", depth=3, sample=5)
    everything = make_candidates(runs[:1], bench, "original", direction="i2t", depth=3, sample=999)
    assert len(plain) < len(more) < len(everything) == 30 * 60
    np.testing.assert_array_equal(more.item, again.item)
    assert (np.diff(more.ptr) - np.diff(plain.ptr)).max() <= 5
    image, caption = plain.pairs
    assert (more.find(image, caption) >= 0).all()


def test_pairs_are_found_by_their_indices(bench, runs):
    candidates = make_candidates(runs, bench, "original", direction="i2t", depth=4)
    rows = np.array([5, 0, len(candidates) - 1])
    image, caption = candidates.pairs
    np.testing.assert_array_equal(candidates.find(image[rows], caption[rows]), rows)
    absent = np.setdiff1d(np.arange(60), caption[image == 0])[:1]
    assert candidates.find(np.array([0]), absent).tolist() == [-1]


def test_condensed_lists_rank_the_listed_pairs_alone(bench, runs):
    rng = np.random.default_rng(3)
    image, caption = np.divmod(np.flatnonzero(rng.random(1800) < 0.2), 60)
    relevant = labels_of(bench.truth("complete"), "i2t", image, caption)
    judged = Judgments(image, caption, rating=relevant, sources=[Provenance("people")])
    listed = Truth("listed", judged, {"i2t": np.unique(image), "t2i": np.unique(caption)})
    part = replace(bench, truths={**bench.truths, "listed": listed})
    for direction in ("i2t", "t2i"):
        candidates = make_candidates(
            runs, part, "original", direction=direction, listed=listed, condensed=True, depth=5
        )
        assert len(candidates) == len(image)
        values = values_per_query(candidates, truth_labels(candidates, listed), parse_measure("AP"))
        card = karat.evaluate(runs, part, ["AP"], truth="listed", direction=direction, unjudged="left_out")
        for by_query, column in zip(values, card):
            np.testing.assert_allclose(by_query, np.nan_to_num(column.values), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="condensed lists need a truth that lists pairs; give listed"):
        make_candidates(runs, part, "original", direction="i2t", condensed=True)


def test_vetted_labels(bench, runs):
    candidates = make_candidates(runs, bench, "original", direction="i2t", depth=4)
    labels = VettedLabels.none(candidates).add(np.array([4, 2]), np.array([True, False])).add([7], [True])
    assert len(labels) == 3
    assert labels.rows.tolist() == [4, 2, 7]
    assert np.flatnonzero(labels.vetted).tolist() == [2, 4, 7]
    assert labels.label[[2, 4, 7]].tolist() == [0, 1, 1]
    assert np.isnan(labels.label).sum() == len(candidates) - 3
    assert labels.filled(np.full(len(candidates), 0.25))[[2, 3, 4]].tolist() == [0, 0.25, 1]


def test_mistakes(bench, runs):
    with pytest.raises(InputError, match="orders equal scores by their labels, and most labels are unknown"):
        make_candidates(runs, bench, "original", direction="i2t", ties="pessimistic")
    with pytest.raises(InputError, match="two runs have the same name"):
        make_candidates([runs[0], runs[0]], bench, "original", direction="i2t")
    candidates = make_candidates(runs, bench, "original", direction="i2t", depth=2)
    assert isinstance(candidates, Candidates)
    more = candidates.with_features({"length": np.ones(len(candidates))})
    with pytest.raises(InputError, match="two features are called 'length'"):
        more.with_features({"length": np.ones(len(candidates))})
    with pytest.raises(InputError, match=f"give one number for each of the {len(candidates)} candidates"):
        candidates.with_features({"short": np.ones(3)})


def test_folds_and_rules_are_refused(coco, world, runs):
    with pytest.raises(InputError, match="'coco-1k' is scored in folds; name a truth that ranks the whole"):
        covered_queries(coco, "i2t", [coco.truth("coco-1k")])
    by_rule = world.benchmark(listed=False)
    with pytest.raises(InputError, match="is a rule, which lists no pairs"):
        make_candidates(runs, by_rule, "original", direction="i2t", listed=by_rule.truth("complete"))
