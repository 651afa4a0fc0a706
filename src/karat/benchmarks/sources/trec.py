"""TREC qrels, read and written: lines of ``query 0 item relevance``; and lists of ids for what is unjudged.

Qrels of a sampled pool have a fifth column, by which the form of the file is known (`LINES`).
"""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import Param, check_choice, check_once, first_text, plural, read_text, write_file
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.pool_design import DesignKind, PoolDesign
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import (
    Direction,
    in_order,
    item_side,
    letters_of,
    pair_of,
    query_side,
    same_side,
    sides_of,
)
from karat.benchmarks.truth import Truth
from karat.errors import InputError

if TYPE_CHECKING:
    import polars as pl

DEFAULTS = ("R@1", "R@10", "nDCG@10", "AP")
WHOLE = re.compile("[-+]?[0-9]{1,9}")
POOLED = -1
"""The relevance of a pair that was pooled and not judged."""
READINGS = ("pooled", "not_relevant")
MINUS_ONE = Param(
    "minus_one",
    str,
    "what a relevance of -1 is: pooled (and not judged, the default) or not-relevant",
    "pooled",
)
"""The parameter of sources that read qrels."""
DIRECTION = Param(
    "direction",
    str,
    "what asks for what: q2d (queries for documents of any kind), t2i, i2t, it2i (composed queries for "
    "images), t2v, a2t, i2i, …",
    "q2d",
)
"""The parameter of sources that do not know what asks for what."""


class QrelsLine:
    """What the cells of a line of qrels are.

    Parameters
    ----------
    columns
        Their names, separated by spaces; "0" is a cell that says nothing.
    by
        Which of them says how the pair was sampled.

    Examples
    --------
    >>> QrelsLine("query 0 item stratum relevance", by="stratum").read(["301", "0", "doc-a", "2", "1"])
    ('301', 'doc-a', 1, 2.0)
    """

    def __init__(self, columns: str, by: DesignKind | None = None) -> None:
        self.by = by
        self.shown = f"`{columns.replace('inclusion', 'probability')}`"
        names = columns.split()
        self.width = len(names)
        self._empty = "0" in names
        self._whole = [at for at, name in enumerate(names) if name in ("relevance", "stratum", "method")]
        self._cells = [names.index(name) for name in ("query", "item", "relevance", by or "query")]

    def read(self, cells: list[str]) -> tuple[str, str, int, float] | None:
        """Return query, item, relevance and how it was sampled; None where the line has another form."""
        if len(cells) != self.width or not all(WHOLE.fullmatch(cells[at]) for at in self._whole):
            return None
        # With five cells, the second one says whether it is an item.
        if self.width > 4 and self._empty != (cells[1].upper() in ("0", "Q0")):
            return None
        query, item, relevance, value = (cells[at] for at in self._cells)
        if self.by == "inclusion" and not is_probability(value):
            return None
        # So a relevance of −1 tells which of two columns of whole numbers it is.
        if self.by == "stratum" and value.startswith("-"):
            return None
        return query, item, int(relevance), float(value) if self.by else np.nan


def recognise(path: Path) -> bool:
    """Return whether the first lines of a file are lines of qrels; a line that is cut off says nothing."""
    lines = [line.split() for line in first_text(path).splitlines()[:-1] or first_text(path).splitlines()]
    rows = [cells for cells in lines if cells and not cells[0].startswith("#")]
    return bool(rows) and any(all(line.read(cells) for cells in rows) for line in LINES)


def is_probability(text: str) -> bool:
    """Whether a cell is a number above 0 and up to 1.

    >>> [is_probability(text) for text in ("0.5", "1", "0", "2e-3", "x")]
    [True, True, False, True, False]
    """
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False


LINES = (
    QrelsLine("query 0 item relevance"),
    QrelsLine("query 0 item stratum relevance", by="stratum"),
    QrelsLine("query 0 item relevance stratum", by="stratum"),
    QrelsLine("query 0 item relevance inclusion", by="inclusion"),
    QrelsLine("query item relevance method inclusion", by="inclusion"),
)
"""Of qrels: plain; of NIST's sample_eval, and with its last two columns exchanged; of the Legal track's
l07_eval; of the Million Query track. The first one that all lines have is the form of the file."""


