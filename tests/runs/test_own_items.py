"""A collection that is searched with its own items: the query is never ranked, in any form of a run."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import (
    KINDS,
    Benchmark,
    Grouping,
    Ids,
    Judgments,
    Provenance,
    Share,
    Truth,
    sides_of,
)
from karat.benchmarks.sources.cxc import pairs_within
from karat.errors import InputError
from karat.runs import EmbeddingRun, MatrixRun, RankingsRun, pairs_to_place
from karat.stats import Intervals

N = 40
MEASURES = ["R@1", "R@5", "RP", "mAP@R", "AP", "nDCG@10", "MRR", "MeanR", "Judged@10"]


def pictures(rng):
    """Return a benchmark of pictures rated with one another, and the matrix of its grades (NaN: unjudged)."""
    first, second = np.triu_indices(N, 1)
    some = np.sort(rng.choice(len(first), 150, replace=False))
    first, second = first[some], second[some]
    rating = rng.integers(0, 2, len(some))
    table = Judgments(first, second, rating=rating, sources=[Provenance("people", "0 or 1", Share(top=1))])
    truth = Truth("rated", table, {"i2i": np.unique(np.r_[first, second])})
    ids = Ids([f"p{k:02}.jpg" for k in range(N)], kind="image")
    grade = np.full((N, N), np.nan)
    grade[first, second] = grade[second, first] = rating
    return Benchmark("pictures", ids, ids, {"rated": truth}, sides=sides_of("i2i")), grade


def scores_of(rng, ties):
    """Return scores between all pictures, where each is most like itself, or as like as its copies."""
    vectors = rng.integers(-2, 3, (N, 3 if ties else 40)).astype(np.float64)
    return vectors, vectors @ vectors.T


def forms(vectors, scores, bench):
    """Yield the same run in every form."""
    yield "scores", MatrixRun(scores)
    yield "turned scores", MatrixRun(np.asfortranarray(scores))
    yield "halves", MatrixRun(scores.astype(np.float16))
    yield "embeddings", EmbeddingRun(vectors, vectors)
    names = bench.images.gallery
    order = np.argsort(-scores, axis=1, kind="stable")
    lists = {names[q]: names[order[q]].tolist() for q in range(N)}
    listed = {names[q]: scores[q, order[q]].tolist() for q in range(N)}
    yield "lists", RankingsRun({"i2i": lists}, scores={"i2i": listed})
    others = {q: [item for item in ranked if item != q] for q, ranked in lists.items()}
    known = {q: [s for item, s in zip(lists[q], listed[q]) if item != q] for q in lists}
    yield "lists without the query", RankingsRun({"i2i": others}, scores={"i2i": known})


@pytest.mark.parametrize("ties", [False, True])
def test_places_are_those_among_the_others(ties):
    rng = np.random.default_rng(3 + ties)
    bench, _ = pictures(rng)
    vectors, scores = scores_of(rng, ties)
    query, item = np.nonzero(~np.eye(N, dtype=bool) & (rng.random((N, N)) < 0.3))
    others = ~np.eye(N, dtype=bool)
    for form, run in forms(vectors, scores, bench):
        placed = run.align(bench).place([pairs_to_place("i2i", query, item)])[0]
        for row, (q, i) in enumerate(zip(query, item)):
            higher = others[q] & (scores[q] > scores[q, i])
            same = others[q] & (scores[q] == scores[q, i]) & (np.arange(N) != i)
            found = placed.above[row], placed.tied[row], placed.earlier[row]
            assert found == (higher.sum(), same.sum(), same[:i].sum()), (form, q, i)
        assert set(placed.size) == set(placed.depth) == {N - 1}, form


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("whole_ties", [False, True])
@pytest.mark.parametrize("k", [1, 3, 39, 60])
def test_first_items_are_those_among_the_others(ties, whole_ties, k):
    rng = np.random.default_rng(5 + ties)
    bench, _ = pictures(rng)
    vectors, scores = scores_of(rng, ties)
    some = np.array([7, 0, 33])
    for form, run in forms(vectors, scores, bench):
        top = run.align(bench).top("i2i", k, queries=some, whole_ties=whole_ties)
        for number, q in enumerate(some):
            order = np.argsort(-scores[q], kind="stable")
            order = order[order != q]
            wanted = order[:k]
            if whole_ties:
                wanted = order[scores[q][order] >= scores[q][wanted[-1]]]
            assert top.item[top.ptr[number] : top.ptr[number + 1]].tolist() == wanted.tolist(), (form, q)


def test_a_gallery_without_the_query_is_not_one_smaller():
    rng = np.random.default_rng(8)
    bench, _ = pictures(rng)
    vectors, scores = scores_of(rng, True)
    gallery = np.arange(10, 30)
    query = np.repeat([5, 12], len(gallery))
    item = np.tile(gallery, 2)
    keep = query != item
    query, item = query[keep], item[keep]
    for form, run in forms(vectors, scores, bench):
        placed = run.align(bench).place([pairs_to_place("i2i", query, item, gallery)])[0]
        assert placed.size.tolist() == [20, 19], form
        for row, (q, i) in enumerate(zip(query, item)):
            inside = gallery[gallery != q]
            assert placed.above[row] == (scores[q, inside] > scores[q, i]).sum(), form


def brute_force(scores, grade):
    """Return the mean of some measures, by their definitions, with the query left out and ties against it."""
    sums = {name: [] for name in ("R@1", "R@5", "RP", "mAP@R", "MRR", "MeanR")}
    for q in range(N):
        good = np.nan_to_num(grade[q]) > 0
        if not good.any():
            continue
        others = np.flatnonzero(np.arange(N) != q)
        order = others[np.lexsort((good[others], -scores[q, others]))]
        hits = good[order]
        total = good.sum()
        first = np.flatnonzero(hits)[0]
        precision = np.cumsum(hits) / np.arange(1, N)
        sums["R@1"].append(hits[0])
        sums["R@5"].append(hits[:5].any())
        sums["RP"].append(hits[:total].mean())
        sums["mAP@R"].append((precision * hits)[:total].sum() / total)
        sums["MRR"].append(1 / (first + 1))
        sums["MeanR"].append(first + 1)
    return {name: float(np.mean(values)) for name, values in sums.items()}


@pytest.mark.parametrize("ties", [False, True])
def test_scores_are_those_of_brute_force(ties):
    rng = np.random.default_rng(11 + ties)
    bench, grade = pictures(rng)
    vectors, scores = scores_of(rng, ties)
    wanted = brute_force(scores, grade)
    for form, run in forms(vectors, scores, bench):
        card = karat.evaluate(run, bench, list(wanted))
        assert {column.direction for column in card} == {"i2i"}
        for name, value in wanted.items():
            assert card.value(name, direction="i2i") == pytest.approx(value, abs=1e-12), (form, name)


def test_tables_are_taken_by_the_kind_of_the_side(tmp_path):
    rng = np.random.default_rng(13)
    bench, _ = pictures(rng)
    vectors, _ = scores_of(rng, False)
    captions = rng.normal(size=(5 * N, vectors.shape[1]))
    np.save(tmp_path / "images.npy", vectors[:, :30])
    np.save(tmp_path / "captions.npy", captions[:, :30])
    both = karat.load_run(tmp_path / "images.npy", tmp_path / "captions.npy", benchmark=bench)
    one = karat.load_run(tmp_path / "images.npy", benchmark=bench)
    assert both.extent == one.extent == "40 images, 30 dimensions, similarity dot"
    files = [tmp_path / "images.npy", tmp_path / "captions.npy"]
    assert len(karat.runs.load_runs(files, bench)) == 1
    np.save(tmp_path / "other.npy", vectors[::-1, :30])
    pair = karat.runs.load_runs([tmp_path / "images.npy", tmp_path / "other.npy"], bench)
    assert [run.name for run in pair] == ["images", "other"]
    table = vectors[:, :30] @ vectors[:, :30].T
    assert karat.evaluate(one, bench, MEASURES).records() == [
        {**record, "run": "images"} for record in karat.evaluate(MatrixRun(table), bench, MEASURES).records()
    ]


def test_intervals_resample_groups():
    """Captions of an image are found together or not: by themselves their interval would be too narrow."""
    rng = np.random.default_rng(21)
    owner = np.repeat(np.arange(60), 5)
    first, second = pairs_within(owner)
    table = Judgments(first, second, sources=[Provenance("original")])
    truth = Truth("own", table, {"t2t": np.arange(300)})
    ids = Ids(range(300), kind="caption")
    whole = "images with their captions"
    groups = Grouping(KINDS["i"], whole, np.array([f"i{k}" for k in range(60)]), (owner, owner))
    alone = Benchmark("alone", ids, ids, {"own": truth}, sides=sides_of("t2t"))
    bench = replace(alone, groups=groups)
    found = 3 * rng.random(60)[owner]
    vectors = rng.normal(size=(60, 16))[owner] * found[:, None] + rng.normal(size=(300, 16))
    intervals = Intervals(resamples=4000)
    card, naive = (karat.evaluate(vectors, each, "R@1", intervals=intervals) for each in (bench, alone))
    column, other = card.columns[0], naive.columns[0]
    assert (column.effective, other.effective) == (60, 300)
    assert "resamples of images with their captions" in str(card)
    assert "resamples of captions." in str(naive)
    means = column.values.reshape(60, 5).mean(axis=1)
    draws = means[rng.integers(60, size=(20_000, 60))].mean(axis=1)
    assert (column.low, column.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.01)
    assert column.high - column.low > 1.3 * (other.high - other.low)


def test_a_normalisation_is_refused():
    bench, _ = pictures(np.random.default_rng(1))
    with pytest.raises(InputError, match="each item's score with itself would count"):
        karat.normalise(np.ones((N, N)), how="csls", benchmark=bench)
