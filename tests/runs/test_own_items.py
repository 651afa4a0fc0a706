"""A collection that is searched with its own items: the query is never ranked, in any form of a run."""

from dataclasses import replace

import numpy as np
import polars as pl
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
from karat.runs import EmbeddingRun, MatrixRun, PassOptions, RankingsRun, TopRequest, pairs_to_place
from karat.runs.one_pass import Checkpoint
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
    for name, own in (("no own scores", np.nan), ("own scores below all", -np.inf)):
        table = scores.copy()
        np.fill_diagonal(table, own)
        yield name, MatrixRun(table)
        yield f"{name}, turned", MatrixRun(np.asfortranarray(table))
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


def test_measures_of_meaning_leave_the_query_out():
    rng = np.random.default_rng(15)
    bench, _ = pictures(rng)
    vectors = rng.normal(size=(N, 8))
    scores = vectors @ vectors.T
    phi = rng.random((N, N))
    wanted = {}
    for k in (10, 60):
        shares = []
        for q in bench.truth("rated").queries["i2i"]:
            others = np.flatnonzero(np.arange(N) != q)
            first = others[np.argsort(-scores[q, others], kind="stable")][:k]
            shares.append(phi[q, first].sum() / np.sort(phi[q, others])[::-1][:k].sum())
        wanted[f"NCS(mine)@{k}"] = np.mean(shares)
    for form, run in forms(vectors, scores, bench):
        card = karat.evaluate(run, bench, list(wanted), phi={"mine": phi})
        for name, value in wanted.items():
            assert card.value(name, direction="i2i") == pytest.approx(value), (form, name)


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


def table_of(bench, vectors):
    """Return what a run of these vectors is scored as."""
    return [column.value for column in karat.evaluate(EmbeddingRun(vectors, vectors), bench, MEASURES)]


@pytest.mark.parametrize("form", ["npy", "npz", "parquet", "folder"])
def test_one_table_of_embeddings_is_a_run_in_any_file(tmp_path, form):
    rng = np.random.default_rng(17)
    bench, _ = pictures(rng)
    vectors = rng.normal(size=(N, 12)).astype(np.float32)
    path = tmp_path / f"run.{form}"
    if form == "npy":
        np.save(path, vectors)
    elif form == "npz":
        np.savez_compressed(path, images=vectors)
    elif form == "parquet":
        pl.DataFrame({"embedding": pl.Series(vectors)}).write_parquet(path)
    else:
        (tmp_path / "run.folder").mkdir()
        np.save(path / "images_0.npy", vectors)
    values = [column.value for column in karat.evaluate(path, bench, MEASURES)]
    assert values == table_of(bench, vectors)


@pytest.mark.parametrize("name", ["scores.npy", "both.npz", "scores.parquet", "lists.json"])
def test_embeddings_are_converted_to_what_they_are_scored_as(tmp_path, name):
    rng = np.random.default_rng(19)
    bench, _ = pictures(rng)
    vectors = rng.normal(size=(N, 12))
    np.save(tmp_path / "images.npy", vectors)
    top = N if name.endswith("json") else None
    karat.runs.convert(tmp_path / "images.npy", target=tmp_path / name, benchmark=bench, top=top)
    values = [column.value for column in karat.evaluate(tmp_path / name, bench, MEASURES)]
    assert values == pytest.approx(table_of(bench, vectors), abs=1e-12)


