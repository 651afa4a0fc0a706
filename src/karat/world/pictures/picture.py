"""The picture of a scene: its background, and its objects, each kind drawn once per size and colour."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from karat.errors import InputError
from karat.world.pictures.backdrops import backdrop
from karat.world.pictures.shapes import FINE, HOLE, STEP, UNIT, Shape, fill, fit, rgb, shape_of, widen
from karat.world.scenes import Scenes
from karat.world.vocabulary import COLOURS, KINDS, LARGE

MARGIN = 2
"""Pixels around a large object's greatest box, for the white rim."""
LINE, RIM = {1: 3, 0: 5}, {1: 4, 0: 5}
"""Widths of the dark outline and of the white rim around it, in samples: together they make an object of any
colour stand out from any background."""

# The object's colour, darker, lighter, and what black lines are drawn with.
COLOUR_TONES = {
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
def drawings() -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of each kind of thing, as `drawings.txt` lists them."""
    text = resources.files("karat.world.pictures").joinpath("drawings.txt").read_text(encoding="utf-8")
    blocks = ([row for row in block.splitlines() if row[:1] != "#"] for block in text.split("\n\n"))
    return {name: tuple(map(shape_of, rows)) for name, *rows in filter(None, blocks)}


@cache
def palette(colour: str) -> np.ndarray:
    """Return what each tone is painted with, then the outline and the rim, shape [9, 3]."""
    main, shade, light, ink = COLOUR_TONES[colour]
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
    for tone, polygon in fit(drawings()[KINDS[kind].name], tuple(UNIT * side for side in box)):  # type: ignore[arg-type]
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


def draw_picture(scenes: Scenes, number: int) -> np.ndarray:
    """Return the picture of one scene, as bytes [168, 168, 3].

    Examples
    --------
    >>> from karat.world.scenes import draw_scenes
    >>> picture = draw_picture(draw_scenes(3, seed=1), 2)
    >>> picture.shape, picture.dtype
    ((168, 168, 3), dtype('uint8'))
    """
    if not 0 <= number < len(scenes):
        raise InputError(f"there is no scene {number}", fix=f"they are numbered 0 to {len(scenes) - 1}")
    # An object's white rim may reach over the edge of the picture.
    picture = np.pad(backdrop(int(scenes.background[number])), ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)))
    objects = range(int(scenes.ptr[number]), int(scenes.ptr[number + 1]))
    # From the top down, so that what stands lower is in front.
    for thing in sorted(objects, key=lambda thing: (int(scenes.y[thing]), thing)):
        paint(
            picture,
            int(scenes.kind[thing]),
            COLOURS[scenes.colour[thing]],
            int(scenes.size[thing]),
            MARGIN + int(scenes.x[thing]),
            MARGIN + int(scenes.y[thing]),
        )
    # Sixteen steps of each channel: edges stay smooth, and a file's palette of 256 colours suffices.
    steps = (picture[MARGIN:-MARGIN, MARGIN:-MARGIN] * 15 + 127) // 255
    return (steps * STEP).astype(np.uint8)
