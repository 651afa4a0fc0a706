"""``karat convert``: between any two formats, in bounded memory, or a sentence that says why not."""

import json
import sys

import numpy as np
import polars as pl
import pytest

import karat
from karat.cli import main as command_line
from karat.runs import EmbeddingRun
from karat.runs.files import read
from karat.runs.formats import blocks

ORDER = {"images": [f"img{k}" for k in range(3)], "captions": list(range(100, 108))}


@pytest.fixture
def command(capsys, monkeypatch):
    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["karat", "convert", *map(str, arguments)])
        monkeypatch.delenv("KARAT_DEBUG", raising=False)
        with pytest.raises(SystemExit) as stop:
            command_line.main()
        captured = capsys.readouterr()
        assert (stop.value.code or 0) == code, captured.err
        return captured.out if code == 0 else captured.err

    return call


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    """Embeddings, scores and lists, each with ids."""
    monkeypatch.chdir(tmp_path)
    # A block holds one row: what is streamed shows.
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 16)
    images, captions = (
        rng.standard_normal((3, 4), dtype=np.float32),
        rng.standard_normal((8, 4), dtype=np.float32),
    )
    np.save("img.npy", images)
    np.save("txt.npy", captions)
    np.savez(
        "both.npz", images=images, captions=captions, image_ids=ORDER["images"], caption_ids=ORDER["captions"]
    )
    np.save("scores.npy", images @ captions.T)
    np.savez_compressed("packed.npz", x=images @ captions.T)
    for name in ("scores", "packed"):
        (tmp_path / f"{name}.ids.json").write_text(json.dumps(ORDER))
    lists = {"i2t": {"img0": [101, 100], "img1": [107]}, "t2i": {"100": ["img1", "img0", "img2"]}}
    (tmp_path / "lists.json").write_text(json.dumps(lists))
    return tmp_path


TABLES = ("a.npz", "b.safetensors", "c.parquet", "d.csv", "e.tsv", "f.npy")


def test_scores_go_round_through_every_format(command, folder):
    before = "scores.npy"
    for name in TABLES:
        out = command(before, name)
        assert out.startswith(f"wrote {name}")
        before = name
    np.testing.assert_array_equal(np.load("f.npy"), np.load("scores.npy"))
    assert json.loads((folder / "f.ids.json").read_text()) == ORDER
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_embeddings_go_round_through_every_format(command, folder):
    before = ["both.npz"]
    for name in ("clip", "b.safetensors", "c.parquet", "d.npy", "e.npz"):
        command(*before, name, "--kind", "embeddings")
        stem, _, ending = name.partition(".")
        two = ending in ("parquet", "npy")
        before = [f"{stem}.{side}.{ending}" for side in ("images", "captions")] if two else [name]
    back, first = karat.load_run("e.npz"), karat.load_run("both.npz")
    np.testing.assert_array_equal(back.images, first.images)
    np.testing.assert_array_equal(back.captions, first.captions)
    assert {kind: list(ids) for kind, ids in back.ids.items()} == ORDER


def test_embeddings_become_scores(command, folder):
    command("img.npy", "txt.npy", "products.npy")
    scores = np.load("products.npy")
    assert scores.dtype == np.float32
    exact = np.load("img.npy").astype(np.float64) @ np.load("txt.npy").astype(np.float64).T
    np.testing.assert_array_equal(scores, exact.astype(np.float32))
    command("both.npz", "cosine.parquet", "--similarity", "cosine")
    cosine = np.asarray(read(folder / "cosine.parquet").tables[0])
    np.testing.assert_allclose(np.abs(cosine).max(), 1, atol=0.5)
    assert json.loads((folder / "cosine.ids.json").read_text()) == ORDER


@pytest.mark.parametrize("source", ["scores.npy", "packed.npz", "both.npz"])
def test_tables_become_lists(command, folder, source):
    command(source, "top.json", "--top", 3)
    lists = json.loads((folder / "top.json").read_text())
    scores = np.load("scores.npy")
    for query, row in zip(ORDER["images"], scores):
        assert lists["i2t"][query] == [100 + k for k in np.argsort(-row)[:3].tolist()]
    for query, column in zip(ORDER["captions"], scores.T):
        assert lists["t2i"][str(query)] == [f"img{k}" for k in np.argsort(-column).tolist()]
    command(source, "top.trec", "--top", 3, "--direction", "t2i")
    assert {str(query): items for query, items in read(folder / "top.trec").lists.items()} == lists["t2i"]
    command(source, "top.parquet", "--top", 3)
    found = pl.read_parquet("top.parquet")
    assert len(found) == 3 * 3 + 8 * 3
    one = found.filter(direction="i2t", query="img1").row(0, named=True)
    assert one["score"] == pytest.approx(scores[1].max(), rel=1e-6)


def test_lists_are_cut_and_go_round(command, folder):
    before = "lists.json"
    for name in ("a.csv", "b.parquet", "c.tsv", "d.json"):
        command(before, name)
        before = name
    assert json.loads((folder / "d.json").read_text()) == json.loads((folder / "lists.json").read_text())
    command("lists.json", "one.run", "--direction", "t2i", "--top", 2)
    assert read(folder / "one.run").lists == {100: ["img1", "img0"]}
    command("one.run", "bare.csv")
    assert read(folder / "bare.csv").lists == {100: ["img1", "img0"]}
    command("one.run", "named.json", "--direction", "t2i")
    assert json.loads((folder / "named.json").read_text()) == {"t2i": {"100": ["img1", "img0"]}}