def test_rows_and_columns_may_have_orders_of_their_own():
    rng = np.random.default_rng(23)
    bench, _ = pictures(rng)
    vectors, scores = scores_of(rng, True)
    names, rows, columns = bench.images.gallery, rng.permutation(N), rng.permutation(N)
    plain = karat.load_run(scores, benchmark=bench)
    ids = {"images": names[rows].tolist(), "captions": names[columns].tolist()}
    for table in (scores[np.ix_(rows, columns)], np.asfortranarray(scores[np.ix_(rows, columns)])):
        run = karat.load_run(table, benchmark=bench, ids=ids)
        assert run.top("i2i", 9).item.tolist() == plain.top("i2i", 9).item.tolist()
        query, item = np.nonzero(~np.eye(N, dtype=bool))
        one, other = (r.place([pairs_to_place("i2i", query, item)])[0] for r in (run, plain))
        for column in ("above", "tied", "earlier", "size"):
            assert getattr(one, column).tolist() == getattr(other, column).tolist()
    vectors = vectors[rows]
    run = karat.load_run(vectors[:, :2], benchmark=bench, ids={"images": names[rows].tolist()})
    again = karat.load_run(vectors[np.argsort(rows), :2], benchmark=bench)
    assert run.top("i2i", 9).item.tolist() == again.top("i2i", 9).item.tolist()


def test_lists_that_end_early_or_have_nothing_but_the_query():
    bench, _ = pictures(np.random.default_rng(29))
    names = bench.images.gallery.tolist()
    # The query comes first, and the list of each has one item more than that of the one before it, up to 5.
    lists = {
        name: [name, *(other for other in names if other != name)][: k % 6] for k, name in enumerate(names)
    }
    run = RankingsRun({"i2i": lists}).align(bench)
    query, item = np.nonzero(~np.eye(N, dtype=bool))
    scanned = run.scan([pairs_to_place("i2i", query, item)], first=True, tops=[TopRequest("i2i", 3)])
    expected = [[names.index(other) for other in listed[1:]] for listed in lists.values()]
    assert scanned.placed[0].depth.tolist() == list(map(len, expected))
    assert scanned.placed[0].size.tolist() == [N - 1] * N
    assert scanned.first["i2i"].tolist() == [listed[0] if listed else N for listed in expected]
    top = scanned.tops[0]
    assert [top.item[b:e].tolist() for b, e in zip(top.ptr, top.ptr[1:])] == [part[:3] for part in expected]


def test_an_interrupted_pass_goes_on(tmp_path, monkeypatch):
    rng = np.random.default_rng(31)
    bench, _ = pictures(rng)
    vectors, _ = scores_of(rng, True)
    run = EmbeddingRun(vectors, vectors).align(bench)
    query, item = np.nonzero(~np.eye(N, dtype=bool))
    asked = {"items": [pairs_to_place("i2i", query, item)] * 2, "first": True}
    asked["tops"] = [TopRequest("i2i", 4, whole_ties=True), TopRequest("i2i", 2, np.array([9, 3]))]
    plain, save = run.scan(**asked), Checkpoint.save

    def stop(self, step, done):
        save(self, step, done)
        raise KeyboardInterrupt

    options = PassOptions(checkpoint=tmp_path, tile=(9, 14))
    monkeypatch.setattr(Checkpoint, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        run.scan(**asked, options=options)
    monkeypatch.setattr(Checkpoint, "save", save)
    scanned = run.scan(**asked, options=options)
    assert scanned.first["i2i"].tolist() == plain.first["i2i"].tolist()
    for one, other in zip(scanned.placed, plain.placed):
        assert (one.above.tolist(), one.tied.tolist()) == (other.above.tolist(), other.tied.tolist())
    assert [top.item.tolist() for top in scanned.tops] == [top.item.tolist() for top in plain.tops]


def test_an_inspection_speaks_of_the_one_collection():
    rng = np.random.default_rng(37)
    bench, _ = pictures(rng)
    text = str(karat.inspect(rng.normal(size=(N, 12)), benchmark=bench))
    assert "embeddings of 12 dimensions: 40 by 40 (images by images)" in text
    assert text.count("vectors have lengths") == 1
    assert "caption" not in text


def test_a_normalisation_is_refused():
    bench, _ = pictures(np.random.default_rng(1))
    with pytest.raises(InputError, match="each item's score with itself would count"):
        karat.normalise(np.ones((N, N)), how="csls", benchmark=bench)
