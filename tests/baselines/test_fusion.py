"""Fusion: Borda counts equal a literal loop; ties, cut lists, weights and blocks have decided outcomes."""

from itertools import combinations, permutations
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

import karat
from karat.baselines import FUSIONS, DirectedRun, fuse, fusion
from karat.baselines.fusion import average_ranks
from karat.errors import InputError, UnknownNameError
from karat.runs import EmbeddingRun, MatrixRun, RankingsRun
from searches import make_search

from made import make_benchmark

BENCH = make_benchmark(3, 2)
IMAGES, CAPTIONS = BENCH.images.size, BENCH.captions.size


def literal_places(scores: list[float]) -> list[float]:
    """Places from 0; equal scores share the mean of their places."""
    places = []
    for score in scores:
        above = sum(other > score for other in scores)
        same = sum(other == score for other in scores)
        places.append(above + (same - 1) / 2)
    return places


def literal_borda(tables: list[np.ndarray]) -> list[list[int]]:
    """For queries that are rows: N − r summed over tables, ties by median place, then as listed."""
    order = []
    for q in range(len(tables[0])):
        places = [literal_places(table[q].tolist()) for table in tables]
        n = len(places[0])
        points = [sum(n - p[i] for p in places) for i in range(n)]
        order.append(sorted(range(n), key=lambda i: (-points[i], median(p[i] for p in places), i)))
    return order


def listed(run: RankingsRun, direction: str) -> list[list[int]]:
    lists = run.lists[direction]
    return [lists.item[lists.ptr[q] : lists.ptr[q + 1]].tolist() for q in range(len(lists.ptr) - 1)]


