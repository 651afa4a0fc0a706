"""Image kernels: histogram intersection, over whole pictures or over the cells of a pyramid."""

from __future__ import annotations

import numpy as np

from karat._util import check_table
from karat._util import threads as on_threads
from karat.baselines.images.pyramid import cells, level_weights
from karat.errors import InputError

MOST_COUNT = np.iinfo(np.uint16).max
"""The largest count that 16 bits hold."""
TILE = 64
COLUMNS = 2240
"""A tile's rows over this many columns stay in a processor's second cache."""

Blocks = list[tuple[int, int, float]]
"""First column, last column (exclusive) and weight."""


def intersection_kernel(
    x: np.ndarray, y: np.ndarray | None = None, *, threads: int | None = None
) -> np.ndarray:
    """Return the intersections of all pairs of rows, Σ_v min(x_i(v), y_j(v)): Hodosh et al. (2013), eq. 5.

    Parameters
    ----------
    x, y
        Histograms, one per row, without negative entries; y = x if it is not given. They are taken as they
        are: divide rows by their sums for the equation's fractions.
    threads
        How many threads; all processors by default.

    Examples
    --------
    >>> intersection_kernel(np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    x, y = check_histograms(x, y)
    return blocks_kernel(x, y, [(0, x.shape[1], 1.0)], 1.0, 1.0, threads)


def histogram_kernel(
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    levels: int = 3,
    power: float = 1.0,
    threads: int | None = None,
) -> np.ndarray:
    """Return K^HISTO of all pairs of pictures: Hodosh et al. (2013), eq. 5 and 6.

    The mean over colour, texture and SIFT words of the intersections of whole pictures' histograms, to the
    power p. Only the first cell of the pyramids is read.

    Parameters
    ----------
    x, y
        What `ImageFeatures.transform` returns; y = x if it is not given.
    levels
        The levels of these pyramids.
    power
        p > 0. The kernel is positive semidefinite if p is a whole number.
    threads
        How many threads; all processors by default.

    Returns
    -------
    numpy.ndarray
        float64 [rows of x, rows of y], between 0 and 1; 1 for equal histograms. A picture without any
        words (a row of zeros) has 0 with every picture, itself included.

    Examples
    --------
    >>> pyramids = np.array([[3, 1, 1, 0, 1, 0, 1, 0, 0, 1], [4, 0, 1, 0, 1, 0, 1, 0, 1, 0]])
    >>> histogram_kernel(pyramids, levels=2, power=2)
    array([[1.    , 0.5625],
           [0.5625, 1.    ]])
    """
    x, y = check_histograms(x, y)
    total, words = check_pyramids(x, y, levels)
    return blocks_kernel(x, y, [(0, words, 1.0)], total, check_power(power), threads)


def pyramid_kernel(
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    levels: int = 3,
    power: float = 1.0,
    threads: int | None = None,
) -> np.ndarray:
    """Return K^PY of all pairs of pictures: Hodosh et al. (2013), eq. 6 to 8.

    The intersections of corresponding cells are summed by level and the levels weighted: ¼, ¼ and ½ for
    levels 0, 1 and 2. Cells count parts of the whole picture, so that a picture has 1 with itself. Only so
    does a coarser level subsume a finer one, as eq. 8 needs.

    Parameters
    ----------
    x, y, levels, power, threads
        As for `histogram_kernel`.

    Returns
    -------
    numpy.ndarray
        As for `histogram_kernel`.

    Examples
    --------
    >>> pyramids = np.array([[3, 1, 1, 0, 1, 0, 1, 0, 0, 1], [3, 1, 1, 0, 1, 0, 0, 1, 1, 0]])
    >>> pyramid_kernel(pyramids, levels=2)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """
    x, y = check_histograms(x, y)
    total, words = check_pyramids(x, y, levels)
    blocks: Blocks = []
    for level, weight in enumerate(level_weights(levels)):
        blocks.append((words * cells(level), words * cells(level + 1), float(weight)))
    return blocks_kernel(x, y, blocks, total, check_power(power), threads)


def blocks_kernel(
    x: np.ndarray, y: np.ndarray | None, blocks: Blocks, total: float, power: float, number: int | None
) -> np.ndarray:
    """Return (Σ weight · intersection over a block of columns / total) ^ power for all pairs of rows."""
    from karat.baselines.images import image_kernels

    # Sums of 16-bit counts are added up in 16 bits, block by block.
    narrow = x.dtype == np.uint16 and all(most_in(t, blocks) <= MOST_COUNT for t in (x, y) if t is not None)
    add = image_kernels.add_count_tile if narrow else image_kernels.add_real_tile
    if not narrow and x.dtype.kind != "f":
        x, y = x.astype(np.float64), None if y is None else y.astype(np.float64)
    second = x if y is None else y
    strips = [(a, min(a + COLUMNS, high), w) for low, high, w in blocks for a in range(low, high, COLUMNS)]
    rows, columns = (range(0, len(t), TILE) for t in (x, second))
    # Without y, tiles below the diagonal mirror those above it.
    tiles = [(i, j) for i in rows for j in columns if y is not None or i <= j]
    out = np.zeros((len(x), len(second)))

    def part(begin: int, end: int) -> None:
        for i, j in tiles[begin:end]:
            last, final = min(i + TILE, len(x)), min(j + TILE, len(second))
            for low, high, weight in strips:
                add(x, second, i, last, j, final, low, high, weight, out)
            tile = out[i:last, j:final]
            if total != 1:
                tile /= total
            if power != 1:
                tile **= power
            if y is None and i < j:
                out[j:final, i:last] = tile.T

    with on_threads(number) as loop:
        loop(part, 0, len(tiles))
    return out


def most_in(table: np.ndarray, blocks: Blocks) -> int:
    """Return the largest sum of a row over a block."""
    return max(int(table[:, low:high].sum(axis=1, dtype=np.int64).max()) for low, high, _ in blocks)


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
    if whole and all(t.max() <= MOST_COUNT for t in tables):
        kind: type = np.uint16
    else:
        kind = np.float32 if all(t.dtype == np.float32 for t in tables) else np.float64
    converted: list[np.ndarray] = [np.ascontiguousarray(t, dtype=kind) for t in tables]
    return converted[0], None if y is None else converted[1]


def check_pyramids(x: np.ndarray, y: np.ndarray | None, levels: int) -> tuple[float, int]:
    """Return the total that all pyramids share, and the number of words; or raise."""
    if levels < 1:
        raise InputError(f"levels is {levels}", fix="give 1 or more")
    words, rest = divmod(x.shape[1], cells(levels))
    if rest:
        raise InputError(
            f"{x.shape[1]:,} columns are not a pyramid of {levels} levels",
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
