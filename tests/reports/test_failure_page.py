"""The page of failures: what is in it, and that nothing in it can run."""

import base64
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Objects
from karat.explanations import ConceptComparison, FaultChoices
from karat.reports import PageOptions, write_report
from karat.reports.bundle import source_hash
from karat.reports.section import in_order
from karat.world import make_world, simulate
from reports.hostile import IMAGE_TAG, RIGHT_TO_LEFT, SCRIPT_END, hostile_benchmark, hostile_runs
from reports.test_report import Page

TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4"}


def unpacked(pack) -> list[np.ndarray]:
    data = gzip.decompress(base64.b64decode(pack["data"]))
    return [np.frombuffer(data, TYPES[one["type"]], one["length"], one["at"]) for one in pack["arrays"]]


def texts(packed) -> list[str]:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def hostile_failures(tmp_path_factory):
    """Failures on images, captions, categories and slices with hostile names."""
    folder = tmp_path_factory.mktemp("pictures") / "inside"
    folder.mkdir()
    bench = replace(hostile_benchmark(folder=folder), image_folder=str(folder))
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(30), 2)
    things = Objects(
        (SCRIPT_END, IMAGE_TAG, RIGHT_TO_LEFT), image, rng.integers(0, 3, 60), 0.5 * rng.random((60, 4)),
        synsets=("dog.n.01", "cat.n.01", "bus.n.01"),
    )  # fmt: skip
    slices = {IMAGE_TAG: rng.random(60) < 0.5, SCRIPT_END: rng.random(30) < 0.5}
    return karat.explain(
        hostile_runs(bench)[:2],
        replace(bench, objects=things),
        faults=FaultChoices("complete"),
        slices=slices,
        rank=(1, 2),
    )


@pytest.fixture(scope="module")
def hostile_file(hostile_failures, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "failures.html"
    return write_report(
        hostile_failures,
        path,
        page=PageOptions(SCRIPT_END, inline_images=0.002, command=f"karat explain '{SCRIPT_END}'"),
    )


def test_nothing_from_the_data_can_run(hostile_file):
    page = Page(hostile_file)
    assert [name for name in page.ids if name in {one.name for one in in_order("failures")}] == [
        one.name for one in in_order("failures")
    ]
    runnable = [text for kind, text in page.scripts if kind.get("type") == "module"]
    assert len(runnable) == 1
    # No plots: no plotly.
    assert len(page.scripts) == 2
    policy = next(value for _, value in page.attributes if value and value.startswith("default-src 'none'"))
    assert f"script-src {source_hash(runnable[0])};" in policy
    assert "http" not in policy
    assert not {"iframe", "object", "embed", "link", "img", "i", "b"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    block = next(text for kind, text in page.scripts if kind.get("id") == "report-data")
    assert not set("<>&\u2028\u2029") & set(block)
    assert SCRIPT_END in page.text


def test_pictures_stay_in_their_folder(hostile_failures, hostile_file):
    found = Page(hostile_file).data["failures"]
    images = texts(found["images"])
    pictures = dict(zip(images, zip(found["thumbnails"]["inline"], found["thumbnails"]["links"])))
    names = [str(name) for name in hostile_failures.benchmark.images.values]
    # Out of the folder by its name, and by a symbolic link.
    assert all(pictures[names[k]] == (None, None) for k in (27, 28) if names[k] in pictures)
    assert any(small for small, _ in pictures.values())
    assert any(link for _, link in pictures.values())
    # The first failures have their pictures in the file.
    assert found["thumbnails"]["inline"][0]


def test_numbers_are_those_of_the_failures(tmp_path):
    world = make_world(30, captions=3, seed=2)
    bench = world.benchmark()
    short = np.array([len(text) < 30 for text in world.texts])
    explained = karat.explain(
        simulate(world, 2),
        bench,
        faults=FaultChoices("complete", 2),
        comparison=ConceptComparison(query_informed=True),
        slices={"short": short},
    )
    explained.save(tmp_path / "failures.html")
    found = Page(tmp_path / "failures.html").data["failures"]
    shared, images, captions = unpacked(found["pack"]), texts(found["images"]), texts(found["captions"])
    words, categories = texts(found["concepts"]["synsets"]), texts(found["objects"]["names"])
    assert [table["direction"] for table in found["tables"]] == ["t2i", "i2t"]
    records = explained.local.records()
    for table in found["tables"]:
        arrays = unpacked(table["pack"])
        rows = [one for one in records if one["direction"] == table["direction"]]
        names = (captions, images) if table["direction"] == "t2i" else (images, captions)
        assert [names[0][k] for k in arrays[table["query"]]] == [one["query"] for one in rows]
        for side in ("ground", "retrieved"):
            key = "ground_truth" if side == "ground" else side
            assert [names[1][k] for k in arrays[table[side]]] == [one[key] for one in rows]
        [agreement] = [one for one in table["metrics"] if one["short"] == "CA" and not one["informed"]]
        known = [np.nan if one["agreement"] is None else one["agreement"] for one in rows]
        np.testing.assert_allclose(arrays[agreement["array"]], known, atol=1e-4)
        marks = {one["title"]: arrays[one["array"]].astype(bool).tolist() for one in table["marks"]}
        assert marks == {
            "successful alternative": [one["alternative"] for one in rows],
            "few keywords": [one["few_keywords"] for one in rows],
        }
        pairs = table["pairs"]
        ends = np.cumsum(arrays[pairs["count"]].astype(int))
        for k, one in enumerate(rows):
            at = slice(ends[k] - arrays[pairs["count"]][k], ends[k])
            matched = [
                f"{words[g]} – {words[r]} {1 / (1 + steps):.3f}"
                for g, r, steps in zip(
                    *(arrays[pairs[name]][at] for name in ("ground", "retrieved", "steps"))
                )
            ]
            assert "; ".join(matched) == one["pairs"]
    [sliced] = found["tables"][0]["slices"]
    arrays = unpacked(found["tables"][0]["pack"])
    assert arrays[sliced["array"]].tolist() == short[explained.columns[1].failures.query].tolist()
    assert found["tables"][1]["slices"] == []
    # Boxes and concepts of the images, in the order of the page.
    ends = np.cumsum(shared[found["objects"]["length"]].astype(int))
    corners = shared[found["objects"]["corners"]].reshape(-1, 4) / found["grid"]
    for k, name in enumerate(images):
        own = bench.objects.image == int(name[:6])
        at = slice(ends[k] - own.sum(), ends[k])
        shown = [categories[c] for c in shared[found["objects"]["category"]][at]]
        assert shown == [bench.objects.categories[c] for c in bench.objects.category[own]]
        box = bench.objects.box[own]
        np.testing.assert_allclose(corners[at], np.c_[box[:, :2], box[:, :2] + box[:, 2:]], atol=1e-3)


def test_no_failure_and_no_objects(tmp_path):
    world = make_world(10, captions=1, seed=1)
    bench = replace(world.benchmark(), objects=None)
    perfect = karat.explain(np.eye(10), bench, concepts="captions")
    perfect.save(tmp_path / "perfect.html")
    assert "There is no failure to show." in Page(tmp_path / "perfect.html").text
    karat.explain(1 - np.eye(10), bench, concepts="captions").save(tmp_path / "words.html")
    found = Page(tmp_path / "words.html").data["failures"]
    assert found["objects"] is None
    assert found["thumbnails"] is None
    assert not found["concepts"]["counted"]
