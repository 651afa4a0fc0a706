"""AToMiC's qrels: one file for both directions, or a track's for one."""

import polars as pl
import pytest

import karat

TEXTS = ["projected-00000-001", "projected-00000-002", "projected-00001-001"]
IMAGES = ["b7ec5d2f", "c1f0a3b4"]
LINES = f"{TEXTS[0]} Q0 {IMAGES[0]} 1\n{TEXTS[1]} Q0 {IMAGES[0]} 1\n{TEXTS[2]} Q0 {IMAGES[1]} 1\n"


def test_one_file_for_both_directions(tmp_path):
    path = tmp_path / "validation.qrels.t2i.projected.trec"
    path.write_text(LINES)
    columns = list(zip(*(line.split() for line in LINES.splitlines())))
    table = tmp_path / "validation-00000-of-00001.parquet"
    names = ("text_id", "Q0", "image_id", "rel")
    pl.DataFrame(dict(zip(names, columns))).cast({"rel": pl.Int64}).write_parquet(table)
    for file in (path, table):
        bench = karat.load_benchmark("atomic", qrels=file)
        assert bench.captions.gallery.tolist() == TEXTS
        assert bench.images.gallery.tolist() == IMAGES
        counts = bench.summary()[0]
        assert (counts["i2t"]["queries"], counts["i2t"]["positives"]) == (2, 3)
        assert (counts["t2i"]["queries"], counts["t2i"]["positives"]) == (3, 3)


def test_the_judgments_of_one_direction(tmp_path):
    path = tmp_path / "qrels.atomic.i2t"
    path.write_text(f"{IMAGES[0]} 0 {TEXTS[0]} 2\n{IMAGES[0]} 0 {TEXTS[1]} 0\n{IMAGES[0]} 0 {TEXTS[2]} -1\n")
    for name, ids in (("texts", [*TEXTS, "other"]), ("images", IMAGES)):
        (tmp_path / name).write_text("\n".join(ids) + "\n")
    bench = karat.load_benchmark(
        "atomic", qrels=path, direction="i2t", texts=tmp_path / "texts", images=tmp_path / "images"
    )
    assert bench.captions.gallery.tolist() == [*TEXTS, "other"]
    counts = bench.summary()[0]
    assert counts["i2t"] == {"queries": 1, "positives": 1, "negatives": 1, "off_gallery": 0}
    assert counts["t2i"]["queries"] == 0
    assert bench.truth("qrels").n_pooled == 1


def test_wrong_qrels(tmp_path):
    path = tmp_path / "q.trec"
    path.write_text("t1 Q0 i1\n")
    with pytest.raises(karat.KaratError, match="row 1 is 't1 Q0 i1'; write `query 0 item relevance`"):
        karat.load_benchmark("atomic", qrels=path)
    path.write_text("t1 Q0 i1 yes\n")
    with pytest.raises(karat.KaratError, match="row 1 is 't1 Q0 i1 yes'"):
        karat.load_benchmark("atomic", qrels=path)
    pl.DataFrame({"text_id": ["a"], "image_id": ["b"]}).write_parquet(tmp_path / "q.parquet")
    with pytest.raises(karat.KaratError, match="has no column 'rel'; it has text_id, image_id"):
        karat.load_benchmark("atomic", qrels=tmp_path / "q.parquet")
