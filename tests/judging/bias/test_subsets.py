"""Subsets of models: the labels that they would have produced, and scores on these labels."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Judgments, Pairs, Provenance, Share, Truth
from karat.errors import InputError
from karat.forms import runs_of_pool
from karat.judging.bias.subsets import (
    MOST,
    SubsetScorer,
    bias_measures,
    choose_subsets,
    suggested_labels,
)
from karat.runs import MatrixRun, RankingsRun
from karat.scores.evaluation import label_versions as module
from karat.world import make_world
from tests.judging.bias import plain_bias
from tests.judging.bias.plain_bias import labels_of, pool_of

SMALL = {"i2t": range(4), "t2i": range(6)}
WORLD = make_world(images=10, captions=2, seed=8)
BENCH = WORLD.benchmark()
QUERIES = {"i2t": range(10), "t2i": range(1, 20)}
ASKED = {direction: np.array(asked) for direction, asked in QUERIES.items()}


@given(st.integers(1, 6), st.booleans())
def test_all_subsets_once(systems, empty):
    found = choose_subsets(systems, empty=empty)
    assert found.complete
    rows = [tuple(np.flatnonzero(row)) for row in found.inside]
    assert rows == [s for k in range(not empty, systems + 1) for s in combinations(range(systems), k)]


@settings(deadline=None)
@given(st.integers(MOST + 1, 16), st.integers(1, 40), st.integers(0, 5))
def test_a_sample_of_many(systems, per_size, seed):
    found = choose_subsets(systems, per_size=per_size, seed=seed)
    assert not found.complete
    assert len(np.unique(found.inside, axis=0)) == len(found)
    counts = np.bincount(found.size, minlength=systems + 1)
    assert counts[1] == counts[systems - 1] == systems
    assert counts[systems] == 1
    assert counts.max() <= max(per_size, systems)
    assert (counts[2 : systems - 1] >= min(per_size, systems)).all()
    np.testing.assert_array_equal(found.inside, choose_subsets(systems, per_size=per_size, seed=seed).inside)


def test_a_sample_is_not_always_the_same():
    assert (choose_subsets(12, seed=1).inside != choose_subsets(12, seed=2).inside).any()


grades = st.sampled_from([0.0, 0.5, 1.0])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.data())
def test_labels_are_what_a_subset_suggested(seed, systems, data):
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, 3, (4, 6)).astype(np.float32) for _ in range(systems)]
    pool = pool_of(tables, [f"s{k}" for k in range(systems)], 2, SMALL)
    pairs = [(i, c) for i in range(4) for c in range(6)]
    judged = data.draw(st.dictionaries(st.sampled_from(pairs), grades))
    known = data.draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from([0.5, 1.0]), max_size=4))
    labels = suggested_labels(pool, as_pairs(judged), as_pairs(known))
    subsets = choose_subsets(systems, empty=True)
    under = labels.under(subsets.inside)
    for row, inside in zip(under, subsets.inside):
        found = {(int(i), int(c)): g for i, c, g in zip(labels.image, labels.caption, row) if g > 0}
        expected = labels_of(pool, judged, known, np.flatnonzero(inside))
        assert found == {pair: grade for pair, grade in expected.items() if grade > 0}
    for system in range(systems):
        mine, others = (
            {(int(pool.image[p]), int(pool.caption[p])) for p in pool.place_pair[who]} & set(judged)
            for who in (pool.place_system == system, pool.place_system != system)
        )
        new = {pair for pair in mine - others if judged[pair] > 0 and pair not in known}
        assert labels.unique(system) == (len(mine - others), len(new))


def as_pairs(graded):
    image, caption = np.array(sorted(graded), dtype=np.int64).reshape(-1, 2).T
    return Pairs(image, caption, np.array([graded[pair] for pair in sorted(graded)], dtype=np.float64))


def test_wrong_labels():
    with pytest.raises(InputError, match="no models"):
        choose_subsets(0)
    pool = pool_of([np.eye(4, 6, dtype=np.float32)], ["a"], 1, SMALL)
    twice = Pairs(np.zeros(2, int), np.zeros(2, int), np.ones(2))
    with pytest.raises(InputError, match="the judged pairs contain a duplicate"):
        suggested_labels(pool, twice)


def case(seed, systems=3, top=2, levels=4):
    """Score tables with ties, and graded judgments of most pooled pairs."""
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, levels, (10, 20)).astype(np.float32) for _ in range(systems)]
    pool = pool_of(tables, [f"s{k}" for k in range(systems)], top, QUERIES)
    judged = {
        (int(i), int(c)): float(rng.choice([0, 0.5, 1]))
        for i, c in zip(pool.image, pool.caption)
        if rng.random() < 0.9
    }
    runs = [MatrixRun(table, f"s{k}") for k, table in enumerate(tables)]
    return tables, pool, judged, runs


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_scores_are_the_definitions(seed, with_original):
    tables, pool, judged, runs = case(seed)
    own = {(int(i), c): 1.0 for c, i in enumerate(WORLD.caption_image)} if with_original else {}
    labels = suggested_labels(pool, as_pairs(judged), as_pairs(own))
    scorer = SubsetScorer(labels, runs[::-1], BENCH, ASKED)
    subsets = choose_subsets(3, empty=True)
    for direction in scorer.directions:
        for name, measure in zip(("R@1", "RP"), bias_measures(["R@1", "RP"])):
            expected = plain_bias.subset_scores(
                tables, pool, judged, own, QUERIES[direction], direction, name
            )
            found = scorer.scores(subsets.inside, [measure])[direction, str(measure)]
            np.testing.assert_allclose(found, list(expected.values()), atol=1e-12)


@pytest.mark.parametrize("block", [1, 1 << 22])
def test_scores_are_those_of_evaluate(monkeypatch, block):
    """Each subset's labels as a truth of their own; queries without a positive are left out there."""
    monkeypatch.setattr(module, "BLOCK", block)
    names = ["R@1", "R@5", "RP", "mAP@R", "nDCG@3", "RP(rel=1)"]
    _, pool, judged, runs = case(3)
    labels = suggested_labels(pool, as_pairs(judged), BENCH.truth("original").judgments.pairs())
    scorer = SubsetScorer(labels, runs, BENCH, ASKED, fixed=False)
    subsets = choose_subsets(3, empty=True)
    for row, inside in enumerate(subsets.inside):
        grade = labels.under(inside[None])[0]
        table = Judgments(
            labels.image, labels.caption, rating=grade, sources=[Provenance("s", "0 to 1", Share(top=1))]
        )
        bench = replace(BENCH, truths={"own": Truth("own", table, ASKED)}, defaults={})
        card = karat.evaluate(list(runs), bench, names, ties="stable")
        for direction in ("i2t", "t2i"):
            for measure in bias_measures(names):
                ours = scorer.scores(subsets.inside, [measure])[direction, str(measure)][row]
                theirs = [card.value(str(measure), direction=direction, run=run.name) for run in runs]
                np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_system_has_no_self_bias_under_r1():
    """Its first item is always among its own suggestions, ties included."""
    for seed in range(5):
        _, pool, judged, runs = case(seed, levels=2)
        full = {pair: judged.get(pair, 0.5) for pair in zip(pool.image.tolist(), pool.caption.tolist())}
        scorer = SubsetScorer(suggested_labels(pool, as_pairs(full)), runs, BENCH, ASKED)
        subsets = choose_subsets(3)
        for direction in scorer.directions:
            scores = scorer.scores(subsets.inside, bias_measures(["R@1"]))[direction, "R@1"]
            same = np.broadcast_to(scores[-1], scores.shape)
            np.testing.assert_allclose(scores[subsets.inside], same[subsets.inside], atol=1e-12)


