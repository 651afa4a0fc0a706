"""What `print` shows of an explanation: metrics, counts and confusions of every run."""

from __future__ import annotations

from karat.reports.material import FailureMaterial
from karat.reports.presentation import table
from karat.reports.section import SectionData, section


@section("means", "All failures together", "Tables", order=30, scripted=False, pages=["failures"])
def collect(material: FailureMaterial) -> SectionData:
    """Return every table, the labels of a row in one cell."""
    tables = []
    for layout in material.found.tables():
        head = [" · ".join(layout.head[: layout.labels]), *layout.head[layout.labels :]]
        rows = [[" · ".join(row[: layout.labels]), *row[layout.labels :]] for row in layout.rows]
        tables.append(table(layout.title, head, rows))
    return {"tables": tables}
