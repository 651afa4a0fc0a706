"""Plain folders, TREC qrels and Hugging Face tables."""

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import SOURCES


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    for name in ("b.jpg", "a.PNG", "deep/c.webp", "notes.md"):
        (folder / name).write_bytes(b"")
    return folder


def test_a_csv(pictures):
    (pictures / "captions.csv").write_text(
        'image,caption\nb.jpg,"a dog, running"\na.PNG,two cats\nb.jpg,a dog\n'
    )
    bench = karat.load_benchmark(pictures)
    assert bench.name == "pictures"
    assert bench.images.values.tolist() == ["a.PNG", "b.jpg", "deep/c.webp"]
    assert bench.captions.values.tolist() == ["b.jpg#0", "a.PNG#0", "b.jpg#1"]
    assert bench.texts == ["a dog, running", "two cats", "a dog"]
    assert bench.caption_image.tolist() == [1, 0, 1]
    assert bench.image_paths[2] == str(pictures / "deep" / "c.webp")
    assert bench.truth("original").queries["i2t"].tolist() == [0, 1]


def test_json_lines(pictures):
    lines = [
        {"image": "b.jpg", "captions": ["one", "two"]},
        {"image": "a.PNG", "caption": "three", "caption_id": 7},
    ]
    (pictures / "captions.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    bench = karat.load_benchmark("folder", folder=pictures)
    assert bench.captions.values.tolist() == ["b.jpg#0", "b.jpg#1", "7"]
    assert bench.texts == ["one", "two", "three"]


def test_a_text_file_per_image(pictures):
    (pictures / "b.txt").write_text("a dog\n\n a dog again \n", encoding="utf-8")
    (pictures / "deep" / "c.txt").write_text("a cat")
    bench = karat.load_benchmark(pictures)
    assert bench.texts == ["a dog", "a dog again", "a cat"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("captions.csv", "", "has no column 'image'"),
        ("captions.csv", "image,text\nb.jpg,x\n", "has no column 'caption'"),
        ("captions.csv", "image,caption\nb.jpg\n", "row 2 is not a caption"),
        ("captions.csv", "image,caption\nb.jpg,a,b\n", "row 2 is not a caption"),
        ("captions.csv", "image,caption\nz.jpg,a\n", "names the image 'z.jpg', which is not in the folder"),
        ("captions.csv", "image,caption\n../b.jpg,a\n", "not in the folder"),
        ("captions.csv", 'image,caption\nb.jpg,"a\n', "is not csv"),
        ("captions.csv", "image,caption,caption_id\nb.jpg,a,1\nb.jpg,b,1\n", "repeats the caption id 1"),
        ("captions.csv", "image,caption\n", "holds no caption"),
        ("captions.jsonl", "{\n", "row 1 is not a caption"),
        ("captions.jsonl", '{"image": "b.jpg"}\n', "row 1 is not a caption"),
        ("captions.jsonl", '{"image": "b.jpg", "caption": 5}\n', "is no text"),
        ("captions.jsonl", "[1]\n", "row 1 is not a caption"),
    ],
)
def test_wrong_folders(pictures, name, text, message):
    (pictures / name).write_text(text)
    with pytest.raises(karat.KaratError, match=message):
        karat.load_benchmark("folder", folder=pictures)


def test_two_tables_and_no_folder(pictures, tmp_path):
    for name in ("captions.csv", "captions.jsonl"):
        (pictures / name).write_text("")
    with pytest.raises(karat.KaratError, match="keep one of them"):
        karat.load_benchmark(pictures)
    with pytest.raises(karat.KaratError, match="there is no such folder"):
        karat.load_benchmark("folder", folder=tmp_path / "none")
    with pytest.raises(karat.KaratError, match="needs folder"):
        karat.load_benchmark("folder")


