"""Slices: what they hold, their numbers against brute force, what is reported, and what is refused."""

from functools import cache

import numpy as np
import pytest

import karat
from karat.benchmarks import build
from karat.errors import InputError, KaratError
from karat.explanations import SLICE_KINDS, SliceReport, SliceTable, find_slices, search_slices, slice_table
from karat.explanations.max_t import Controls, Noise, compressed, corrected_p, critical_value, deals
from karat.explanations.query_words import read_mentions
from karat.explanations.rivals import overlooked, rivals_of
from karat.explanations.slice_columns import positives_of
from karat.runs import EmbeddingRun
from karat.world import make_world, simulate

DEALS = 99


@cache
def world():
    return make_world(images=150, captions=5, seed=3)


@cache
def benchmark():
    return world().benchmark()


@cache
def table():
    return slice_table(benchmark())


def blind(**options):
    return simulate(world(), 6, name="blind", seed=1, **options)


@cache
def report(against: bool) -> SliceReport:
    seer = simulate(world(), 6, name="seer", seed=2) if against else None
    run = blind(blind="colour")
    return find_slices(run, benchmark(), truth="complete", against=seer, slices=table(), deals=DEALS)


def test_slices_hold_what_the_text_mentions():
    texts = benchmark().texts
    assert [("red" in text.lower().split()) for text in texts] == table()["colour: red"].tolist()
    states = world().meanings
    assert (table()["colour: any"] == states.mentions("colour")).mean() > 0.98
    assert (table()["size: any"] == states.mentions("size")).all()
    assert (table()["number: any"] == states.mentions("number")).mean() > 0.97
    assert not (table()["concept: dog"] & ~table()["concept: animal"]).any()


def test_each_set_of_queries_is_kept_once_and_conjunctions_are_what_they_say():
    rows = {np.packbits(column).tobytes() for column in table().columns}
    assert len(rows) == len(table())
    assert {"conjunction", "thing", "colours", "length", "rarity", "rivals"} <= set(table().kinds)
    for name, (a, b), column in zip(table().names, table().parts, table().columns):
        if " & " in name:
            np.testing.assert_array_equal(column, table().columns[a] & table().columns[b])
        elif a >= 0:
            assert not (column & ~table().columns[a]).any()
            assert not (column & ~table().columns[b]).any()
    counts = table().columns.sum(axis=1)
    assert counts.min() >= 10
    assert counts.max() <= len(table().queries) - 10


@pytest.mark.parametrize("against", [False, True])
def test_a_planted_weakness_comes_first(against):
    first = report(against).slices[0]
    assert first.name == "colour: any"
    assert first.high < 0
    assert first.p <= 0.05
    assert "Where blind is weak" in str(report(against))
    assert (first.reference_inside is None) is not against


def test_numbers_are_those_of_plain_means_and_of_least_squares():
    card = karat.evaluate(blind(blind="colour"), benchmark(), ["R@1"], truth="complete", direction="t2i")
    values, inside = card.columns[0].values, table()["colour: any"]
    plain = find_slices(card, slices=table(), deals=DEALS, adjust=()).slices[0]
    assert plain.inside == pytest.approx(values[inside].mean())
    assert plain.outside == pytest.approx(values[~inside].mean())
    assert plain.difference == pytest.approx(values[inside].mean() - values[~inside].mean())
    held = np.isin(np.array(table().kinds), ("rivals", "rarity"))
    design = np.c_[inside, np.ones(len(values)), table().columns[held].T].astype(float)
    slope = np.linalg.lstsq(design, values, rcond=None)[0][0]
    first = find_slices(card, slices=table(), deals=DEALS).slices[0]
    assert first.difference == pytest.approx(slope)


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("measure", ["R@1", "MeanR"])
def test_plain_arrays_give_the_numbers_of_the_runs(against, measure):
    runs = [blind(blind="colour"), simulate(world(), 6, name="seer", seed=2)]
    cards = [karat.evaluate(run, benchmark(), measure, truth="complete", direction="t2i") for run in runs]
    values, others = (card.columns[0].values for card in cards)
    found = find_slices(
        runs[0], benchmark(), measure, truth="complete", slices=table(), deals=DEALS,
        against=runs[1] if against else None,
    )  # fmt: skip
    arrays = search_slices(
        values, table(), against=others if against else None, clusters=np.repeat(np.arange(150), 5),
        better="low" if measure == "MeanR" else "high", adjust=found.adjusted, deals=DEALS,
    )  # fmt: skip
    assert found.slices
    assert arrays.slices == found.slices
    assert arrays.notes == found.notes
    assert (arrays.n, arrays.images, arrays.value, arrays.reference) == (
        found.n, found.images, found.value, found.reference
    )  # fmt: skip
    assert "run" not in arrays.records()[0]
    assert str(arrays).startswith("Where values are worse")