def load(
    qrels: Path,
    queries: Path | None = None,
    items: Path | None = None,
    direction: str = "q2d",
    minus_one: str = "pooled",
) -> Benchmark:
    """Build the benchmark of a qrels file.

    `direction` says of which kinds queries and items are: it names them in every table. With the same kind on
    both sides, as i2i, queries and items are one collection, and no item is ranked for itself.

    Lines that are blank or begin with # are skipped, and the file may be compressed by gzip. The gallery is
    `items`, one id per line; without it, the items of the qrels and what else a run lists, which is unjudged.
    Queries of a run that are not in the qrels are ignored, with a note.

    A relevance of 1 or more is relevant, with the grade relevance / highest; 0 is judged not relevant, and so
    are −2 (junk in the TREC Web tracks) and below. −1 is pooled and not judged, as in TREC's sampled pools:
    the pair is unjudged, with the mark *pooled*. Where a collection uses −1 as a grade,
    ``minus_one="not-relevant"`` reads it as judged not relevant. A query is scored when one of its items is
    judged.

    A fifth column says how the pairs of a pool were chosen for judging: ``query 0 item stratum relevance``
    (or ``relevance stratum``, where a relevance of −1 shows that it comes first), ``query 0 item relevance
    probability`` or ``query item relevance method probability``. All lines of a file have the same form.
    """
    rows, sampled = read_sampled(Path(qrels))
    return from_judged(
        rows, qrels, read_ids(queries), read_ids(items), direction, Path(qrels).stem,
        "TREC qrels", minus_one, sampled,
    )  # fmt: skip


Sampled = tuple[DesignKind, list[float]]
"""How the pairs of qrels were sampled: by what, and its value for each line."""


def read_sampled(path: Path) -> tuple[list[tuple[str, str, int]], Sampled | None]:
    """Return (query, item, relevance) of each line, and how the pairs were sampled where the file says so."""
    lines = enumerate(read_text(path).split("\n"), start=1)
    numbered = [(number, cells) for number, line in lines if (cells := line.split())]
    numbered = [(number, cells) for number, cells in numbered if not cells[0].startswith("#")]
    read = {kind: list(takewhile(bool, (kind.read(cells) for _, cells in numbered))) for kind in LINES}
    kind = max(LINES, key=lambda kind: len(read[kind]))
    rows = [row for row in read[kind] if row is not None]
    if len(rows) < len(numbered):
        number, cells = numbered[len(rows)]
        before = f", where the rows before it are {kind.shown}" if rows else ""
        fix = kind.shown if rows else " or ".join(each.shown for each in LINES)
        raise InputError(f"row {number} is {' '.join(cells)[:60]!r}{before}", where=path, fix=f"write {fix}")
    sampled = None if kind.by is None else (kind.by, [row[3] for row in rows])
    return [row[:3] for row in rows], sampled


