"""The sides of a benchmark: their words, their directions, their groups, and how they are kept."""

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import (
    DIRECTIONS,
    KINDS,
    Benchmark,
    Grouping,
    Ids,
    Judgments,
    Provenance,
    Side,
    Truth,
    asks_first,
    direction_title,
    directions_of,
    in_order,
    is_direction,
    item_side,
    query_side,
    read_benchmark,
    save_benchmark,
    sides_of,
    turned,
)
from karat.errors import InputError

ALL = [f"{asks}2{ranked}" for asks in KINDS for ranked in KINDS]


@pytest.mark.parametrize("name", ALL)
def test_a_direction_is_named_by_its_sides(name):
    asks, ranked = query_side(name), item_side(name)
    assert is_direction(name)
    assert in_order(name, *sides_of(name)) == (asks, ranked)
    back = turned(name)
    assert (query_side(back), item_side(back)) == (ranked, asks)
    assert turned(back) == name
    # Whichever of the two asks, a pair lists its sides in the same order.
    assert sides_of(name) == sides_of(back)
    known = directions_of(sides_of(name))
    assert set(known) == {name, back}
    assert asks_first(known[0])
    first, second = object(), object()
    assert in_order(name, *in_order(name, first, second)) == (first, second)


def test_images_and_captions_keep_their_names():
    assert DIRECTIONS == directions_of(sides_of("t2i")) == ("i2t", "t2i")
    assert [direction_title(name) for name in DIRECTIONS] == ["image→text", "text→image"]
    assert [side.counted(1) for side in sides_of("i2t")] == ["1 image", "1 caption"]


@pytest.mark.parametrize("name", ["mean", "both", "", "i2", "2t", "i2t2i", "x2y", "i-t", 3, None])
def test_what_is_no_direction(name):
    assert not is_direction(name)
    with pytest.raises(InputError, match=r"unknown direction .* write two of q \(query\), it \(composed\)"):
        asks_first(str(name))


def made(direction, groups=None, sides=None):
    """Return a benchmark of three queries and four items with a truth of one direction."""
    first, second = in_order(direction, ["a", "b", "c"], [11, 12, 13, 14])
    ids = [Ids(values, kind=side.one) for values, side in zip((first, second), sides_of(direction))]
    query, item = np.array([0, 0, 2]), np.array([0, 3, 1])
    table = Judgments(*in_order(direction, query, item), sources=[Provenance("people")])
    truth = Truth("rated", table, {direction: np.array([0, 2])})
    return Benchmark("made", *ids, {"rated": truth}, sides=sides or sides_of(direction), groups=groups)


@pytest.mark.parametrize("direction", ["q2d", "it2i", "t2v", "a2t", "t2p"])
def test_a_benchmark_speaks_of_its_sides(direction):
    bench = made(direction)
    asks, ranked = bench.query_side(direction), bench.item_side(direction)
    assert bench.queries(direction).gallery.tolist() == ["a", "b", "c"]
    assert bench.items(direction).gallery.tolist() == [11, 12, 13, 14]
    assert asks.counted(3) in repr(bench)
    assert ranked.counted(4) in repr(bench)
    card = karat.evaluate({direction: {"a": [11, 12], "c": [13, 12]}}, bench, ["R@1", "R@2"])
    assert [(c.direction, c.value) for c in card if c.value is not None] == [
        (direction, 0.5),
        (direction, 1.0),
    ]
    assert direction_title(direction) in str(card)
    # What older files call the first and the second direction.
    old = "i2t" if asks_first(direction) else "t2i"
    again = karat.evaluate({old: {"a": [11, 12], "c": [13, 12]}}, bench, ["R@1", "R@2"], direction=old)
    assert again.records() == [record for record in card.records() if record["direction"] == direction]
    assert again.value("R@2", direction=old) == 1.0
    with pytest.raises(InputError, match=r"unknown direction .x2y."):
        karat.evaluate({direction: {"a": [11]}}, bench, "R@1", direction="x2y")


def test_a_truth_has_the_directions_of_its_benchmark():
    bench = made("q2d")
    truth = Truth("other", bench.truths["rated"].judgments, {"i2t": np.arange(2)})
    with pytest.raises(InputError, match=r"has queries of the direction .i2t.; .* are q2d and d2q"):
        Benchmark("b", *bench.ids, {"other": truth}, sides=bench.sides)


@pytest.mark.parametrize("direction", ["q2d", "it2i", "i2t"])
def test_sides_and_groups_are_kept(tmp_path, direction):
    groups = Grouping(
        Side("", "film", "films"),
        "films with their clips",
        np.array(["x", "y"]),
        (None, np.array([1, 0, -1, 1])),
    )
    if direction != "q2d":
        groups = Grouping(
            Side("", "film", "films"), "films", np.array(["x", "y"]), (np.array([1, 0, 1]), None)
        )
    words = (Side("composed", "wish", "wishes"), KINDS["i"]) if direction == "it2i" else None
    bench = made(direction, groups, words)
    save_benchmark(bench, tmp_path / "kept")
    again = read_benchmark(tmp_path / "kept")
    assert again.sides == bench.sides
    assert again.directions == bench.directions
    for way in bench.directions:
        number = np.arange(bench.queries(way).size)
        assert again.clusters(way, number).tolist() == bench.clusters(way, number).tolist()
    assert again.grouping.whole == groups.whole
    assert again.grouping.names.tolist() == ["x", "y"]
    assert again.truths["rated"].judged(direction).item.tolist() == [0, 3, 1]
    head = json.loads((tmp_path / "kept" / "benchmark.json").read_text())
    assert ("sides" in head) == (direction != "i2t")


def test_a_table_without_its_groups_is_a_sentence(tmp_path):
    groups = Grouping(KINDS["v"], "films", np.array(["x"]), (None, np.zeros(4, np.int64)))
    save_benchmark(made("q2d", groups), tmp_path)
    table = tmp_path / "captions.parquet"
    kept = pl.read_parquet(table)
    kept.with_columns(group=pl.lit(1)).write_parquet(table)
    with pytest.raises(InputError, match=r"captions.parquet: group of row 0 is 1, outside the 1 that exist"):
        read_benchmark(tmp_path)
    kept.drop("group").write_parquet(table)
    with pytest.raises(InputError, match=r"captions.parquet: has no column 'group'"):
        read_benchmark(tmp_path)


def test_a_collection_searched_with_its_own_items_is_kept(tmp_path):
    ids = Ids(["a", "b", "c"], kind="image")
    table = Judgments([0, 1], [2, 2], sources=[Provenance("people")])
    truth = Truth("rated", table, {"i2i": np.arange(3)})
    bench = Benchmark("made", ids, ids, {"rated": truth}, sides=sides_of("i2i"))
    save_benchmark(bench, tmp_path / "kept")
    again = read_benchmark(tmp_path / "kept")
    assert again.images is again.captions
    assert again.directions == ("i2i",)
    assert again.truth("rated").judged("i2i").item.tolist() == [2, 2, 0, 1]


def test_damaged_sides_are_named(tmp_path):
    save_benchmark(made("q2d"), tmp_path / "kept")
    path = tmp_path / "kept" / "benchmark.json"
    head = json.loads(path.read_text())
    head["sides"][0]["kind"] = "smell"
    path.write_text(json.dumps(head))
    with pytest.raises(InputError, match="the kind of a side is 'smell'; choose one of query, "):
        read_benchmark(tmp_path / "kept")
