"""Checks of the histograms that image kernels compare."""

from __future__ import annotations

import numpy as np

from karat.systems.images.pyramid import cells
from karat.validation import InputError, check_table

MOST = np.iinfo(np.uint16).max


def check_histograms(x: np.ndarray, y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return two tables of one type, in rows: uint16 where they hold such counts, else real numbers."""
    tables = [check_table(t, "histograms") for t in (x, y) if t is not None]
    if tables[0].shape[1] != tables[-1].shape[1]:
        raise InputError(
            f"histograms have {tables[0].shape[1]:,} and {tables[-1].shape[1]:,} columns",
            fix="make both with the same vocabularies",
        )
    for table in tables:
        # NaN fails this comparison too.
        if not (table.min() >= 0 and table.max() < np.inf):
            raise InputError("histograms hold a negative, infinite or missing number", fix="give counts")
    whole = all(t.dtype.kind in "iu" for t in tables)
    if whole and all(t.max() <= MOST for t in tables):
        kind: type = np.uint16
    else:
        kind = np.float32 if all(t.dtype == np.float32 for t in tables) else np.float64
    done: list[np.ndarray] = [np.ascontiguousarray(t, dtype=kind) for t in tables]
    return done[0], None if y is None else done[1]


def check_pyramids(x: np.ndarray, y: np.ndarray | None, levels: int) -> tuple[float, int]:
    """Return the total that all pyramids share, and the number of words; or raise."""
    if levels < 1:
        raise InputError(f"levels is {levels}", fix="give 1 or more")
    words, rest = divmod(x.shape[1], cells(levels))
    if rest:
        raise InputError(
            f"{x.shape[1]:,} columns are no pyramid of {levels} levels",
            fix=f"give a multiple of {cells(levels)}",
        )
    kind = np.int64 if x.dtype == np.uint16 else np.float64
    sums = np.concatenate(
        [
            t[:, words * cells(level) : words * cells(level + 1)].sum(axis=1, dtype=kind)[:, None]
            for t in (x, y)
            if t is not None
            for level in range(levels)
        ]
    )
    total = float(sums.max())
    # Rows of zeros are pictures that could not be read.
    if not np.all((sums == 0) | np.isclose(sums, total, rtol=1e-5, atol=0)):
        raise InputError(
            f"a level of a pyramid counts {sums[sums > 0].min():,} points and another {total:,}",
            fix="give what ImageFeatures.transform returns, and its levels",
        )
    return total or 1.0, words


def check_power(power: float) -> float:
    """Return p if it is above 0."""
    if not 0 < power < np.inf:
        raise InputError(f"power is {power}", fix="give a number above 0")
    return float(power)
