"""Data sets of images and captions as Hugging Face hosts them."""

import polars as pl
import pytest

import karat


def picture(name):
    return {"bytes": b"\xff\xd8\xff\xe0" + name.encode(), "path": name}


def test_a_row_per_image_with_a_list_of_captions(tmp_path):
    (tmp_path / "data").mkdir()
    for shard, rows in (("00000", range(2)), ("00001", range(2, 3))):
        pl.DataFrame(
            {
                "image": [picture(f"{n}.jpg") for n in rows],
                "text": [[f"caption {n}", f"ein Café {n}"] for n in rows],
            }
        ).write_parquet(tmp_path / "data" / f"test-{shard}-of-00002.parquet")
    pl.DataFrame({"image": [picture("9.jpg")], "text": [["x"]]}).write_parquet(
        tmp_path / "data" / "train-00000-of-00001.parquet"
    )
    bench = karat.load_benchmark(tmp_path)
    assert bench.images.gallery.tolist() == [0, 1, 2]
    assert bench.captions.gallery.tolist() == ["0#0", "0#1", "1#0", "1#1", "2#0", "2#1"]
    assert bench.texts[5] == "ein Café 2"
    assert karat.load_benchmark(tmp_path, split="train").texts == ["x"]
    with pytest.raises(karat.KaratError, match="has no split 'dev'; its splits are test, train"):
        karat.load_benchmark(tmp_path, split="dev")


def test_a_row_per_caption_with_ids_and_a_column_of_splits(tmp_path):
    pl.DataFrame(
        {
            "image": [picture(name) for name in ("a.jpg", "b.jpg", "a.jpg", "c.jpg")],
            "filename": ["a.jpg", "b.jpg", "a.jpg", "c.jpg"],
            "sentences": [[{"raw": f"caption {n}", "sentid": n}] for n in range(4)],
            "split": ["test", "test", "test", "val"],
        }
    ).write_parquet(tmp_path / "0000.parquet")
    bench = karat.load_benchmark(tmp_path)
    assert bench.images.gallery.tolist() == ["a.jpg", "b.jpg"]
    assert bench.texts == ["caption 0", "caption 2", "caption 1"]
    with pytest.raises(karat.KaratError, match="has no row of the split 'train'; its splits are test, val"):
        karat.load_benchmark(tmp_path, split="train")


def test_wrong_columns(tmp_path):
    path = tmp_path / "0000.parquet"
    pl.DataFrame({"image": [picture("a.jpg")], "label": [3]}).write_parquet(path)
    with pytest.raises(
        karat.KaratError, match=r"has no column caption or captions or text; .* it has image, label"
    ):
        karat.load_benchmark("parquet", folder=tmp_path)
    with pytest.raises(karat.KaratError, match="has no column 'alt'"):
        karat.load_benchmark("parquet", folder=tmp_path, caption_column="alt")
    with pytest.raises(karat.KaratError, match="image 0 has something else than text in 'label'"):
        karat.load_benchmark("parquet", folder=tmp_path, caption_column="label")
    path.write_bytes(b"PAR1")
    with pytest.raises(karat.KaratError, match="is not Parquet"):
        karat.load_benchmark("parquet", folder=tmp_path)
    path.unlink()
    with pytest.raises(karat.KaratError, match="has no Parquet files"):
        karat.load_benchmark("parquet", folder=tmp_path)