def test_a_benchmark_names_rows_and_directions(command, folder, coco, rng):
    images, captions = rng.random((5000, 2), dtype=np.float32), rng.random((25000, 2), dtype=np.float32)
    np.savez("coco.npz", images=images, captions=captions)
    blocks.BLOCK_BYTES = 64 << 20
    command("coco.npz", "top.trec", "--benchmark", "coco", "--top", 2, "--direction", "i2t")
    run = karat.load_run("top.trec", coco)
    assert run.top("i2t", 2).item.tolist() == EmbeddingRun(images, captions).top("i2t", 2).item.tolist()
    command("coco.npz", "named.safetensors", "-b", "coco")
    assert list(karat.load_run("named.safetensors").ids["images"]) == coco.images.gallery.tolist()
    command("top.trec", "top.json", "-b", "coco")
    assert list(json.loads((folder / "top.json").read_text())) == ["i2t"]
    assert "has 3 by 8 scores" in command("scores.npy", "x.npz", "-b", "coco", code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.npy"], "1 file; write karat convert SOURCE TARGET"),
        (["a.npy", "b.npy", "c.npy", "d.npy"], "4 files; write"),
        (["nowhere.npy", "x.npz"], "nowhere.npy: there is no such file."),
        (["scores.npy", "x.txt"], "x.txt: has the extension '.txt'; karat writes ."),
        (["scores.npy", "no/x.npz"], "there is no folder no"),
        (["both.npz", "no/folder"], "there is no folder no"),
        (["both.npz", "."], "already exists; name a new folder"),
        (["lists.json", "x.npy"], "ranked lists have no scores of the other pairs"),
        (["lists.json", "x.csv", "--kind", "scores"], "ranked lists have no scores of the other pairs"),
        (["scores.npy", "x.npz", "--kind", "embeddings"], "scores cannot be converted to embeddings"),
        (["scores.npy", "folder"], "takes no"),
        (["scores.npy", "x.json"], "the lists have no length; give --top K"),
        (["scores.npy", "x.npz", "--top", "3"], "takes no lists"),
        (["scores.npy", "x.csv", "--kind", "scores", "--top", "3"], "leave out --top"),
        (["scores.npy", "x.csv", "--direction", "i2t"], "leave out --direction"),
        (["scores.npy", "x.csv", "--kind", "pictures"], "kind is 'pictures'; choose one of scores"),
        (["lists.json", "x.csv", "--direction", "up"], "unknown direction 'up'"),
        (["lists.json", "x.trec"], "x.trec: holds one direction; choose --direction, such as i2t"),
        (["scores.npy", "x.trec", "--top", "3"], "x.trec: holds one direction"),
        (["one.json", "x.trec", "--direction", "t2i"], "has no t2i rankings"),
        (["spaces.json", "x.trec"], "the id 'a b' is empty or has a space"),
        (["nested.json", "x.csv"], "ids are not a plain list"),
        (["odd.json", "x.csv"], "has no list of ids"),
        (["none.json", "x.csv"], "holds no ranking"),
        (["img.npy", "txt.npy", "x.json", "--top", "3"], "has no ids of images"),
        (["img.npy", "scores.npy", "x.npz"], "image embeddings have 4 dimensions"),
        (["scores.npy", "x.npz", "--top", "0"], "--top"),
        (["nan.npy", "x.npz"], "nan.npy: row 1, column 0 is nan"),
        (["nan.npy", "x.parquet"], "nan.npy: row 1, column 0 is nan"),
        (["nan.npy", "txt.npy", "x.npz"], "(image embeddings): row 1, column 0 is nan"),
        (["flat.npy", "x.npz"], "has 1 dimension"),
        (["img.npy", "stale.npy"], "stale.ids.json: is next to the target"),
        (["short.npy", "x.npz"], "short.ids.json: names 3 image ids for a table of 2"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_and_leaves_nothing(command, folder, arguments, message):
    np.save("nan.npy", np.array([[0, 0, 0, 0], [np.nan, 0, 0, 0]], np.float32))
    np.save("flat.npy", np.zeros(3))
    np.save("short.npy", np.zeros((2, 8)))
    for name in ("short", "stale"):
        (folder / f"{name}.ids.json").write_text(json.dumps(ORDER))
    for name, lists in (
        ("one", {"i2t": {"img0": [100]}}),
        ("spaces", {"i2t": {"a b": [100]}}),
        ("nested", {"i2t": {"a": [[100]]}}),
        ("odd", {"i2t": {"a": 7}}),
        ("none", {}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(lists))
    before = set(folder.iterdir())
    error = command(*arguments, code=2)
    assert message in error
    assert error.startswith("karat: ")
    assert error.count("\n") == 1
    assert set(folder.iterdir()) == before


def test_a_target_is_replaced_only_when_all_went_well(command, folder):
    np.save("nan.npy", np.array([[0.0], [np.nan]]))
    (folder / "x.npz").write_text("before")
    command("nan.npy", "x.npz", code=2)
    assert (folder / "x.npz").read_text() == "before"
    command("scores.npy", "scores.npy")
    assert np.load("scores.npy").shape == (3, 8)
