"""TREC qrels: lines of ``query 0 item relevance``; and lists of ids for what is unjudged."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from karat._util import Param, check_choice, check_once, read_text
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.registry import Source, register
from karat.benchmarks.truth import DIRECTIONS, Direction, Truth
from karat.errors import InputError

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


def load(
    qrels: Path,
    queries: Path | None = None,
    items: Path | None = None,
    direction: str = "i2t",
    minus_one: str = "pooled",
) -> Benchmark:
    """Build the benchmark of a qrels file.

    Lines that are blank or begin with # are skipped, and the file may be compressed by gzip. The gallery is
    `items`, one id per line; without it, the items of the qrels and what else a run lists, which is unjudged.
    Queries of a run that are not in the qrels are ignored, with a note.

    A relevance of 1 or more is relevant, with the grade relevance / highest; 0 is judged not relevant, and so
    are −2 (junk in the TREC Web tracks) and below. −1 is pooled and not judged, as in TREC's sampled pools:
    the pair is unjudged, with the mark *pooled*. Where a collection uses −1 as a grade,
    ``minus_one="not-relevant"`` reads it as judged not relevant. A query is scored when one of its items is
    judged.
    """
    side: Direction = check_choice(direction, DIRECTIONS, "direction")  # type: ignore[assignment]
    return from_judged(
        read_judged(Path(qrels)), qrels, read_ids(queries), read_ids(items), side, Path(qrels).stem,
        "TREC qrels", minus_one,
    )  # fmt: skip


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
) -> Benchmark:
    """Build a benchmark from judged (query, item, relevance), and the ids that there are."""
    reading = check_choice(minus_one, READINGS, MINUS_ONE.name)
    if not rows:
        raise InputError("holds no judgment", where=where, fix="write `query 0 item relevance` lines")
    check_once([row[:2] for row in rows], "pair", lambda at: f"judgment {at + 1}", where)
    asks = Ids(dict.fromkeys(row[0] for row in rows) if queries is None else queries, kind="query")
    ranked = Ids(dict.fromkeys(row[1] for row in rows) if items is None else items, kind="item")
    query = asks.index([row[0] for row in rows], where)
    # A judged item that is not ranked stays among the positives.
    known = ranked.find([row[1] for row in rows])
    extra = dict.fromkeys(row[1] for row, at in zip(rows, known) if at < 0)
    ranked = Ids(ranked.gallery, extra=extra, kind="item")
    item = ranked.index([row[1] for row in rows], where)
    relevance = np.array([row[2] for row in rows])
    judged = np.ones(len(rows), bool) if reading == "not_relevant" else relevance != POOLED
    if not judged.any():
        raise InputError(
            f"every relevance is {POOLED}, which is pooled and not judged",
            where=where,
            fix=f"pass --set {MINUS_ONE.name}=not-relevant where {POOLED} is a grade",
        )
    source = Provenance(
        "qrels", "0 not relevant, higher is better", Share(top=max(1, int(relevance.max())), least=1)
    )
    sides = {"i2t": (query, item), "t2i": (item, query)}[direction]
    judgments = Judgments(
        *(side[judged] for side in sides),
        rating=relevance[judged],
        sources=[source],
        pooled=(sides[0][~judged], sides[1][~judged]),
    )
    images, captions = (asks, ranked) if direction == "i2t" else (ranked, asks)
    # Runs may have queries of other topics, and items that nobody judged where the items are not listed.
    images, captions = (
        Ids(side.gallery, extra=side.extra, kind=kind, open=side is asks or items is None)
        for side, kind in ((images, "image"), (captions, "caption"))
    )
    truth = Truth("qrels", judgments, {direction: np.unique(query[judged])}, about=about)
    return Benchmark(
        name, images, captions, {"qrels": truth}, defaults={"qrels": DEFAULTS}, about=f"{about} of {where}"
    )


register(
    Source(
        "trec",
        "TREC qrels of one direction, with lists of all ids",
        load,
        (
            Param("qrels", Path, "lines of `query 0 item relevance`; may be gzipped"),
            Param("queries", Path, "all query ids, one per line; by default those of the qrels", None),
            Param(
                "items", Path, "all item ids, one per line; by default those of the qrels and the runs", None
            ),
            Param("direction", str, "what asks: i2t for images, t2i for captions", "i2t"),
            MINUS_ONE,
        ),
    )
)