# Few values, so that scores, sums and medians tie often.
few = arrays(np.float64, (IMAGES, CAPTIONS), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@given(st.lists(few, min_size=1, max_size=6))
@settings(deadline=None)
def test_borda_is_the_literal_loop_in_both_directions(tables):
    fused = fuse([MatrixRun(table) for table in tables], BENCH)
    assert listed(fused, "i2t") == literal_borda(tables)
    assert listed(fused, "t2i") == literal_borda([table.T for table in tables])


def test_equal_counts_go_by_the_median_place():
    bench = make_benchmark(1, 4)
    # Places of item 0: 0, 0, 3 and of item 1: 1, 1, 1. Both sum to 3; the medians are 0 and 1.
    tables = [np.array([row]) for row in ([9.0, 8, 1, 0], [9.0, 8, 1, 0], [0.0, 8, 9, 1])]
    assert listed(fuse([MatrixRun(t) for t in tables], bench), "i2t")[0][:2] == [0, 1]
    # The other way round in the benchmark's order, so that the order alone cannot explain it.
    swapped = [table[:, [1, 0, 2, 3]] for table in tables]
    assert listed(fuse([MatrixRun(t) for t in swapped], bench), "i2t")[0][:2] == [1, 0]


@given(arrays(np.float64, (3, 7), elements=st.sampled_from([-np.inf, 0.0, 1.0, 2.0])))
def test_average_ranks_are_scipys(scores):
    np.testing.assert_array_equal(average_ranks(scores), rankdata(-scores, axis=1) - 1)


def random_tables(seed: int, number: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.random((IMAGES, CAPTIONS)) for _ in range(number)]


def order_of(points: np.ndarray) -> list[list[int]]:
    return np.argsort(-points, axis=1, kind="stable").tolist()


def test_reciprocal_ranks():
    tables = random_tables(1, 3)
    for k in (60, 1):
        points = sum(1 / (k + rankdata(-table, axis=1)) for table in tables)
        fused = fuse([MatrixRun(table) for table in tables], BENCH, "rrf", k=k)
        assert listed(fused, "i2t") == order_of(points)


def test_items_with_the_same_places_from_other_runs_tie_exactly():
    bench = make_benchmark(1, 12)
    for three in combinations(range(12), 3):
        sums = [sum(1 / (61 + place) for place in order) for order in permutations(three)]
        if sums[0] < sums[3]:
            break
    # The places of items 0 and 1 are these three in other orders, and rounding would put item 1 first.
    places = {0: three, 1: (three[1], three[2], three[0])}
    runs = []
    for k in range(3):
        row = np.full(12, -1.0)
        row[0], row[1] = -places[0][k], -places[1][k]
        row[2:] = [-place for place in range(12) if place not in (places[0][k], places[1][k])]
        runs.append(MatrixRun(row[None]))
    fused = listed(fuse(runs, bench, "rrf"), "i2t")[0]
    assert fused.index(0) < fused.index(1)


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_averages_of_scores(direction):
    tables = [10 * random_tables(2, 1)[0], random_tables(3, 1)[0]]
    runs = [MatrixRun(table) for table in tables]
    turned = [table if direction == "i2t" else table.T for table in tables]
    wanted = {
        "mean": sum(turned),
        "zscore": sum((t - t.mean(1, keepdims=True)) / t.std(1, keepdims=True) for t in turned),
        "minmax": sum((t - t.min(1, keepdims=True)) / np.ptp(t, axis=1, keepdims=True) for t in turned),
    }
    orders = {method: order_of(points) for method, points in wanted.items()}
    assert orders["mean"] != orders["zscore"]
    for method, order in orders.items():
        assert listed(fuse(runs, BENCH, method), direction) == order, method


def test_a_constant_query_has_no_say():
    constant = np.full((IMAGES, CAPTIONS), 0.1)
    table = random_tables(4, 1)[0]
    for method in ("zscore", "minmax", "borda"):
        fused = fuse([MatrixRun(constant), MatrixRun(table)], BENCH, method)
        assert listed(fused, "i2t") == order_of(table)


def test_weights_count_a_run_several_times_or_not_at_all():
    tables = random_tables(5, 3)
    a, b, c = (MatrixRun(table) for table in tables)
    points = sum(w * (CAPTIONS - rankdata(-t, axis=1)) for w, t in zip((2, 1), (tables[0], tables[1])))
    weighted = fuse([a, b, c], BENCH, weight=[2, 1, 0])
    places = [rankdata(-table, axis=1) for table in tables[:2]]
    keys = (np.median(places, axis=0), -points)
    assert listed(weighted, "i2t") == np.lexsort(keys, axis=-1).tolist()


def test_cut_lists_share_the_places_that_are_left():
    bench = make_benchmark(1, 5)
    ids = bench.captions.values
    short = RankingsRun({"i2t": {0: [int(ids[4])]}})
    table = MatrixRun(np.array([[5.0, 4, 3, 2, 1]]))
    # Places: item 4 has 0 + 4; the others have 2.5 each from the list and 0, 1, 2, 3 from the table.
    assert listed(fuse([short, table], bench), "i2t") == [[0, 1, 4, 2, 3]]
    # rrf: 1/61 + 1/65 for item 4, and 1/61, 1/62 … for the others.
    assert listed(fuse([short, table], bench, "rrf"), "i2t") == [[4, 0, 1, 2, 3]]


def test_what_no_run_lists_is_not_in_the_result():
    ids = BENCH.captions.values.tolist()
    first = RankingsRun({"i2t": {0: [ids[3], ids[1]], 2: [ids[5]]}})
    second = RankingsRun({"i2t": {0: [ids[1]]}})
    fused = fuse([first, second], BENCH)
    assert fused.directions == ("i2t",)
    assert listed(fused, "i2t") == [[1, 3], [], [5]]
    assert {query: found.tolist() for query, found in fused.raw["i2t"].items()} == {
        0: [ids[1], ids[3]],
        2: [ids[5]],
    }


def test_a_run_without_weight_adds_nothing():
    ids = BENCH.captions.values.tolist()
    first, second = RankingsRun({"i2t": {0: [ids[3]]}}), RankingsRun({"i2t": {0: [ids[1]]}})
    assert listed(fuse([first, second], BENCH, weight=[1, 0]), "i2t") == [[3], [], []]


def test_depth_keeps_the_first_items():
    runs = [MatrixRun(table) for table in random_tables(6, 2)]
    full, cut = fuse(runs, BENCH), fuse(runs, BENCH, top=2)
    assert listed(cut, "i2t") == [row[:2] for row in listed(full, "i2t")]
    assert [len(row) for row in listed(cut, "t2i")] == [2] * CAPTIONS


@pytest.mark.parametrize("method", list(FUSIONS))
def test_blocks_do_not_show(method, monkeypatch, rng):
    runs = [
        MatrixRun(random_tables(7, 1)[0]),
        EmbeddingRun(rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=(6, 4)).astype("f4")),
    ]
    whole = fuse(runs, BENCH, method)
    monkeypatch.setattr(fusion, "BLOCK_BYTES", 1)
    for direction in ("i2t", "t2i"):
        assert listed(fuse(runs, BENCH, method), direction) == listed(whole, direction)


def test_runs_in_other_orders_and_backings_are_matched_by_their_ids(rng):
    table = random_tables(8, 1)[0]
    order = rng.permutation(CAPTIONS)
    ids = {"captions": BENCH.captions.values[order].tolist()}
    moved = MatrixRun(table[:, order], ids=ids)
    directed = DirectedRun(table, table.T)
    lists = fuse([MatrixRun(table)], BENCH)
    for run in (moved, directed, RankingsRun(lists.raw)):
        fused = fuse([run, MatrixRun(table)], BENCH)
        assert listed(fused, "i2t") == order_of(table)
        assert listed(fused, "t2i") == order_of(table.T)


