"""NUS-WIDE's labels: the real archive, a small one of the same layout, and every mistake in it."""

import re

import numpy as np
import pytest

import karat

CONCEPTS = ["bear", "cat", "dog", "elk", "fish", "grass", "sky", "sun", "tree"]
LABELS = {
    "train": [[1, 0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1], [0] * 9],
    "test": [[0, 1, 0, 0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 1, 0, 0, 0], [0] * 9, [0, 0, 0, 0, 0, 1, 0, 0, 1]],
}


def arrays(**changed):
    stored = {
        "concepts": np.array(CONCEPTS),
        "train_ids": np.array([7, -1, -1]),
        "test_ids": np.array([30, 10, 20, 10]),
        "test_folder": np.array(["tree", "cat", "actor", "tree"]),
        **{
            f"{split}_packed": np.packbits(np.array(rows, np.uint8), axis=1) for split, rows in LABELS.items()
        },
        **changed,
    }
    return {name: array for name, array in stored.items() if array is not None}


def write(folder, **changed):
    path = folder / "labels.npz"
    np.savez_compressed(path, **arrays(**changed))
    return path


def pairs(truth):
    listed = truth.judgments.pairs()
    return list(zip(listed.image.tolist(), listed.caption.tolist()))


def test_tags_are_captions(tmp_path):
    bench = karat.load_benchmark(write(tmp_path))
    assert bench.images.gallery.tolist() == ["30", "10#1", "20", "10#3"]
    assert bench.captions.gallery.tolist() == bench.texts == CONCEPTS
    gt, keyword = bench.truth("gt"), bench.truth("keyword")
    assert pairs(gt) == [tuple(pair) for pair in np.argwhere(LABELS["test"]).tolist()]
    assert pairs(keyword) == [(0, 8), (1, 1), (3, 8)]
    assert (gt.complete, keyword.complete) == (True, False)
    assert [list(truth.queries) for truth in (gt, keyword)] == [["t2i"], ["t2i"]]
    assert gt.queries["t2i"].tolist() == list(range(9))
    assert keyword.queries["t2i"].tolist() == [1, 8]
    assert gt.counts("t2i") == {"queries": 9, "positives": 6, "negatives": 0}


def test_the_concepts_that_are_search_words(tmp_path):
    bench = karat.load_benchmark("nuswide", file=write(tmp_path), tags="keyword", direction="both")
    assert bench.captions.gallery.tolist() == ["cat", "tree"]
    assert pairs(bench.truth("gt")) == [(0, 0), (0, 1), (3, 1)]
    assert pairs(bench.truth("keyword")) == [(0, 1), (1, 0), (3, 1)]
    assert bench.truth("gt").queries["i2t"].tolist() == [0, 1, 2, 3]
    assert bench.truth("keyword").queries["i2t"].tolist() == [0, 1, 3]
    scores = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.5], [0.1, 0.5]])
    card = karat.evaluate(scores, bench, "P@2", ties="stable", direction="t2i")
    # The cat's list is images 1 and 0; the tree's is 0 and 2, before 3, which has the same score.
    assert card.value("P@2", truth="gt", direction="t2i") == 0.5
    assert card.value("P@2", truth="keyword", direction="t2i") == 0.5


def test_the_train_part_has_no_search_words(tmp_path):
    file = write(tmp_path)
    bench = karat.load_benchmark("nuswide", file=file, split="train")
    assert bench.images.gallery.tolist() == ["7", "-1#1", "-1#2"]
    assert list(bench.truths) == list(bench.defaults) == ["gt"]
    assert pairs(bench.truth("gt")) == [(0, 0), (0, 5), (1, 8)]
    chosen = karat.load_benchmark("nuswide", file=file, split="train", tags="keyword")
    assert chosen.captions.gallery.tolist() == ["cat", "tree"]


def test_the_file_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    with pytest.raises(
        karat.KaratError, match=r"comes without nuswide_gt81\.npz, and there is no .*--set file="
    ):
        karat.load_benchmark("nuswide")
    (tmp_path / "nuswide").mkdir()
    write(tmp_path).rename(tmp_path / "nuswide" / "nuswide_gt81.npz")
    assert karat.load_benchmark("nuswide").images.size == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"test_packed": None}, "has no array test_packed"),
        ({"test_folder": None}, "has no array test_folder"),
        ({"test_ids": np.array(["a"] * 4)}, "has an array test_ids of type <U1 and shape (4,)"),
        ({"concepts": np.array("bear")}, "has an array concepts of type <U4 and shape ()"),
        (
            {"test_ids": np.array([1, 2])},
            "has test_packed of type uint8 and shape (4, 2) and 4 words for 2 images",
        ),
        ({"test_packed": np.ones((4, 9), np.uint8)}, "shape (4, 9)"),
        ({"test_packed": np.ones((4, 2), np.uint16)}, "of type uint16"),
        ({"test_folder": np.array(["cat"])}, "and 1 words for 4 images"),
        ({"concepts": np.array([*CONCEPTS[:8], "bear"])}, "duplicate concept id bear"),
        ({"concepts": np.array(CONCEPTS, object)}, "is not a complete npz file"),
    ],
)
def test_mistakes_in_the_archive(tmp_path, changed, message):
    path = write(tmp_path, **changed)
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        karat.load_benchmark("nuswide", file=path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.fix


def test_mistakes_in_the_options(tmp_path):
    path = write(tmp_path)
    no_words = {"test_folder": np.array(["actor"] * 4)}
    for options, message in (
        ({"split": "dev"}, "split is 'dev'; choose one of train, test"),
        ({"tags": "some"}, "tags is 'some'; choose one of all, keyword"),
        ({"direction": "i2t"}, "direction is 'i2t'; choose one of t2i, both"),
        ({"file": tmp_path / "none.npz"}, "none.npz: there is no such file"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            karat.load_benchmark("nuswide", **{"file": path, **options})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(karat.KaratError, match="is not a complete npz file"):
        karat.load_benchmark("nuswide", file=path)
    write(tmp_path, **no_words)
    assert list(karat.load_benchmark("nuswide", file=path).truths) == ["gt"]
    with pytest.raises(karat.KaratError, match="has no concept that is a search word too"):
        karat.load_benchmark("nuswide", file=path, tags="keyword")


def test_the_real_archive(data):
    bench = karat.load_benchmark("nuswide", tags="keyword")
    assert (bench.images.size, bench.captions.size) == (107859, 71)
    official, keyword = (set(pairs(bench.truth(name))) for name in ("gt", "keyword"))
    assert (len(official), len(keyword), len(official & keyword)) == (198968, 8932, 5285)
    assert bench.images.find(["702409954#13891", "702409954#60066"]).tolist() == [13891, 60066]
    train = karat.load_benchmark("nuswide", split="train")
    assert (train.images.size, train.captions.size) == (161789, 81)
    assert train.truth("gt").counts("t2i")["positives"] == 301459
