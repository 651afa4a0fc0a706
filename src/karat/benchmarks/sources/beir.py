"""Tables as Hugging Face hosts retrieval data: corpus, queries and qrels, in Parquet or json lines.

MIEB's tables are the same with pictures and in shards, ``corpus-00000-of-00001.parquet``, ``query-…`` and
``qrels-…``; their column ``modality`` says of which kind each side is. The pictures are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat._util import Param, check_parquet, parsing, read_json_lines, read_text
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import in_order
from karat.benchmarks.sources.trec import MINUS_ONE, from_judged
from karat.errors import InputError, MissingDataError

ID = ("_id", "id")
QRELS = (("query-id", "query_id"), ("corpus-id", "corpus_id"), ("score", "relevance"))
FORMATS = (".parquet", ".jsonl", ".tsv")
MODALITIES = {"text": "t", "image": "i", "image,text": "it", "text,image": "it", "video": "v", "audio": "a"}
"""The letters of a side, by what the column `modality` says."""
Columns = dict[str, list[Any]]


def load(
    folder: Path, split: str = "test", direction: str | None = None, minus_one: str = "pooled"
) -> Benchmark:
    """Build the benchmark of a folder with corpus, queries and qrels.

    ``corpus.*`` and ``queries.*`` have a column ``_id`` (or ``id``); ``qrels/SPLIT.*`` or ``qrels.*``
    have query-id, corpus-id and score. Where no column ``modality`` says otherwise, a corpus of texts is
    documents, and one without texts is images, which captions ask for. Scores are read as the relevance of
    TREC qrels.
    """
    folder = Path(folder)
    corpus_files, query_files = find(folder, split, "corpus"), find(folder, split, "queries", "query")
    corpus, queries = read_tables(corpus_files), read_tables(query_files)
    side = direction_of(queries, corpus, folder) if direction is None else direction
    items, asks = column(corpus, ID, corpus_files[0]), column(queries, ID, query_files[0])
    qrels = find(folder, split, "qrels")
    path, judged = qrels[0], read_tables(qrels)
    rows = judged_rows([column(judged, names, path) for names in QRELS], path)
    # Queries of other splits are in the same file.
    named = {row[0] for row in rows}
    split_queries = [query for query in asks if query in named] or asks
    about = "corpus, queries and qrels"
    bench = from_judged(rows, path, split_queries, items, side, folder.resolve().name, about, minus_one)
    texts, ids = in_order(side, (queries, asks), (corpus, items))[1]
    if "text" not in texts:
        return bench
    text_of = dict(zip(ids, texts["text"]))
    return replace(bench, texts=[str(text_of[name] or "") for name in bench.captions.gallery.tolist()])


def direction_of(queries: Columns, corpus: Columns, folder: Path) -> str:
    """Return the direction that the modalities of queries and corpus mean; that of documents without any."""
    if "modality" not in queries or "modality" not in corpus:
        return "q2d" if any(corpus.get("text", ())) else "t2i"
    asked, ranked = (" and ".join(sorted(set(map(str, table["modality"])))) for table in (queries, corpus))
    if asked not in MODALITIES or ranked not in MODALITIES:
        what = f"has queries of {asked or 'nothing'} and a corpus of {ranked or 'nothing'}"
        fix = f"write {' or '.join(MODALITIES)}, or pass --set direction=…"
        raise InputError(what, where=folder, fix=fix)
    # The corpus does not hold the queries, so that a direction from a side to itself is another thing.
    asks = "q" if asked == ranked else MODALITIES[asked]
    return f"{asks}2{MODALITIES[ranked]}"


def find(folder: Path, split: str, *names: str) -> list[Path]:
    """Return the table of one of these names: a file, or shards, of the split or of everything."""
    files = next((files for name in names if (files := tables(folder, name, split))), None)
    if files is None:
        fix = f"write {names[0]}{' or '.join(FORMATS)}"
        name = f"{names[0]}/{split}" if names[0] == "qrels" else names[0]
        raise MissingDataError(f"there is no table {name}", where=folder, fix=fix)
    return files


def tables(folder: Path, name: str, split: str) -> list[Path]:
    """Return the files of one table, none where there is no such table."""
    for base in (f"{name}/{split}", name):
        for suffix in FORMATS:
            if (folder / f"{base}{suffix}").is_file():
                return [folder / f"{base}{suffix}"]
        shards = sorted(folder.glob(f"{base}-*.parquet"))
        # The qrels of other splits lie beside those of this one.
        if not shards and base != "qrels":
            shards = sorted(folder.glob(f"{base}/*.parquet"))
        if shards:
            return shards
    return []


def read_tables(paths: Sequence[Path]) -> Columns:
    """Return the columns that all these files have, one file after another."""
    readers = {".parquet": read_parquet, ".jsonl": read_jsonl, ".tsv": read_tsv}
    parts = [readers[path.suffix](path) for path in paths]
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    return {name: [value for part in parts for value in part[name]] for name in shared}


def column(columns: Columns, names: Sequence[str], path: Path) -> list[str]:
    """Return a column, under the first of its names that the table has, as text."""
    for name in names:
        if name in columns:
            return [str(value) for value in columns[name]]
    raise InputError(f"has no column {names[0]!r}", where=path, fix=f"it has {', '.join(columns) or 'none'}")


def judged_rows(columns: Sequence[list[str]], path: Path) -> list[tuple[str, str, int]]:
    """Return query, item and relevance of each row, from three columns."""
    try:
        return [(query, item, int(float(score))) for query, item, score in zip(*columns)]
    except (ValueError, OverflowError):
        raise InputError("has a score that is not a number", where=path, fix="write whole numbers") from None


def read_parquet(path: Path) -> Columns:
    """Read a Parquet file as columns; images and other binary columns are left unread."""
    import polars as pl

    with parsing(path, "is not Parquet", "write it again"):
        check_parquet(path)
        schema = pl.read_parquet_schema(path)
        columns = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.String]
        return pl.read_parquet(path, columns=columns).to_dict(as_series=False)


def read_jsonl(path: Path) -> Columns:
    """Read json lines as columns; a column exists where every line has it."""
    rows = [record.fields for record in read_json_lines(path)]
    shared = set(rows[0]).intersection(*rows[1:]) if rows else set()
    return {name: [row[name] for row in rows] for name in shared}


def read_tsv(path: Path) -> Columns:
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
    return bool(tables(folder, "corpus", "test")) and any(
        tables(folder, name, "test") for name in ("queries", "query")
    )


register(
    Source(
        "beir",
        "a folder with corpus, queries and qrels (BEIR, MIEB) as Parquet, json lines or tsv",
        load,
        (
            Param("folder", Path, "the folder"),
            Param("split", str, "which qrels", "test"),
            Param(
                "direction",
                str,
                "what asks for what, such as t2i, i2t, q2d; by default as the column modality says",
                None,
            ),
            MINUS_ONE,
        ),
        recognise,
    )
)
