"""Heads of Parquet files: those of several writers pass, wrong counts are refused before they are decoded."""

import time
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from karat._util import check_parquet

TABLES = {
    "ids": pl.DataFrame({"image_id": [10, 10, 11, 11, 12, 12, 13, 13], "caption_id": range(100, 108)}),
    "texts": pl.DataFrame({"a": ["x" * k for k in range(3000)], "b": [None, "é"] * 1500}),
    "lists": pl.DataFrame({"a": [[1, 2], [], None, [3]], "b": [{"x": 1}] * 4, "c": [b"x"] * 4}),
    "empty": pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)}),
    "wide": pl.DataFrame(np.random.default_rng(0).random((4, 300)).astype(np.float32)),
    "long": pl.DataFrame({"a": np.arange(200_000), "b": np.zeros(200_000)}),
}


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "uncompressed", "statistics": "full"},
        {"compression": "snappy", "row_group_size": 50_000, "data_page_size": 1000, "statistics": False},
    ],
)
def test_what_polars_writes_passes(tmp_path, name, options):
    TABLES[name].write_parquet(tmp_path / "a.parquet", **options)
    check_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_what_arrow_writes_passes(tmp_path, version):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for page in ("1.0", "2.0"):
        table = arrow.table({"a": list(range(5000)), "b": [["x"], None] * 2500})
        parquet.write_table(table, tmp_path / "a.parquet", version=version, data_page_version=page)
        check_parquet(tmp_path / "a.parquet")


def test_a_page_of_fewer_values_than_none_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    TABLES["ids"].write_parquet(path)
    data = path.read_bytes()
    # Three fields of a page's own head, of which the first counts its values.
    at = data.index(bytes([0x2C, 0x15, 0x10, 0x15, 0x10]))
    path.write_bytes(data[: at + 2] + b"\x11" + data[at + 3 :])
    with pytest.raises(ValueError, match="a page counts what it cannot hold"):
        check_parquet(path)


def test_damaged_heads_end(tmp_path):
    path = tmp_path / "a.parquet"
    TABLES["lists"].write_parquet(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    begun = time.perf_counter()
    for _ in range(500):
        damaged = bytearray(data)
        for at in rng.integers(0, len(data), 3):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(bytes(damaged))
        with suppress(ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError):
            check_parquet(path)
    assert time.perf_counter() - begun < 60
