"""A data set of images and captions as Hugging Face hosts it: Parquet files, a row per image or per caption.

A row has a caption, or a list of them, as text or as records with a key ``raw``. The pictures in the column
``image`` are never read. An image is called by its column of ids; rows with the same id are one image.
Without such a column every row is an image, called by its number. Captions are called ``IMAGE#0``, ….
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import Param, check_parquet, parsing
from karat.benchmarks.benchmark import Benchmark, build_numbered
from karat.benchmarks.registry import Source, register
from karat.errors import InputError, MissingDataError

if TYPE_CHECKING:
    import polars as pl

CAPTIONS = ("caption", "captions", "text", "sentences", "sentences_raw", "annotations_captions")
IDS = ("image_id", "cocoid", "img_id", "imgid", "filename", "file_name", "image_file_name", "id")
SPLIT = "split"
DAMAGED = ("is not Parquet", "download it again")


def load(
    folder: Path, split: str = "test", caption_column: str | None = None, id_column: str | None = None
) -> Benchmark:
    """Build the benchmark."""
    import polars as pl

    files = find(folder, split)
    schema = read_schema(files[0])
    text = choose(files[0], schema, caption_column, CAPTIONS, "caption_column")
    named = id_column is not None or not set(IDS).isdisjoint(schema)
    key = choose(files[0], schema, id_column, IDS, "id_column") if named else None
    columns = [name for name in (text, key, SPLIT if schema.get(SPLIT) == pl.String else None) if name]
    captions: dict[Any, list[str]] = {}
    splits: set[str] = set()
    for file in files:
        with parsing(file, *DAMAGED):
            check_parquet(file)
            table = pl.read_parquet(file, columns=columns)
        if SPLIT in columns:
            splits |= set(table[SPLIT].drop_nulls())
            table = table.filter(pl.col(SPLIT) == split)
        names = table[key].to_list() if key else range(len(captions), len(captions) + len(table))
        for name, value in zip(names, table[text].to_list()):
            captions.setdefault(name, []).extend(texts_of(value, name, text, file))
    if not captions and splits:
        fix = f"its splits are {', '.join(sorted(splits))}"
        raise InputError(f"has no row of the split {split!r}", where=files[0], fix=fix)
    return build_numbered(
        folder.resolve().name, captions, where=folder, about=f"{split} split, captions of the column {text}"
    )


def find(folder: Path, split: str) -> list[Path]:
    """Return the files of a split: a folder of its name, files that begin with it, or else all."""
    files = sorted(folder.glob("*.parquet")) or sorted(folder.glob("data/*.parquet"))
    own = sorted(folder.glob(f"{split}/*.parquet"))
    own = own or [file for file in files if file.stem.split("-")[0] == split]
    if not own and any("-of-" in file.name for file in files):
        known = sorted({file.name.split("-")[0] for file in files})
        raise MissingDataError(
            f"has no split {split!r}", where=folder, fix=f"its splits are {', '.join(known)}"
        )
    if not own and not files:
        raise MissingDataError("has no Parquet files", where=folder, fix="give the folder of *.parquet")
    return own or files


def read_schema(path: Path) -> pl.Schema:
    """Return the columns of a file."""
    import polars as pl

    with parsing(path, *DAMAGED):
        return pl.Schema(pl.read_parquet_schema(path))


def choose(path: Path, schema: pl.Schema, name: str | None, usual: tuple[str, ...], option: str) -> str:
    """Return the column that the user named, else the first of the usual ones that is there."""
    for candidate in usual if name is None else (name,):
        if candidate in schema:
            return candidate
    what = f"has no column {name!r}" if name else f"has no column {' or '.join(usual[:3])}"
    raise InputError(what, where=path, fix=f"pass --set {option}=…: it has {', '.join(schema)}")


def texts_of(value: Any, image: Any, column: str, path: Path) -> list[str]:
    """Return the captions in a cell."""
    cells = value if isinstance(value, list) else [value]
    texts: list[Any] = [
        cell.get("raw") if isinstance(cell, dict) else cell for cell in cells if cell is not None
    ]
    if not all(isinstance(text, str) for text in texts):
        what = f"image {image} has something else than text in {column!r}"
        raise InputError(what, where=path, fix="pass --set caption_column=… with a column of texts")
    return texts


def recognise(folder: Path) -> bool:
    """Return whether a folder's Parquet files have a column of images and one of captions."""
    files = [*folder.glob("*.parquet"), *folder.glob("*/*.parquet")]
    if not files:
        return False
    try:
        columns = set(read_schema(min(files)))
    except InputError:
        return False
    return "image" in columns and bool(columns & set(CAPTIONS))


register(
    Source(
        "parquet",
        "Parquet files of Hugging Face with a column of captions and one of images",
        load,
        (
            Param("folder", Path, "the folder of the Parquet files"),
            Param("split", str, "the split: how the files begin, or a value of the column split", "test"),
            Param(
                "caption_column",
                str,
                "the column of the captions; by default caption, text, sentences, …",
                None,
            ),
            Param(
                "id_column", str, "the column of the ids of images; by default image_id, filename, …", None
            ),
        ),
        recognise,
    )
)
