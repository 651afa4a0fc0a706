"""Lists for people to look through: invalid items, removed and suspected, as rows and as csv."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from karat.judging.publishing.conflicts import caption_texts, inert
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.provenance import id_of

COLUMNS = ("kind", "id", "status", "why", "text")


def invalid_rows(evidence: Evidence, facts: Facts) -> list[dict[str, str]]:
    """Return what was removed, then what may be invalid, the most suspicious first."""
    removed = [
        (kind, index, "removed", str(why))
        for kind, items in sorted(evidence.marked.items())
        for index, why in sorted(items.items())
    ]
    rows = [*removed, *((one.kind, one.index, "candidate", one.why) for one in facts.candidates)]
    out = []
    for kind, index, status, why in rows:
        text = caption_texts(evidence.benchmark, [index])[0] if kind == "caption" else ""
        out.append(dict(zip(COLUMNS, (kind, str(id_of(evidence.benchmark, kind, index)), status, why, text))))
    return out


def write_invalid(rows: Iterable[Mapping[str, str]], path: Path) -> None:
    """Write the rows as csv."""
    import polars as pl

    cells = [
        {name: inert(row[name]) if name in ("why", "text") else row[name] for name in COLUMNS} for row in rows
    ]
    pl.DataFrame(cells, schema=dict.fromkeys(COLUMNS, pl.String)).write_csv(path)
