"""Curves against effort: what the plots of a simulated vetting share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from karat._util import MISSING
from karat.estimation import Curve, Simulated, spread_of
from karat.reports.presentation import Cell, cell, table

VIEW_AXES = ("Direction", "Measure")


def key_of(result: Simulated) -> list[str]:
    """Return what a view of a result is chosen by."""
    return [result.way, str(result.measure)]


def plain(values: np.ndarray, digits: int = 3) -> list[float | None]:
    """Return numbers for scripts: rounded, None where there is none."""
    return [None if np.isnan(value) else round(float(value), digits) for value in values]


def labels_at(result: Simulated, curve: Curve) -> list[int]:
    """Return how many pairs were vetted after each batch."""
    return [round(float(effort) * result.looked_at) for effort in curve.effort]


def line(result: Simulated, curve: Curve, values: np.ndarray, scale: float = 1.0) -> dict[str, Any]:
    """Return a method's mean over repetitions with its band; `values` are [times, batches]."""
    mean, low, high = (scale * part for part in spread_of(values))
    return {
        "name": curve.method,
        "effort": plain(100 * curve.effort, 2),
        "labels": labels_at(result, curve),
        "values": plain(mean),
        "low": plain(low),
        "high": plain(high),
    }


def lines_and_table(
    result: Simulated, caption: str, of: Callable[[Curve], np.ndarray], scale: float = 1.0
) -> dict[str, Any]:
    """Return the lines of all methods, and the same as a table with a row per effort."""
    lines = [line(result, curve, of(curve), scale) for curve in result.curves]
    return {"lines": lines, "table": line_table(caption, lines, result.unit)}


def line_table(caption: str, lines: Sequence[dict[str, Any]], vetted: str) -> dict[str, Any]:
    """Return lines as a table: a row per effort that any of them has."""
    efforts = sorted({(e, n) for one in lines for e, n in zip(one["effort"], one["labels"])})
    rows: list[list[Cell]] = []
    for effort, labels in efforts:
        row: list[Cell] = [cell(f"{effort:.0f}%", f"{labels:,} {vetted}s")]
        for one in lines:
            at = one["effort"].index(effort) if effort in one["effort"] else None
            value = None if at is None else one["values"][at]
            if at is None or value is None:
                row.append(MISSING)
            else:
                row.append(cell(f"{value:.2f}", f"± {one['high'][at] - value:.2f}"))
        rows.append(row)
    return table(caption, ["Pairs vetted", *(one["name"] for one in lines)], rows)
