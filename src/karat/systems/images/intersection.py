"""Image kernels: histogram intersection, over whole pictures or over the cells of a pyramid."""

from __future__ import annotations

import numpy as np

from karat.runs.threads import threads as on_threads
from karat.systems.images.histogram_checks import MOST, check_histograms, check_power, check_pyramids
from karat.systems.images.pyramid import cells, level_weights

TILE = 64
COLUMNS = 2240
"""A tile's rows over so many columns stay in a processor's second cache."""

Blocks = list[tuple[int, int, float]]
"""First column, last column (exclusive) and weight."""


def intersection_kernel(
    x: np.ndarray, y: np.ndarray | None = None, *, threads: int | None = None
) -> np.ndarray:
    """Return the intersections of all pairs of rows, Σ_v min(x_i(v), y_j(v)): Hodosh et al. (2013), eq. 5.

    Parameters
    ----------
    x, y
        Histograms, one a row, without negative entries; y = x if it is not given. They are taken as they are:
        divide rows by their sums for the equation's fractions.
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
    from karat.systems.images import image_kernels

    # Sums of 16-bit counts are added up in 16 bits, block by block.
    narrow = x.dtype == np.uint16 and all(most_in(t, blocks) <= MOST for t in (x, y) if t is not None)
    add = image_kernels.add_count_tile if narrow else image_kernels.add_real_tile
    if not narrow and x.dtype.kind != "f":
        x, y = x.astype(np.float64), None if y is None else y.astype(np.float64)
    other = x if y is None else y
    pieces = [(a, min(a + COLUMNS, high), w) for low, high, w in blocks for a in range(low, high, COLUMNS)]
    rows, columns = (range(0, len(t), TILE) for t in (x, other))
    # Without y, tiles below the diagonal mirror those above it.
    tiles = [(i, j) for i in rows for j in columns if y is not None or i <= j]
    out = np.zeros((len(x), len(other)))

    def part(begin: int, end: int) -> None:
        for i, j in tiles[begin:end]:
            last, final = min(i + TILE, len(x)), min(j + TILE, len(other))
            for low, high, weight in pieces:
                add(x, other, i, last, j, final, low, high, weight, out)
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
