"""Shapes as polygons of whole numbers, their tones, and filling them: the same pixels on every machine.

Drawing libraries change which pixels an edge covers from version to version. Here curves are corner-cut
polygons and rational circles, and filling is integer arithmetic, so that a picture's bytes depend on nothing
but the numbers in the drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

TONES = ("hole", "main", "shade", "light", "ink", "white", "glass")
"""The tones of shapes: nothing, the object's colour, darker, lighter, black, white, and window glass."""
HOLE = TONES.index("hole")
STEP = 17
"""Colours have sixteen steps of each channel, all multiples of this: edges stay smooth, a png file's palette
of 256 colours suffices, and the file is written faster."""
UNIT = 64
"""Coordinates are multiples of 1/64 of a drawing's unit."""
FINE = 4
"""Samples per pixel of a large object and of a backdrop, each way; twice as many for a small object."""
Point = tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """Some polygons that are painted in one tone.

    Parameters
    ----------
    tone
        What they are painted with.
    polygons
        Corners in 64ths of the drawing's unit.
    """

    tone: int
    polygons: tuple[tuple[Point, ...], ...]


def rgb(text: str) -> tuple[int, int, int]:
    """Return the channels of "#rgb", sixteen steps each.

    >>> rgb("#f81")
    (255, 136, 17)
    """
    red, green, blue = (STEP * int(digit, 16) for digit in text[1:])
    return red, green, blue


def points(text: str) -> list[Point]:
    """Return corners given as "10,20 30,40.5", in 64ths.

    >>> points("1,2 -3,0.5")
    [(64, 128), (-192, 32)]
    """
    return [
        (int(UNIT * float(x)), int(UNIT * float(y))) for x, y in (pair.split(",") for pair in text.split())
    ]


def shape_of(row: str) -> Shape:
    """Return a shape given as a row of `drawings.txt`: its form, its tone, a width or roundness, its corners.

    >>> shape_of("poly shade 1,2 -3,0 4,4")
    Shape(tone=2, polygons=(((64, 128), (-192, 0), (256, 256)),))
    """
    form, name, rest = row.split(maxsplit=2)
    tone = TONES.index(name)
    if form == "poly":
        return poly(tone, rest)
    if form == "oval":
        (x, y), (rx, ry) = points(rest)
        return Shape(tone, (circle(x, y, rx, ry),))
    number, corners = rest.split(maxsplit=1)
    if form == "blob":
        return blob(tone, corners, int(number))
    return {"line": line, "curve": curve}[form](tone, float(number), corners)


def poly(tone: int, text: str) -> Shape:
    """Return a polygon with corners."""
    return Shape(tone, (tuple(points(text)),))


def blob(tone: int, text: str, rounds: int = 3) -> Shape:
    """Return a rounded polygon: each round cuts its corners off at a quarter (Chaikin 1974)."""
    corners = points(text)
    for _ in range(rounds):
        following = corners[1:] + corners[:1]
        corners = [
            cut
            for (x, y), (u, v) in zip(corners, following)
            for cut in (((3 * x + u) // 4, (3 * y + v) // 4), ((x + 3 * u) // 4, (y + 3 * v) // 4))
        ]
    return Shape(tone, (tuple(corners),))


def oval(tone: int, x: float, y: float, rx: float, ry: float) -> Shape:
    """Return an ellipse with its axes along the picture's; all numbers are multiples of 1/64."""
    return Shape(tone, (circle(int(x * UNIT), int(y * UNIT), int(rx * UNIT), int(ry * UNIT)),))


def circle(x: int, y: int, rx: int, ry: int) -> tuple[Point, ...]:
    """Return an ellipse in 64ths, by the rational points ((1 − t²), 2t) / (1 + t²) of the circle."""
    steps = 8
    quarter = [(steps**2 - t**2, 2 * steps * t, steps**2 + t**2) for t in range(steps)]
    turned = [(c, s, n) for c, s, n in quarter] + [(-s, c, n) for c, s, n in quarter]
    turned += [(-c, -s, n) for c, s, n in turned]
    return tuple((x + rx * c // n, y + ry * s // n) for c, s, n in turned)


def line(tone: int, width: float, text: str) -> Shape:
    """Return a thick line through some points, with round ends and joints."""
    return stroke(tone, width, points(text))


def curve(tone: int, width: float, text: str) -> Shape:
    """Return a thick line that bends smoothly: a quadratic Bézier curve with three control points."""
    (x, y), (u, v), (p, q) = points(text)
    steps = 10
    weights = [((steps - t) ** 2, 2 * t * (steps - t), t**2) for t in range(steps + 1)]
    path = [((a * x + b * u + c * p) // steps**2, (a * y + b * v + c * q) // steps**2) for a, b, c in weights]
    return stroke(tone, width, path)


def stroke(tone: int, width: float, path: list[Point]) -> Shape:
    """Return a thick line through points in 64ths."""
    half = int(width * UNIT) // 2
    polygons: list[tuple[Point, ...]] = [circle(x, y, half, half) for x, y in path]
    for (x, y), (u, v) in pairwise(path):
        length = max(1, isqrt((u - x) ** 2 + (v - y) ** 2))
        dx, dy = -(v - y) * half // length, (u - x) * half // length
        polygons.append(((x + dx, y + dy), (u + dx, v + dy), (u - dx, v - dy), (x - dx, y - dy)))
    return Shape(tone, tuple(polygons))


def fill(polygon: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return which of height by width samples lie in a polygon whose corners are in 64ths of a sample.

    A sample is in when its centre is: edges are crossed row by row and an odd number of crossings to the
    left means inside.
    """
    height, width = size
    crossings = np.zeros((height, width + 1), np.int32)
    following = np.roll(polygon, -1, axis=0)
    for (x, y), (u, v) in zip(polygon.tolist(), following.tolist()):
        if y == v:
            continue
        first, last = (-(-(2 * end - UNIT) // (2 * UNIT)) for end in sorted((y, v)))
        rows = np.arange(max(first, 0), min(last, height))
        at = x + ((rows * UNIT + UNIT // 2 - y) * (u - x)) // (v - y)
        column = np.clip(-(-(2 * at - UNIT) // (2 * UNIT)), 0, width)
        crossings[rows, column] += 1
    return (np.cumsum(crossings[:, :width], axis=1) & 1).astype(bool)


def bounds(shapes: Sequence[Shape]) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of a drawing, in 64ths."""
    corners = np.array([corner for shape in shapes for polygon in shape.polygons for corner in polygon])
    return (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist())


def fit(shapes: Sequence[Shape], box: tuple[int, int, int, int]) -> list[tuple[int, np.ndarray]]:
    """Return tones and polygons moved and stretched so that the whole fills a box exactly."""
    left, top, right, bottom = bounds(shapes)
    fitted = []
    for shape in shapes:
        for polygon in shape.polygons:
            corner = np.array(polygon, np.int64)
            x = box[0] + (corner[:, 0] - left) * (box[2] - box[0]) // (right - left)
            y = box[1] + (corner[:, 1] - top) * (box[3] - box[1]) // (bottom - top)
            fitted.append((shape.tone, np.stack([x, y], axis=1)))
    return fitted


def widen(mask: np.ndarray, radius: int) -> np.ndarray:
    """Return the samples within `radius` of a mask."""
    wide = mask.copy()
    height, width = mask.shape
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if 0 < dx * dx + dy * dy <= radius * radius:
                to = np.s_[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
                of = np.s_[max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)]
                wide[to] |= mask[of]
    return wide