def test_qrels(tmp_path):
    (tmp_path / "q.txt").write_text("q1 0 d1 2\nq1 0 d9 1\nq1 0 d2 0\nq2 0 d3 -1\n\nq2 0 d1 1\n")
    (tmp_path / "items.txt").write_text("d1\nd2\nd3\nd4\n")
    bench = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", items=tmp_path / "items.txt")
    assert bench.captions.gallery.tolist() == ["d1", "d2", "d3", "d4"]
    assert bench.captions.extra.tolist() == ["d9"]
    row = bench.summary()[0]["i2t"]
    assert row == {"queries": 2, "positives": 3, "negatives": 2, "off_gallery": 1}
    assert sorted(bench.truth("qrels").judgments.pairs().grade) == [0, 0, 0.5, 0.5, 1]
    card = karat.evaluate(np.array([[4.0, 3, 2, 1], [1, 2, 3, 4]]), bench, ["R@1", "AP"], directions=["i2t"])
    assert card.value("R@1", direction="i2t") == 0.5
    turned = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="t2i")
    assert turned.images.gallery.tolist() == ["d1", "d9", "d2", "d3"]
    for text, message in (
        ("", "holds no judgment"),
        ("q1 0 d1\n", "row 1 is 'q1 0 d1'"),
        ("q1 0 d1 high\n", "row 1 is"),
        ("q1 0 d1 1\nq1 0 d1 0\n", "repeats the pair"),
    ):
        (tmp_path / "q.txt").write_text(text)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("trec", qrels=tmp_path / "q.txt")
    with pytest.raises(karat.KaratError, match="direction is 'up'"):
        karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="up")


@pytest.mark.parametrize("form", ["jsonl", "parquet", "tsv"])
def test_corpus_queries_and_qrels(tmp_path, form):
    tables = {
        "corpus": {"_id": ["i1", "i2", "i3"], "title": ["x", "y", "z"]},
        "queries": {"_id": ["q1", "q2", "q3"], "text": ["a", "b", "c"]},
        "qrels/test": {"query-id": ["q1", "q2", "q2"], "corpus-id": ["i1", "i2", "i3"], "score": [1, 2, 0]},
    }
    (tmp_path / "qrels").mkdir()
    for name, columns in tables.items():
        frame = pl.DataFrame(columns)
        path = tmp_path / f"{name}.{form}"
        if form == "jsonl":
            frame.write_ndjson(path)
        elif form == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="\t")
    bench = karat.load_benchmark(tmp_path)
    assert bench.images.gallery.tolist() == ["i1", "i2", "i3"]
    assert bench.captions.gallery.tolist() == ["q1", "q2"]
    assert bench.summary()[0]["t2i"] == {"queries": 2, "positives": 2, "negatives": 1, "off_gallery": 0}
    with pytest.raises(karat.KaratError, match="there is no table qrels/dev"):
        karat.load_benchmark("beir", folder=tmp_path, split="dev")


def test_wrong_tables(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "i1"}\n')
    (tmp_path / "queries.jsonl").write_text('{"name": "q1"}\n')
    (tmp_path / "qrels.jsonl").write_text('{"query-id": "q1", "corpus-id": "i1", "score": "x"}\n')
    with pytest.raises(karat.KaratError, match="has no column '_id'; it has name"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1"}\n')
    with pytest.raises(karat.KaratError, match="has a score that is no number"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "queries.jsonl").write_text("3\n")
    with pytest.raises(karat.KaratError, match="row 1 is not a json object"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "queries.jsonl").unlink()
    (tmp_path / "queries.parquet").write_bytes(b"PAR1")
    with pytest.raises(karat.KaratError, match="is not Parquet"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "queries.parquet").unlink()
    (tmp_path / "queries.tsv").write_text("_id\tx\na\n")
    with pytest.raises(karat.KaratError, match="row 2 has 1 cells"):
        karat.load_benchmark(tmp_path)


def test_every_source_says_what_it_takes():
    for source in SOURCES.values():
        assert source.about
        assert all(param.help for param in source.params)


def test_image_names_stay_in_their_folder(tmp_path):
    from karat.benchmarks.reading import find_images

    (tmp_path / "secret.png").write_bytes(b"")
    (tmp_path / "images").mkdir()
    for name in ("../secret.png", str(tmp_path / "secret.png")):
        with pytest.raises(karat.KaratError, match="leads out of its folder"):
            find_images(tmp_path / "images", [name])