def test_a_fused_run_is_scored_like_any_other():
    bench = make_benchmark(20, 2)
    rng = np.random.default_rng(9)
    own = np.eye(20)[bench.caption_image].T
    runs = [karat.load_run(own + rng.normal(size=own.shape)) for _ in range(8)]
    single = np.mean([karat.evaluate(run, bench, ["MRR"], truth="own").value("MRR") for run in runs])
    fused = karat.evaluate(fuse(runs, bench), bench, ["MRR"], truth="own").value("MRR")
    assert fused > single + 0.1
    again = karat.load_run(dict(fuse(runs, bench).raw), benchmark=bench)
    assert karat.evaluate(again, bench, ["MRR"], truth="own").value("MRR") == fused


@pytest.mark.parametrize("direction", ["q2d", "it2i", "i2i"])
@pytest.mark.parametrize("method", list(FUSIONS))
def test_runs_of_any_sides_are_fused(tmp_path, direction, method):
    """A collection that is searched with its own items is fused as if no query were an item of its own."""
    search = make_search(tmp_path, direction)
    bench, own = search.benchmark, direction == "i2i"
    tables = [MatrixRun(scores, name) for name, scores in zip("ab", search.scores.values())]
    fused = fuse(tables, bench, method)
    assert listed(fused, direction) == [
        fused_by_hand(search, query, method, own) for query in range(len(search.grade))
    ]
    if not FUSIONS[method].needs_scores:
        # Equal to the lists in files, whose directions are those of the benchmark.
        lists = fuse(search.files, bench, method, direction=["i2t"])
        assert lists.directions == (direction,)
        assert listed(lists, direction) == listed(fused, direction)


def fused_by_hand(search, query, method, own):
    items = [item for item in range(search.grade.shape[1]) if not own or item != query]
    total = np.zeros(len(items))
    for scores in search.scores.values():
        row = scores[query][items]
        place = np.array(literal_places(row.tolist()))
        total += {
            "borda": len(items) - place,
            "rrf": 1 / (61 + place),
            "mean": row,
            "zscore": (row - row.mean()) / row.std(),
            "minmax": (row - row.min()) / (row.max() - row.min()),
        }[method]
    median = np.median(
        [literal_places(scores[query][items].tolist()) for scores in search.scores.values()], axis=0
    )
    return [items[at] for at in np.lexsort((median, -np.round(total, 12)))]


def test_runs_of_files_are_fused_where_the_gallery_is_open(tmp_path):
    """Items that only one of the runs lists are items of the benchmark for the other, too."""
    (tmp_path / "qrels.txt").write_text("q 0 d1 1\n")
    (tmp_path / "one.run").write_text("q Q0 d1 1 3 one\nq Q0 d2 2 2 one\n")
    (tmp_path / "two.run").write_text("q Q0 d3 1 3 two\nq Q0 d1 2 2 two\n")
    fused = fuse([tmp_path / "one.run", tmp_path / "two.run"], tmp_path / "qrels.txt", "rrf")
    assert fused.raw["q2d"]["q"].tolist() == ["d1", "d3", "d2"]


TABLE = MatrixRun(np.ones((IMAGES, CAPTIONS)))
ONE_WAY = RankingsRun({"i2t": {0: [1000]}}, name="short")
OTHER_WAY = RankingsRun({"t2i": {1000: [0]}})


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ([], {}, InputError, "no run to fuse"),
        ([TABLE], {"method": "bord"}, UnknownNameError, "did you mean borda"),
        ([TABLE], {"k": 3}, InputError, "borda has no parameter 'k'; it has none"),
        ([TABLE], {"method": "rrf", "k": "many"}, InputError, "k is 'many'"),
        ([TABLE], {"weight": [1, 2]}, InputError, "2 weights for 1 run"),
        ([TABLE], {"weight": [-1]}, InputError, "numbers of 0 or more"),
        ([TABLE], {"weight": [0]}, InputError, "one above 0"),
        ([TABLE], {"top": 0}, InputError, "first 0 items"),
        ([TABLE, ONE_WAY], {"method": "zscore"}, InputError, "short: ranked lists have no scores"),
        ([TABLE, ONE_WAY], {"direction": ["t2i"]}, InputError, "short: has no t2i ranking"),
        ([OTHER_WAY, ONE_WAY], {}, InputError, "no direction in common"),
        ([MatrixRun(np.full((IMAGES, CAPTIONS), np.nan))], {}, InputError, "row 0, column 0 is nan"),
    ],
)
def test_mistakes_are_named(runs, options, error, message):
    with pytest.raises(error, match=message):
        fuse(runs, BENCH, **options)


def test_runs_without_a_benchmark_are_refused():
    with pytest.raises(InputError, match="give the benchmark"):
        fuse([TABLE, TABLE])
    aligned = TABLE.align(BENCH)
    assert fuse([aligned, TABLE]).benchmark is BENCH
