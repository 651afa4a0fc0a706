"""What the simulations of Active testing share: curves as records, and as tables for reading."""

from collections.abc import Iterable, Sequence

import numpy as np
from _paper import Records, record

from karat.estimation import Curve, Simulated
from karat.estimation.curves import deviation
from karat.estimation.query_means import mean_defined

EFFORTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
"""The shares of vetted pairs that have records; the tables that are printed have every batch."""

SPREAD = "standard deviation over repetitions"


def at(curve: Curve, effort: float) -> int:
    """Return the first batch after which this share was vetted."""
    return min(int(np.searchsorted(curve.effort, effort - 1e-9)), len(curve.effort) - 1)


def percent(effort: float) -> str:
    """Return a share as text.

    >>> percent(0.05)
    '5%'
    """
    return f"{100 * effort:g}%"


def points(values: np.ndarray, scale: float = 100) -> tuple[float | None, float | None]:
    """Return mean and standard deviation over repetitions, in points; None where nothing is defined."""
    if np.isnan(values).all():
        return None, None
    return float(scale * mean_defined(values)), float(scale * deviation(values))


def curve_records(
    table: str,
    what: str,
    curves: Iterable[tuple[Curve, np.ndarray]],
    efforts: Sequence[float] = EFFORTS,
    note: str = "",
    scale: float = 100,
) -> Records:
    """Return mean and standard deviation of values [times, B] at some efforts, one row per curve."""
    out = []
    for curve, values in curves:
        for effort in efforts:
            if effort > curve.effort[-1] + 1e-9:
                continue
            mean, apart = points(values[:, at(curve, effort)], scale)
            missing = "" if mean is not None else "no list is vetted in full yet"
            column = f"{what} at {percent(effort)}"
            out.append(record(table, curve.method, column, None, mean, missing or note))
            out.append(record(table, curve.method, f"{column}, ±", None, apart, missing or SPREAD))
    return out


def print_curves(
    title: str, curves: Sequence[tuple[Curve, np.ndarray]], scale: float = 100, heads: Iterable[str] = ()
) -> None:
    """Print values [times, B] at every batch: mean ± standard deviation over repetitions."""
    rows = [["vetted", *(heads or (curve.method for curve, _ in curves))]]
    for number, effort in enumerate(curves[0][0].effort):
        cells = [percent(round(float(effort), 3))]
        for curve, values in curves:
            mean, apart = points(values[:, number], scale) if number < len(curve.effort) else (None, None)
            cells.append("–" if mean is None else f"{mean:.2f} ± {apart:.2f}")
        rows.append(cells)
    print(f"\n{title}")
    print_rows(rows)


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)), flush=True)


def score_error(result: Simulated, curve: Curve) -> np.ndarray:
    """Return the absolute error of the score [times, B], averaged over runs."""
    return mean_defined(np.abs(curve.estimate - result.truth))


def paired(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Return the mean difference of two methods over the same repetitions, and its 95% t interval, in points.

    The test set is the same in all repetitions: the interval is about the luck of vetting alone.
    """
    from scipy.stats import t

    apart = 100 * (first - second)
    half = (
        t.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
    )
    return float(apart.mean()), float(apart.mean() - half), float(apart.mean() + half)
