"""Tables as Hugging Face hosts retrieval data: corpus, queries and qrels, in Parquet or json lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat._util import Param, check_choice, parsing, read_text
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sources.trec import MINUS_ONE, from_judged
from karat.benchmarks.truth import DIRECTIONS, Direction
from karat.errors import InputError, MissingDataError

ID = ("_id", "id")
QRELS = (("query-id", "query_id"), ("corpus-id", "corpus_id"), ("score", "relevance"))
FORMATS = (".parquet", ".jsonl", ".tsv")


def load(folder: Path, split: str = "test", direction: str = "t2i", minus_one: str = "pooled") -> Benchmark:
    """Build the benchmark of a folder with corpus, queries and qrels.

    ``corpus.*`` and ``queries.*`` have a column ``_id`` (or ``id``); ``qrels/SPLIT.*`` or ``qrels.*``
    have query-id, corpus-id and score. By default queries are captions and the corpus is images. Scores are
    read as the relevance of TREC qrels.
    """
    folder = Path(folder)
    side: Direction = check_choice(direction, DIRECTIONS, "direction")  # type: ignore[assignment]
    corpus, queries = (read_column(find(folder, name), ID) for name in ("corpus", "queries"))
    path = find(folder, f"qrels/{split}", "qrels")
    columns = [read_column(path, names) for names in QRELS]
    try:
        rows = [(str(q), str(c), int(float(s))) for q, c, s in zip(*columns)]
    except (ValueError, OverflowError):
        raise InputError("has a score that is not a number", where=path, fix="write whole numbers") from None
    judged = {row[0] for row in rows}
    # Queries of other splits are in the same file.
    split_queries = [query for query in queries if query in judged] or queries
    about = "corpus, queries and qrels"
    return from_judged(rows, path, split_queries, corpus, side, folder.resolve().name, about, minus_one)


def find(folder: Path, *names: str) -> Path:
    """Return the first table of one of these names that is there."""
    for name in names:
        for suffix in FORMATS:
            path = folder / f"{name}{suffix}"
            if path.is_file():
                return path
    fix = f"write {names[-1]}{' or '.join(FORMATS)}"
    raise MissingDataError(f"there is no table {names[0]}", where=folder, fix=fix)


def read_column(path: Path, names: Sequence[str]) -> list[str]:
    """Return a column, under the first of its names that the table has, as text."""
    columns: dict[str, list[Any]] = {".parquet": read_parquet, ".jsonl": read_jsonl, ".tsv": read_tsv}[
        path.suffix
    ](path)
    for name in names:
        if name in columns:
            return [str(value) for value in columns[name]]
    raise InputError(f"has no column {names[0]!r}", where=path, fix=f"it has {', '.join(columns) or 'none'}")


def read_parquet(path: Path) -> dict[str, list[Any]]:
    """Read a Parquet file as columns; images and other binary columns are left unread."""
    import polars as pl

    with parsing(path, "is not Parquet", "write it again"):
        schema = pl.read_parquet_schema(path)
        columns = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.String]
        return pl.read_parquet(path, columns=columns).to_dict(as_series=False)


def read_jsonl(path: Path) -> dict[str, list[Any]]:
    """Read json lines as columns; a column exists where every line has it."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            what = f"row {number} is not a json object"
            raise InputError(what, where=path, fix="write one object per line")
        rows.append(row)
    shared = set(rows[0]).intersection(*rows[1:]) if rows else set()
    return {name: [row[name] for row in rows] for name in shared}


def read_tsv(path: Path) -> dict[str, list[Any]]:
    """Read a table with a first row of names, separated by tabs."""
    lines = [line.removesuffix("\r").split("\t") for line in read_text(path).split("\n") if line.strip()]
    head, *rows = lines or [[]]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise InputError(
                f"row {number} has {len(row)} cells", where=path, fix=f"the first row has {len(head)}"
            )
    return {name: [row[k] for row in rows] for k, name in enumerate(head)}


def recognise(folder: Path) -> bool:
    """Return whether a folder holds a corpus and queries."""
    return all(any((folder / f"{name}{s}").is_file() for s in FORMATS) for name in ("corpus", "queries"))


register(
    Source(
        "beir",
        "a folder with corpus, queries and qrels as Parquet, json lines or tsv",
        load,
        (
            Param("folder", Path, "the folder"),
            Param("split", str, "which qrels", "test"),
            Param("direction", str, "t2i when queries are captions, i2t when they are images", "t2i"),
            MINUS_ONE,
        ),
        recognise,
    )
)
