"""Explanations of failures: global rows from local ones, and what is said of them."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import build
from karat.errors import KaratError
from karat.explanations import ConceptComparison, find_concepts, make_concepts
from karat.world import make_world, simulate_systems

WORLD = make_world(40, captions=3, seed=5)


@pytest.fixture(scope="module")
def explained():
    return karat.explain(
        list(simulate_systems(WORLD)[:2]),
        WORLD.benchmark(),
        rank=[1, 3],
        comparison=ConceptComparison(query_informed=True),
    )


def test_global_rows_are_sums_and_means_of_local_ones(explained):
    local = explained.local.records()
    assert len(local) == len(explained.local)
    for row in explained.records():
        if row["concepts"] != "all":
            continue
        rows = [one for one in local if all(one[key] == row[key] for key in ("run", "direction", "rank"))]
        assert row["failures"] == len(rows)
        assert row["failure_share"] == pytest.approx(len(rows) / row["queries"])
        for name in (
            "agreement",
            "similarity",
            "enumeration",
            "size",
            "size_binary",
            "size_by_concept",
            "same_colour",
        ):
            known = [one[name] for one in rows if one[name] is not None]
            assert row[f"{name}_defined"] == len(known)
            assert row[name] == pytest.approx(np.mean(known))
        common, ground, other = (
            sum(one[name] for one in rows) for name in ("common", "ground_truth_only", "retrieved_only")
        )
        assert (row["hit"], row["miss"], row["miss_ground_truth"]) == (common, ground + other, ground)
        pairs = [float(pair.split()[-1]) for one in rows for pair in one["pairs"].split("; ") if pair]
        assert (row["matched"], row["matched_share"]) == (
            len(pairs),
            pytest.approx(len(pairs) / (ground + other)),
        )
        assert row["matched_share"] <= 0.5
        assert row["similarity_per_pair"] == pytest.approx(np.mean(pairs), abs=1e-3)
        assert row["agreement_per_concept"] == pytest.approx(common / (common + ground))
        numbers = [one["enumeration"] for one in rows if one["enumeration"] is not None]
        assert row["enumeration_per_concept"] == pytest.approx(sum(numbers) / common)
        times = Counter(numbers)
        assert row["enumeration_mode"] == min(n for n in times if times[n] == max(times.values()))
        sizes = [float(size.split()[-1]) for one in rows for size in one["sizes"].split("; ") if size]
        assert row["boxes"] == len(sizes)
        assert row["size_per_box"] == pytest.approx(np.mean(sizes), abs=6e-3)


def test_differing_concepts_are_counted_per_failure_and_as_a_share(explained):
    concepts = find_concepts(WORLD.benchmark())
    for column in explained.columns:
        row = column.summary(1)
        differing = 0
        for g, r in zip(
            column.failures.ground_image[column.failures.at(1)],
            column.failures.retrieved_image[column.failures.at(1)],
        ):
            first, second = concepts.of_image(g), concepts.of_image(r)
            differing += sum(first[name] != second[name] for name in first if name in second)
        assert row["differing"] == differing
        assert row["differing_per_failure"] == pytest.approx(differing / row["failures"])
        assert row["differing_share"] == pytest.approx(differing / row["hit"])


def test_a_query_informed_metric_counts_fewer_concepts(explained):
    rows = explained.records()
    for everything, mentioned in zip(rows[::2], rows[1::2]):
        assert (everything["concepts"], mentioned["concepts"]) == ("all", "query-informed")
        assert mentioned["hit"] <= everything["hit"]
        assert mentioned["miss"] < everything["miss"]


def test_confusions_are_the_matched_pairs(explained):
    local = explained.local.records()
    column = explained.columns[0]
    key = column.failures.run, column.failures.direction, 1
    times = Counter(
        tuple(pair.rsplit(" ", 1)[0].split(" – "))
        for one in local
        if (one["run"], one["direction"], one["rank"]) == key
        for pair in one["pairs"].split("; ")
        if pair
    )
    listed = column.confusions(1)
    assert {(ground, retrieved): n for ground, retrieved, n, _ in listed} == times
    assert [n for *_, n, _ in listed] == sorted(times.values(), reverse=True)


def test_what_is_printed_and_saved(explained, tmp_path):
    text = str(explained)
    for words in (
        "Concept metrics, mean per failure",
        "Counts",
        "Most frequent confusions",
        "not defined and left",
    ):
        assert words in text
    for name in ("x.csv", "x.json", "x.md", "x.tex", "x.html", "x.parquet"):
        explained.save(tmp_path / name)
        explained.local.save(tmp_path / f"local-{name}")
    rows = json.loads((tmp_path / "local-x.json").read_text(encoding="utf-8"))
    assert rows == explained.local.records()
    assert "the first 20" in str(explained.local)


def test_nothing_is_counted_from_captions():
    bench = replace(WORLD.benchmark(), objects=None)
    explained = karat.explain(simulate_systems(WORLD)[0], bench, direction="t2i")
    (row,) = explained.records()
    assert row["agreement"] is not None
    assert row["enumeration"] is row["size"] is row["differing_share"] is row["enumeration_mode"] is None
    assert any("numbers and sizes of things are not known" in note for note in explained.notes)


def test_a_perfect_run_has_no_failures():
    scores = WORLD.relevance().astype(float)
    bench = WORLD.benchmark()
    explained = karat.explain(scores, bench, truth="complete", concepts=find_concepts(bench))
    assert [row["failures"] for row in explained.records()] == [0, 0]
    assert explained.records()[0]["agreement"] is None
    assert explained.local.records() == []
    assert "0.00" in str(explained)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": -1}, "rank is -1; give whole numbers from 1."),
        (
            {"comparison": {"size_threshold": -1}},
            "the threshold of sizes is -1; give a number above 0; 1 is 100%.",
        ),
        ({"comparison": {"relative_to": "both"}}, "relative_to is 'both'"),
        ({"ties": "expected"}, "ties is 'expected'"),
        ({"truth": "nope"}, "world has no truth 'nope'"),
        ({"direction": "t2t"}, "unknown direction 't2t'"),
        ({"concepts": "boxes"}, "concepts is 'boxes'"),
        ({"concepts": make_concepts([{}])}, "concepts of 1 image; give those of the 40 images of world."),
        (
            {"concepts": make_concepts([{}] * 40), "comparison": {"synset_map": {}}},
            "the concepts are given already",
        ),
    ],
)
def test_wrong_options_are_one_sentence(options, words):
    def explain(comparison=None, **others):
        how = ConceptComparison(**(comparison or {}))
        karat.explain(np.zeros((40, 120)), WORLD.benchmark(), comparison=how, **others)

    with pytest.raises(KaratError) as error:
        explain(**options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_captions_without_images_explain_t2i_only():
    tiny = build("t", ["x", "y"], [0, 1], ["x", "y"], ["a dog", "a cat"], where="", about="")
    concepts = make_concepts([{"dog.n.01": 1}, {"cat.n.01": 1}])
    alone = replace(tiny, caption_image=None)
    wrong = np.array([[0.1, 0.9], [0.9, 0.1]])
    explained = karat.explain(wrong, alone, concepts=concepts)
    assert [row["direction"] for row in explained.records()] == ["t2i"]
    assert "t does not say which images its captions belong to: t2i only" in explained.notes
    with pytest.raises(KaratError, match="choose t2i"):
        karat.explain(wrong, alone, concepts=concepts, direction="i2t")