def test_queries_that_need_a_full_grade():
    """A query with part grades alone has no RP(rel=1), whoever annotated."""
    _, pool, judged, runs = case(1)
    half = dict.fromkeys(judged, 0.5)
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(half)), runs, BENCH, ASKED)
    measure = bias_measures(["RP(rel=1)"])[0]
    assert np.isnan(scorer.scores(choose_subsets(3).inside, [measure])["t2i", "RP(rel=1)"]).all()


def test_the_pool_alone_tells_r1_and_refuses_rp():
    _, pool, judged, runs = case(4, top=2)
    labels = suggested_labels(pool, as_pairs(judged))
    inside = choose_subsets(3).inside
    alone, full = (SubsetScorer(labels, given, BENCH, ASKED) for given in (runs_of_pool(pool, BENCH), runs))
    first, precision = bias_measures(["R@1", "RP"])
    for direction in ("i2t", "t2i"):
        ours, theirs = (scorer.scores(inside, [first])[direction, "R@1"] for scorer in (alone, full))
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(InputError, match=r"s0: RP needs more places than are known, for \d+ of \d+ queries"):
        alone.scores(inside, [precision])


def test_a_pool_with_gaps_needs_its_runs():
    _, pool, _, _ = case(4)
    gone = pool.place_rank == 1
    gone[np.flatnonzero(gone)[1:]] = False
    columns = {
        name: getattr(pool, name)[~gone]
        for name in ("place_pair", "place_system", "place_direction", "place_rank", "place_score")
    }
    with pytest.raises(InputError, match="does not contain all first items of 's0'"):
        runs_of_pool(replace(pool, **columns), BENCH)