def read_judged(path: Path, width: int = 4) -> list[tuple[str, str, int]]:
    """Return (query, item, relevance) of lines with `width` cells, the first four as in TREC."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != width or not WHOLE.fullmatch(cells[3]):
            form = "query 0 item relevance" + " task" * (width > 4)
            raise InputError(f"row {number} is {line.strip()[:60]!r}", where=path, fix=f"write `{form}`")
        rows.append((cells[0], cells[2], int(cells[3])))
    return rows


def read_ids(path: Path | None) -> list[str] | None:
    """Return the ids in a file, one per line."""
    if path is None:
        return None
    return [line.strip() for line in read_text(Path(path)).split("\n") if line.strip()]


def from_judged(
    rows: list[tuple[str, str, int]],
    where: Path,
    queries: list[str] | None,
    items: list[str] | None,
    direction: Direction,
    name: str,
    about: str,
    minus_one: str = "pooled",
    sampled: Sampled | None = None,
) -> Benchmark:
    """Build a benchmark from judged (query, item, relevance), and the ids that there are."""
    letters_of(direction)
    reading = check_choice(minus_one, READINGS, MINUS_ONE.name)
    if not rows:
        raise InputError("holds no judgment", where=where, fix="write `query 0 item relevance` lines")
    check_once([row[:2] for row in rows], "pair", lambda at: f"judgment {at + 1}", where)
    asking, listed = [row[0] for row in rows], [row[1] for row in rows]
    if same_side(direction):
        if sampled is not None:
            raise InputError(
                "says how pairs of one collection were sampled for each query", where=where,
                fix="pass --set direction=q2d, where a pair has a direction",
            )  # fmt: skip
        rows = once_each(rows, where)
        asking, listed = [row[0] for row in rows], [row[1] for row in rows]
        queries = items = list(dict.fromkeys([*asking, *listed] if items is None else items))
    asks = Ids(dict.fromkeys(asking) if queries is None else queries, kind="query")
    ranked = Ids(dict.fromkeys(listed) if items is None else items, kind="item")
    query = asks.index(asking, where)
    # A judged item that is not ranked stays among the positives.
    extra = dict.fromkeys(name for name, at in zip(listed, ranked.find(listed)) if at < 0)
    ranked = Ids(ranked.gallery, extra=extra, kind="item")
    item = ranked.index(listed, where)
    relevance = np.array([row[2] for row in rows])
    judged = np.ones(len(rows), bool) if reading == "not_relevant" else relevance != POOLED
    if not judged.any():
        raise InputError(
            f"every relevance is {POOLED}, which is pooled and not judged",
            where=where,
            fix=f"pass --set {MINUS_ONE.name}=not-relevant where {POOLED} is a grade",
        )
    scale = Share(top=max(1, int(relevance.max())), least=1)
    pair = pair_of(direction, query, item)
    judgments = Judgments(
        *(side[judged] for side in pair),
        rating=relevance[judged],
        sources=[Provenance("qrels", "0 not relevant, higher is better", scale)],
        pooled=(pair[0][~judged], pair[1][~judged]),
        design=None if sampled is None else PoolDesign(direction, sampled[0], *pair, sampled[1]),
    )
    kinds = query_side(direction).one, item_side(direction).one
    # Runs may have queries of other topics, and items that nobody judged where the items are not listed.
    asks = Ids(asks.gallery, extra=asks.extra, kind=kinds[0], open=True)
    ranked = Ids(ranked.gallery, extra=ranked.extra, kind=kinds[1], open=items is None)
    images, captions = in_order(direction, asks, ranked)
    truth = Truth("qrels", judgments, {direction: np.unique(query[judged])}, about=about)
    return Benchmark(
        name, images, captions, {"qrels": truth}, defaults={"qrels": DEFAULTS}, about=f"{about} of {where}",
        sides=sides_of(direction),
    )  # fmt: skip


def once_each(rows: list[tuple[str, str, int]], where: Path) -> list[tuple[str, str, int]]:
    """Return the judgments of one collection without those of an item for itself, and each pair once.

    >>> once_each([("a", "b", 1), ("b", "a", 1), ("a", "a", 1)], Path("qrels"))
    [('a', 'b', 1)]
    """
    known: dict[frozenset[str], tuple[str, str, int]] = {}
    for query, item, relevance in rows:
        if query == item:
            continue
        before = known.setdefault(frozenset((query, item)), (query, item, relevance))
        if before[2] != relevance:
            raise InputError(
                f"{query} and {item} have the relevance {relevance}, and {before[2]} the other way round",
                where=where,
                fix="pass --set direction=q2d, where a pair has a direction",
            )
    return [*known.values()]


FINEST = 100
"""Relevance in qrels is a whole number: grades that are not simple fractions are rounded to hundredths."""


def write_qrels(benchmark: Benchmark, truth: Truth, folder: str | Path) -> dict[Direction, Path]:
    """Write qrels-DIRECTION.trec, one for each direction that the truth covers.

    A line is ``query 0 item relevance``, one for each judged pair. Where the pool was sampled for the queries
    of the direction, it is ``query 0 item stratum relevance`` or ``query 0 item relevance probability``.

    Relevance is the grade times the smallest whole number that makes every grade whole, at most 100: with the
    grades 0, 0.5 and 1 it is 0, 1 and 2. A relevant pair never becomes 0. A pair that was pooled and not
    judged is −1, after the judged ones. An id that contains a space cannot be written to such a file and
    raises an error.

    Examples
    --------
    >>> import tempfile
    >>> graded = [Provenance("people", "grade", Share(top=1))]
    >>> judged = Judgments([0, 0], [0, 1], rating=[0.5, 0], sources=graded)
    >>> truth = Truth("new", judged, {"i2t": np.arange(1)})
    >>> made = Benchmark("b", Ids(["dog.jpg"]), Ids([7, 8]), {"new": truth})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_qrels(made, truth, folder)["i2t"].read_text(), end="")
    dog.jpg 0 7 1
    dog.jpg 0 8 0
    """
    tables = {direction: qrels_table(benchmark, truth, direction) for direction in truth.directions}
    written: dict[Direction, Path] = {}
    for direction, table in tables.items():
        written[direction] = Path(folder) / f"qrels-{direction}.trec"
        text = table.write_csv(include_header=False, separator=" ", quote_style="never")
        write_file(written[direction], partial(Path.write_text, data=text, encoding="utf-8", newline="\n"))
    return written


def qrels_table(benchmark: Benchmark, truth: Truth, direction: Direction) -> pl.DataFrame:
    """Return the lines of a qrels file as a table."""
    import polars as pl

    rows = truth.pool(direction)
    # Judged pairs first, as files without pooled pairs have them.
    unjudged = np.isnan(rows.grade)
    order = np.argsort(unjudged, kind="stable")
    query = benchmark.queries(direction)[rows.query_of_row[order]]
    item = benchmark.items(direction)[rows.item[order]]
    for ids in (query, item):
        check_plain(ids)
    relevance = np.where(unjudged, -1, whole_grades(np.where(unjudged, 0.0, rows.grade)))[order]
    columns = {"query": query, "zero": np.zeros_like(relevance), "item": item, "relevance": relevance}
    for by, value in rows.sampled.items():
        if np.isnan(value).any():
            raise InputError(
                f"{plural(int(np.isnan(value).sum()), 'pair')} of truth {truth.name!r} without the {by} by "
                "which its pool was sampled",
                fix="write the sampled judgments alone, as a truth of their own",
            )
        columns[by] = value[order].astype(np.int64) if by == "stratum" else value[order]
    # A stratum comes before the relevance, a probability after it.
    names = sorted(columns, key=["query", "zero", "item", "stratum", "relevance", "inclusion"].index)
    return pl.DataFrame({name: columns[name] for name in names})


def check_plain(ids: np.ndarray) -> None:
    """Raise when an id would break a line of a TREC file."""
    if ids.dtype.kind != "U":
        return
    for name in np.unique(ids).tolist():
        if not name or name.split() != [name]:
            raise InputError(
                f"the id {name!r} is empty or contains a space, which ends a field of a qrels file",
                fix="rename it, or publish without qrels",
            )


def whole_grades(grade: np.ndarray) -> np.ndarray:
    """Return grades as whole numbers; a grade above 0 stays above 0.

    >>> whole_grades(np.array([0.0, 0.5, 1.0])).tolist(), whole_grades(np.array([0.0, 1 / 3])).tolist()
    ([0, 1, 2], [0, 1])
    >>> whole_grades(np.array([0.0, 0.001, 0.777])).tolist()
    [0, 1, 78]
    """
    different = np.unique(grade)
    for scale in range(1, FINEST + 1):
        scaled = different * scale
        if np.allclose(scaled, np.round(scaled), atol=1e-9):
            break
    return np.where(grade > 0, np.maximum(np.round(grade * scale), 1), 0).astype(np.int64)


register(
    Source(
        "trec",
        "TREC qrels of one direction, with lists of all ids",
        load,
        (
            Param(
                "qrels",
                Path,
                "lines of `query 0 item relevance`, with a stratum or a probability where the pool was "
                "sampled; may be gzipped",
            ),
            Param("queries", Path, "all query ids, one per line; by default those of the qrels", None),
            Param(
                "items", Path, "all item ids, one per line; by default those of the qrels and the runs", None
            ),
            DIRECTION,
            MINUS_ONE,
        ),
        recognise,
    )
)
