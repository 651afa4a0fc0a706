"""Corpus, queries and qrels as Hugging Face hosts them."""

import polars as pl
import pytest

import karat


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
    assert bench.truth("qrels").n_pooled == 0
    with pytest.raises(karat.KaratError, match="there is no table qrels/dev"):
        karat.load_benchmark("beir", folder=tmp_path, split="dev")


def test_a_score_of_minus_one_is_pooled(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "i1"}\n{"_id": "i2"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1"}\n{"_id": "q2"}\n')
    scores = "q1\ti1\t1\nq1\ti2\t-1\nq2\ti1\t-2\nq2\ti2\t1\n"
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + scores)
    bench = karat.load_benchmark(tmp_path)
    assert bench.summary()[0]["t2i"] == {"queries": 2, "positives": 2, "negatives": 1, "off_gallery": 0}
    assert [column.tolist() for column in bench.truth("qrels").pooled("t2i")] == [[0], [1]]
    graded = karat.load_benchmark(tmp_path, minus_one="not-relevant")
    assert graded.summary()[0]["t2i"]["negatives"] == 2
    assert graded.truth("qrels").n_pooled == 0


def test_wrong_tables(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "i1"}\n')
    (tmp_path / "queries.jsonl").write_text('{"name": "q1"}\n')
    (tmp_path / "qrels.jsonl").write_text('{"query-id": "q1", "corpus-id": "i1", "score": "x"}\n')
    with pytest.raises(karat.KaratError, match="has no column '_id'; it has name"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1"}\n')
    with pytest.raises(karat.KaratError, match="has a score that is not a number"):
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


@pytest.mark.parametrize("layout", ["{}-00000-of-00001.parquet", "{}/test-00000-of-00001.parquet"])
def test_the_tables_of_mieb(tmp_path, layout):
    picture = {"bytes": b"\xff\xd8\xff\xe0", "path": None}
    query, corpus = ("query", "corpus") if "/" not in layout else ("queries", "corpus")
    tables = {
        query: {"id": ["q1", "q2"], "modality": ["image"] * 2, "text": None, "image": [picture] * 2},
        corpus: {"id": ["c1", "c2", "c3"], "modality": ["text"] * 3, "text": ["a", "b", "c"], "image": None},
        "qrels": {"query-id": ["q1", "q2"], "Q0": ["0"] * 2, "corpus-id": ["c1", "c3"], "score": [1, 1]},
    }
    for name, columns in tables.items():
        path = tmp_path / layout.format(name)
        path.parent.mkdir(exist_ok=True)
        pl.DataFrame(columns).write_parquet(path)
    bench = karat.load_benchmark(tmp_path)
    assert bench.images.gallery.tolist() == ["q1", "q2"]
    assert bench.texts == ["a", "b", "c"]
    assert bench.summary()[0]["i2t"] == {"queries": 2, "positives": 2, "negatives": 0, "off_gallery": 0}
    pl.DataFrame({**tables[corpus], "modality": ["image"] * 3}).write_parquet(
        tmp_path / layout.format(corpus)
    )
    images = karat.load_benchmark(tmp_path)
    assert images.directions == ("q2i", "i2q")
    assert repr(images).endswith(": 2 queries, 3 images; truths qrels)")
    pl.DataFrame({**tables[corpus], "modality": ["smell"] * 3}).write_parquet(
        tmp_path / layout.format(corpus)
    )
    with pytest.raises(karat.KaratError, match="has queries of image and a corpus of smell"):
        karat.load_benchmark(tmp_path)
    assert karat.load_benchmark(tmp_path, direction="i2t").captions.size == 3