def test_a_pool_of_a_system_that_answers_one_direction():
    _, pool, _, _ = case(4)
    kept = (pool.place_system != 1) | (pool.place_direction == 1)
    columns = {
        name: getattr(pool, name)[kept]
        for name in ("place_pair", "place_system", "place_direction", "place_rank", "place_score")
    }
    runs = runs_of_pool(replace(pool, **columns), BENCH)
    assert [run.directions for run in runs] == [("i2t", "t2i"), ("t2i",), ("i2t", "t2i")]


def test_wrong_runs_and_measures():
    _, pool, judged, runs = case(4)
    labels = suggested_labels(pool, as_pairs(judged))
    with pytest.raises(InputError, match="there is no run of the pool's model 's2'"):
        SubsetScorer(labels, runs[:2], BENCH, ASKED)
    other = MatrixRun(np.zeros((6, 12), np.float32), "other")
    with pytest.raises(InputError, match="the run 'other' is not a model of the pool"):
        SubsetScorer(labels, [*runs, other], BENCH, ASKED)
    with pytest.raises(InputError, match="same name"):
        SubsetScorer(labels, [runs[0], runs[0], runs[1]], BENCH, ASKED)
    images, captions = BENCH.images.values.tolist(), BENCH.captions.values.tolist()
    one_way = RankingsRun({"t2i": dict.fromkeys(captions, images)}, "s2")
    with pytest.raises(InputError, match="s2: has no i2t rankings"):
        SubsetScorer(labels, [*runs[:2], one_way], BENCH, ASKED)
    assert SubsetScorer(labels, [*runs[:2], one_way], BENCH, {"t2i": ASKED["t2i"]}).directions == ("t2i",)
    nothing = suggested_labels(pool, Pairs(pool.image, pool.caption, np.zeros(len(pool))))
    with pytest.raises(InputError, match="no pooled query has a relevant item"):
        SubsetScorer(nothing, runs, BENCH, ASKED)
    for name in ("MedR", "RSUM", "NCS(cider)@5", "Judged@5"):
        with pytest.raises(InputError, match="is not defined"):
            bias_measures([name])
    with pytest.raises(InputError, match="no measure"):
        bias_measures([])
