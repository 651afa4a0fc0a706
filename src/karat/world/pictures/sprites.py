"""Objects as small pictures: each kind in two sizes and eleven colours, drawn once when first asked for."""

from __future__ import annotations

from functools import cache

import numpy as np

from karat.world.pictures.animals import ANIMALS
from karat.world.pictures.plants import PLANTS
from karat.world.pictures.shapes import FINE, HOLE, UNIT, fill, fit, rgb, widen
from karat.world.pictures.things import THINGS
from karat.world.pictures.vehicles import VEHICLES
from karat.world.vocabulary import KINDS, LARGE

DRAWINGS = ANIMALS | VEHICLES | PLANTS | THINGS
MARGIN = 2
"""Pixels around a large object's greatest box, for the white rim."""
LINE, RIM = {1: 3, 0: 5}, {1: 4, 0: 5}
"""Widths of the dark outline and of the white rim around it, in samples: together they make an object of any
colour stand out from any background."""

# The object's colour, darker, lighter, and what black lines are drawn with.
TONES = {
    "black": ("#222", "#111", "#666", "#999"),
    "white": ("#fff", "#ccd", "#fff", "#222"),
    "red": ("#d22", "#911", "#f88", "#111"),
    "green": ("#3a3", "#171", "#8d8", "#111"),
    "yellow": ("#fd2", "#ca0", "#ffa", "#111"),
    "blue": ("#25d", "#139", "#8af", "#111"),
    "brown": ("#742", "#421", "#b85", "#111"),
    "orange": ("#f81", "#c50", "#fc8", "#111"),
    "pink": ("#f9c", "#d59", "#fde", "#111"),
    "purple": ("#83b", "#518", "#c9e", "#111"),
    "grey": ("#999", "#666", "#ccc", "#111"),
}
EDGE, PAPER, PANE = "#111", "#fff", "#def"


@cache
def palette(colour: str) -> np.ndarray:
    """Return what each tone is painted with, then the outline and the rim, shape [9, 3]."""
    main, shade, light, ink = TONES[colour]
    return np.array([rgb(text) for text in ("#000", main, shade, light, ink, PAPER, PANE, EDGE, PAPER)])


@cache
def coverage(kind: int, size: int) -> np.ndarray:
    """Return how many samples of each pixel have each tone, shape [side, side, 9]; the rest shows through."""
    samples = (LARGE + 2 * MARGIN) * FINE
    wide, high = (FINE * side for side in KINDS[kind].box)
    edge = LINE[size]
    left, top = (samples - wide) // 2 + edge, (samples - high) // 2 + edge
    box = (left, top, left + wide - 2 * edge, top + high - 2 * edge)
    tones = np.full((samples, samples), HOLE, np.uint8)
    for tone, polygon in fit(DRAWINGS[KINDS[kind].name], tuple(UNIT * side for side in box)):  # type: ignore[arg-type]
        tones[fill(polygon, (samples, samples))] = tone
    shape = tones != HOLE
    outline = widen(shape, edge)
    rim = widen(outline, RIM[size])
    tones[outline & ~shape] = 7
    tones[rim & ~outline] = 8
    per_pixel = FINE if size else 2 * FINE
    side = samples // per_pixel
    cells = tones.reshape(side, per_pixel, side, per_pixel).swapaxes(1, 2).reshape(side, side, -1)
    return (cells[..., None] == np.arange(9)).sum(axis=2)


@cache
def sprite(kind: int, colour: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the painted samples' sum per pixel and channel, and how many samples are bare."""
    counts = coverage(kind, size)
    bare = counts[..., HOLE : HOLE + 1]
    return (counts[..., 1:, None] * palette(colour)[1:]).sum(axis=2), bare


def paint(picture: np.ndarray, kind: int, colour: str, size: int, x: int, y: int) -> None:
    """Paint an object with its centre at x, y into a picture of whole numbers [height, width, 3]."""
    painted, bare = sprite(kind, colour, size)
    side, samples = len(painted), FINE**2 if size else 4 * FINE**2
    place = picture[y - side // 2 : y - side // 2 + side, x - side // 2 : x - side // 2 + side]
    place[:] = (painted + place * bare + samples // 2) // samples