def test_slices_of_arrays_equal_what_is_computed_by_hand():
    """Clusters of one query, nothing held constant: a difference of means, σ √(1/n + 1/m), the largest z."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=300)
    columns = {name: rng.random(300) < 0.2 for name in ("a", "b", "c")}
    values[columns["b"]] -= 1.0
    found = search_slices(values, columns, deals=999, seed=3)
    assert [each.name for each in found.slices] == ["b"]
    sigma, z = values.std(ddof=1), {}
    shuffled = np.stack([rng.permutation(values) for _ in range(20_000)])
    tops = np.zeros(len(shuffled))
    for name, inside in columns.items():
        error = sigma * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())
        each = found.slice(name)
        assert each.difference == pytest.approx(values[inside].mean() - values[~inside].mean())
        # Where the slice itself spreads more than all queries do, its own spread counts.
        own = values - np.where(inside, values[inside].mean(), values[~inside].mean())
        moves = own * np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
        used = max(error, np.sqrt((moves**2).sum()))
        assert (each.high - each.low) / 2 == pytest.approx(found.critical * used)
        z[name] = each.difference / used
        dealt = shuffled[:, inside].mean(axis=1) - shuffled[:, ~inside].mean(axis=1)
        np.maximum(tops, np.abs(dealt) / error, out=tops)
    assert found.critical == pytest.approx(np.quantile(tops, 0.95), abs=0.15)
    for name in columns:
        expected = (tops >= abs(z[name])).mean()
        assert found.slice(name).p == pytest.approx(expected, abs=0.05)
    assert [found.slice(name).verdict for name in "abc"] == [
        "worse" if z[name] < -found.critical else "not shown to differ" for name in "abc"
    ]
    assert search_slices(-values, columns, deals=999, seed=3).slice("b").verdict == "better"
    assert search_slices(-values, columns, better="low", deals=999, seed=3).slice("b").verdict == "worse"


def test_undefined_values_and_small_slices_of_arrays_are_left_out():
    rng = np.random.default_rng(6)
    values, inside = rng.random(120), np.arange(120) < 60
    values[::10] = np.nan
    known = ~np.isnan(values)
    few = np.arange(120) < 3
    first = search_slices(values, {"half": inside, "few": few}, clusters=np.arange(120) // 2, deals=99)
    assert first.table.names == ("half",)
    again = search_slices(
        values[known], {"half": inside[known]}, clusters=(np.arange(120) // 2)[known], deals=99
    )
    assert first.slice("half") == again.slice("half")
    both = SliceTable.of({"half": inside, "odd": np.arange(120) % 2 == 1}, joined=True)
    assert both.names == ("half", "odd", "half & odd")
    held = search_slices(values, both, adjust="odd", deals=99)
    assert (held.adjusted, held.searched) == (("odd",), 2)
    same = search_slices(np.ones(120), {"half": inside}, deals=99)
    assert not same.slices
    assert same.slice("half").p == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clusters": np.arange(3)}, "values has shape (100,) and clusters (3,)"),
        ({"against": np.ones(99)}, "values has shape (100,) and against (99,)"),
        ({"slices": {"a": np.arange(100) < 20, "b": np.arange(99) < 20}}, "slice 'b' has shape (99,)"),
        ({"slices": {"a": np.arange(90) < 20}}, "slices have 90 queries, values 100"),
        ({"slices": {"a": np.ones(100)}}, "give 100 booleans, one per query"),
        ({"slices": {}}, "no slice has 10 queries inside and outside"),
        ({"adjust": "other"}, "there is no slice 'other'"),
        ({"values": np.r_[np.inf, np.zeros(99)]}, "some queries have an infinite value"),
        ({"better": "up"}, "better is 'up'"),
        ({"most": 0}, "most is 0"),
    ],
)
def test_bad_arrays_are_refused_in_one_sentence(change, message):
    asked = {"values": np.arange(100.0), "slices": {"a": np.arange(100) < 20}, "deals": DEALS, **change}
    with pytest.raises(InputError) as error:
        search_slices(asked.pop("values"), asked.pop("slices"), **asked)
    assert message in str(error.value)


def test_the_standard_error_is_that_of_the_deals():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(60), 5)
    values = (rng.random(300) < np.repeat(rng.random(60), 5)).astype(float)
    columns = np.stack([rng.random(300) < 0.2, np.repeat(rng.random(60) < 0.3, 5)])
    controls = Controls.of(np.zeros((0, 300)))
    residual = controls.without(values)
    error = Noise.of(residual, cluster).error(compressed(columns), controls)
    dealt = columns @ deals(residual, cluster, 20_000, rng)
    np.testing.assert_allclose(error, dealt.std(axis=1), rtol=0.03)


def test_an_error_that_queries_of_a_group_share_counts():
    rng = np.random.default_rng(1)
    cluster, member = np.arange(2000), rng.integers(40, size=2000)
    groups = compressed(np.arange(40)[:, None] == member)
    half = rng.random(2000) < 0.5
    columns = np.stack([member == 3, member < 5, half])
    controls = Controls.of(np.zeros((0, 2000)))
    values = 0.1 * rng.normal(size=(400, 40))[:, member] + 0.5 * rng.normal(size=(400, 2000))
    residuals = [controls.without(row) for row in values]
    noises = [Noise.of(row, cluster).grouped(groups, row, controls) for row in residuals]
    assert np.mean([noise.between for noise in noises]) == pytest.approx(0.01, rel=0.05)
    error = np.mean([noise.error(compressed(columns), controls) for noise in noises], axis=0)
    spread = (columns @ np.transpose(residuals)).std(axis=1)
    np.testing.assert_allclose(error, spread, rtol=0.08)
    held = Controls.of(groups.toarray())
    left = held.without(values[0])
    assert Noise.of(left, cluster).grouped(groups, left, held).between == 0
    # Half of every group: what its queries share is in both halves.
    assert error[2] == pytest.approx(noises[0].variance ** 0.5 * 2000**0.5 / 2, rel=0.05)


def test_rivals_come_close_to_the_number_of_images_that_fit():
    images = benchmark().caption_image
    positives = positives_of(benchmark().truth("complete"), "t2i", np.arange(750))
    mentions = [[each] for each in read_mentions(benchmark().texts)]
    rivals = rivals_of(mentions, images)
    assert np.corrcoef(np.log(rivals), np.log(positives))[0, 1] > 0.925
    assert overlooked(1.0, 1) == 0
    k, m = 5, 0.075
    named = np.random.default_rng(0).binomial(k, m, 200_000)
    assert overlooked(named[named > 0].mean(), k) == pytest.approx((1 - m) ** k, abs=0.01)


def test_corrected_p_values_are_never_zero_and_fit_the_critical_value():
    top = np.arange(1.0, 1000.0)
    assert corrected_p(np.array([1e9]), top) == 1 / 1000
    reach = critical_value(top, 0.95)
    assert corrected_p(np.array([reach + 0.5]), top) <= 0.05
    assert corrected_p(np.array([reach]), top) > 0.05


def test_a_conjunction_is_reported_only_where_it_adds_to_its_parts():
    own = {"left": np.zeros(750, bool), "right": np.zeros(750, bool)}
    own["left"][:150] = own["right"][75:225] = True
    weak = own["left"] & own["right"]
    for planted, expected in ((weak, "left & right"), (own["left"], "left")):
        run = simulate(world(), 0.0, instance=6, weak=planted, seed=4)
        found = find_slices(
            run, benchmark(), slices=own, kinds=["length"], deals=DEALS, adjust=(), min_support=20
        )
        assert found.slices[0].name == expected


def test_measures_where_low_is_good_are_turned_round():
    found = find_slices(
        blind(blind="colour"), benchmark(), "MeanR", truth="complete", slices=table(), deals=DEALS
    ).slices[0]
    assert found.kind == "colours"
    assert found.difference > 0
    assert found.low > 0


def test_images_as_queries_are_sliced_by_their_captions():
    images = slice_table(benchmark(), "i2t", kinds=["colours", "concepts", "length"])
    for query in range(5):
        own = [text.lower() for text in benchmark().texts[5 * query : 5 * query + 5]]
        assert images["colour: red"][query] == any("red" in text.split() for text in own)
    found = find_slices(blind(), benchmark(), truth="complete", direction="i2t", slices=images, deals=DEALS)
    assert found.n == 150
    assert found.images == 150


def test_clusters_of_embeddings_are_named_by_their_words():
    rng = np.random.default_rng(1)
    dogs = table()["concept: dog"]
    captions = rng.normal(size=(750, 8)) * 0.05 + np.where(dogs, 1.0, -1.0)[:, None]
    run = EmbeddingRun(rng.normal(size=(150, 8)), captions)
    found = find_slices(run, benchmark(), kinds=["clusters"], deals=DEALS, adjust=())
    names = [name for name in found.table.names if name.startswith("cluster: ")]
    assert any("dog" in name for name in names)
    assert slice_table(benchmark(), kinds="colours", embeddings=captions).kinds[0] == "colours"


def test_the_same_seed_gives_the_same_report_and_files(tmp_path):
    again = find_slices(blind(blind="colour"), benchmark(), truth="complete", slices=table(), deals=DEALS)
    assert str(again) == str(report(False))
    assert again.records() == report(False).records()
    again.save(tmp_path / "slices.csv")
    assert "colour: any" in (tmp_path / "slices.csv").read_text()


def test_what_is_left_out_is_said():
    run = blind(blind=("colour", "number"))
    first = find_slices(run, benchmark(), truth="complete", slices=table(), deals=DEALS, most=1)
    assert len(first) == 1
    assert "would add to these" in first.notes[-1]


def test_values_that_are_all_the_same_have_no_slices():
    found = find_slices(simulate(world(), 0, instance=50), benchmark(), slices=table(), deals=DEALS)
    assert not found.slices
    assert "nothing to find" in str(found)


def test_every_kind_says_what_it_is():
    assert all(kind.about for kind in SLICE_KINDS.values())


def without_images():
    return build("few", ["x", "y"], ["1", "2"], list("xy"), ["a dog", "a cat"], where="tiny", about="")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "MedR"}, "MedR is not a mean over queries"),
        ({"kinds": ["shapes"]}, "shapes"),
        ({"adjust": "difficulty"}, "difficulty"),
        ({"min_support": 1}, "min_support is 1"),
        ({"most": 0}, "most is 0"),
        ({"level": 2}, "level"),
        ({"deals": 5}, "5 deals cannot show anything at a level of 0.95; give 19"),
        ({"direction": "both"}, "direction"),
        ({"truth": "none"}, "none"),
        ({"slices": {"mine": [True]}}, "slice 'mine' has shape (1,)"),
        ({"min_support": 700}, "no slice has 700 queries inside and outside"),
    ],
)
def test_bad_inputs_are_refused_in_one_sentence(change, message):
    with pytest.raises(KaratError) as error:
        find_slices(blind(), benchmark(), **{"kinds": ["colours"], "deals": DEALS, **change})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="a run without a benchmark has no queries"):
        find_slices(blind())
    with pytest.raises(InputError, match="2 images with scored queries are too few"):
        find_slices(np.eye(2), without_images())
    with pytest.raises(InputError, match="2 runs were given"):
        find_slices([blind(), simulate(world(), 6, name="other")], benchmark())
    with pytest.raises(InputError, match="the slices are of direction i2t"):
        find_slices(blind(), benchmark(), slices=slice_table(benchmark(), "i2t", kinds="colours"))
