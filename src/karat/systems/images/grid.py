"""The points of a picture at which words are read: a fixed number of rows and columns, whatever its shape.

The same number of points in every picture makes every histogram a count with the same total. Intersections
are then whole numbers, and a kernel between two pictures is exact. It also leaves no special case: in a
picture of one pixel, all points fall on it.
"""

from __future__ import annotations

import numpy as np


def centres(length: int, points: int) -> np.ndarray:
    """Return the positions of the points along one side: the middles of equal parts, in pixels.

    >>> centres(8, 4)
    array([0.5, 2.5, 4.5, 6.5], dtype=float32)
    """
    return ((np.arange(points) + 0.5) * (length / points) - 0.5).astype(np.float32)


def nearest(length: int, points: int) -> np.ndarray:
    """Return the pixel that each point along one side lies in.

    >>> nearest(8, 4), nearest(1, 4)
    (array([1, 3, 5, 7]), array([0, 0, 0, 0]))
    """
    return ((np.arange(points) + 0.5) * (length / points)).astype(np.intp)
