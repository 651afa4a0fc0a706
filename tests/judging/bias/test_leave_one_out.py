"""A model that does not contribute: what changes, and how sure that is."""

import numpy as np
import pytest

from karat.judging.bias.leave_one_out import leave_one_out
from karat.judging.bias.subsets import SubsetScorer, bias_measures, suggested_labels
from karat.stats import Intervals
from tests.judging.bias import plain_bias
from tests.judging.bias.test_subsets import ASKED, BENCH, QUERIES, as_pairs, case

FEW = Intervals(resamples=50)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_it_is_the_subset_of_the_others(method):
    tables, pool, judged, runs = case(11)
    labels = suggested_labels(pool, as_pairs(judged))
    scorer = SubsetScorer(labels, runs, BENCH, ASKED)
    found = leave_one_out(scorer, bias_measures(["R@1", "RP"]), Intervals(method, resamples=50))
    assert len(found) == 2 * 2 * 3
    for one in found:
        system = int(one.system[1:])
        scores = plain_bias.subset_scores(
            tables, pool, judged, {}, QUERIES[one.direction], one.direction, one.measure
        )
        before, after = scores[0, 1, 2], scores[tuple(k for k in range(3) if k != system)]
        assert one.score == pytest.approx(before[system])
        assert one.score_without == pytest.approx(after[system])
        assert one.change.value == pytest.approx(after[system] - before[system])
        others = np.mean([after[k] - before[k] for k in range(3) if k != system])
        assert one.others == pytest.approx(others)
        assert one.unfairness.value == pytest.approx(after[system] - before[system] - others)
        assert one.rank == 1 + sum(x > before[system] + 1e-9 for x in before)
        assert one.rank_without == 1 + sum(x > after[system] + 1e-9 for x in after)
        assert one.change.low <= one.change.high
        assert 0 <= one.falls <= 1
        assert (one.unique, one.unique_positives) == labels.unique(system)
        assert one.change.effective == 10  # the images


def test_an_interval_of_what_never_changes_is_a_point():
    """Under R@1 those who stay keep their first items, so that the others' change is 0 in every draw."""
    _, pool, judged, runs = case(2)
    full = {pair: judged.get(pair, 0.5) for pair in zip(pool.image.tolist(), pool.caption.tolist())}
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(full)), runs, BENCH, ASKED)
    for one in leave_one_out(scorer, bias_measures(["R@1"]), FEW):
        assert one.others == pytest.approx(0)
        assert one.unfairness.low == pytest.approx(one.change.low)
        assert one.change.high <= 1e-12


def test_a_copy_makes_an_outsider_safe():
    """Two equal models: either one can stay away without losing anything."""
    tables, _, _, runs = case(5)
    pool = plain_bias.pool_of([tables[0], tables[0], tables[1]], ["s0", "s1", "s2"], 2, QUERIES)
    judged = dict.fromkeys(zip(pool.image.tolist(), pool.caption.tolist()), 1.0)
    same = [runs[0], type(runs[0])(tables[0], "s1"), type(runs[0])(tables[1], "s2")]
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(judged)), same, BENCH, ASKED)
    for one in leave_one_out(scorer, bias_measures(["RP"]), FEW):
        if one.system in ("s0", "s1"):
            assert one.change.value == one.change.low == one.change.high == 0
            assert one.unique == one.falls == 0
            assert one.rank == one.rank_without


def test_one_system_has_no_others():
    _, pool, judged, runs = case(5, systems=1)
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(judged)), runs, BENCH, ASKED)
    assert leave_one_out(scorer, bias_measures(["R@1"]), FEW) == []
