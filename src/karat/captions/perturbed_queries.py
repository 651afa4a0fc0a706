"""Perturbed queries: captions with every change of a word, and their file, which any model can encode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from karat._util import ID, TEXT, Record, check_once, read_table, write_file, write_text
from karat.benchmarks import Benchmark
from karat.errors import InputError

REPAIR = "repair"
"""The kind of changes that only keep the grammar: *a* to *an*, *is* to *are*."""
COLUMNS = ("caption", "old", "new", "changes")
FIX = "write it with karat perturb"
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r"\\(.)")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


@dataclass(frozen=True)
class WordChange:
    """One change in the text of a caption.

    Parameters
    ----------
    word
        The word that was changed, in lower case.
    position
        Where it begins in the old text, in characters.
    kind
        The perturbation, or "repair" for what only keeps the grammar.
    old, new
        What was there and what replaces it, as written.
    """

    word: str
    position: int
    kind: str
    old: str
    new: str


@dataclass(frozen=True)
class PerturbedQuery:
    """A caption before and after.

    Parameters
    ----------
    caption
        Its id.
    old, new
        The text before and after.
    changes
        In the order of the old text; empty where nothing was changed.
    """

    caption: str
    old: str
    new: str
    changes: tuple[WordChange, ...]


def apply_changes(text: str, changes: Iterable[WordChange]) -> str:
    """Return a text with changes applied; raise ValueError where one does not fit it.

    >>> apply_changes("a red bus", [WordChange("red", 2, "colour", "red", "blue")])
    'a blue bus'
    """
    parts, end = [], 0
    for change in changes:
        if change.position < end or not text.startswith(change.old, change.position):
            raise ValueError(f"{change.old!r} is not at {change.position}")
        parts += [text[end : change.position], change.new]
        end = change.position + len(change.old)
    return "".join([*parts, text[end:]])


def write_queries(queries: Iterable[PerturbedQuery], path: str | Path) -> None:
    """Write queries as tab-separated text: caption id, old text, new text, changes as json.

    A tab, a line break or a backslash in a text is written as ``\\t``, ``\\n``, ``\\r`` or ``\\\\``.
    """
    rows = ["\t".join(COLUMNS)]
    for query in queries:
        changes = json.dumps([asdict(change) for change in query.changes], ensure_ascii=False)
        # Json escapes tabs and line breaks itself.
        rows.append("\t".join([*map(_escaped, (query.caption, query.old, query.new)), changes]))
    write_file(Path(path), lambda draft: write_text(draft, "\n".join(rows) + "\n"))


def read_queries(path: str | Path, benchmark: Benchmark | None = None) -> tuple[PerturbedQuery, ...]:
    """Return the queries of a file that `karat perturb` wrote; each must be its old text with its changes.

    Parameters
    ----------
    path
        Tab-separated, with the columns caption, old, new and changes.
    benchmark
        If given, every caption must be one of it, with the same old text.

    Raises
    ------
    InputError
        Names the row and what does not fit.

    Examples
    --------
    >>> import tempfile
    >>> change = WordChange("red", 2, "colour", "red", "blue")
    >>> query = PerturbedQuery("7", "a red bus", "a blue bus", (change,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_queries([query], f"{folder}/queries.tsv")
    ...     read_queries(f"{folder}/queries.tsv") == (query,)
    True
    """
    path = Path(path)
    columns = read_table(path, COLUMNS)
    queries = tuple(_query(path, row, *cells) for row, cells in enumerate(zip(*columns), start=2))
    check_once((query.caption for query in queries), "caption", lambda at: f"row {at + 2}", path)
    if benchmark is not None:
        check_queries(queries, benchmark, path)
    return queries


def _escaped(text: str) -> str:
    return re.sub(r"[\\\t\n\r]", lambda match: _ESCAPES[match[0]], text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _LETTERS.get(match[1], match[0]), text)


def _query(path: Path, row: int, caption: str, old: str, new: str, changes: str) -> PerturbedQuery:
    try:
        entries = json.loads(changes)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        raise InputError(f"row {row}: its changes are not a json list", where=path, fix=FIX)
    kinds = {field.name: ID if field.name == "position" else TEXT for field in fields(WordChange)}
    listed = []
    for number, entry in enumerate(entries):
        record = Record(entry, f"row {row}: changes[{number}]", path)
        change = WordChange(**{name: record.get(name, kind) for name, kind in kinds.items()})
        if not isinstance(change.position, int) or change.position < 0:
            raise record.wrong(f"has the 'position' {change.position!r}", "give a whole number, 0 or more")
        listed.append(change)
    query = PerturbedQuery(_unescaped(caption), _unescaped(old), _unescaped(new), tuple(listed))
    try:
        fits = apply_changes(query.old, query.changes) == query.new
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            f"row {row}: the new text of caption {query.caption} is not its old text with its changes",
            where=path,
            fix=FIX,
        )
    return query


def check_queries(queries: Sequence[PerturbedQuery], benchmark: Benchmark, path: Path | None = None) -> None:
    """Raise where a query is not made from a caption of the benchmark."""
    own = {str(name): text for name, text in zip(benchmark.captions.gallery.tolist(), benchmark.needed_texts)}
    for row, query in enumerate(queries, start=2):
        if query.caption not in own:
            what = f"{benchmark.name} has no caption {query.caption}"
        elif own[query.caption] != query.old:
            what = f"caption {query.caption} of {benchmark.name} has another text"
        else:
            continue
        what = what if path is None else f"row {row}: {what}"
        raise InputError(what, where=path, fix="give the benchmark that the queries were made from")
