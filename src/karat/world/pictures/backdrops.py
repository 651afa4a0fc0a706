"""The backgrounds, drawn once each.

None of them shows anything that is a kind of object, or a caption could be right about the background and
wrong by the rules: no trees, flowers or houses, and therefore no forest or city. Nor is there anything of a
category: grass is a plant.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from karat.world.draws import Draws
from karat.world.pictures.shapes import FINE, Shape, blob, curve, fill, line, oval, poly, rgb
from karat.world.scenes import SIDE
from karat.world.vocabulary import BACKGROUND_NAMES

Layer = tuple[str, Shape]


def band(colour: str, top: int, bottom: int) -> Layer:
    """Return a stripe across the whole picture."""
    return colour, poly(0, f"0,{top} {SIDE},{top} {SIDE},{bottom} 0,{bottom}")


def cloud(colour: str, x: int, y: int) -> list[Layer]:
    """Return a cloud of three puffs."""
    puffs = ((-11, 2, 9, 6), (0, -2, 11, 8), (12, 2, 9, 6))
    return [(colour, oval(0, x + dx, y + dy, rx, ry)) for dx, dy, rx, ry in puffs]


def spots(purpose: int, number: int, top: int, bottom: int) -> list[tuple[int, int]]:
    """Return places scattered over a stripe of the picture; the same ones every time."""
    draws = Draws(0, 4, purpose)
    x, y = draws.integers(number, SIDE - 8) + 4, draws.integers(number, bottom - top) + top
    return list(zip(x.tolist(), y.tolist()))


def star(x: int, y: int, r: int) -> Layer:
    """Return a star with four points."""
    tips = ((0, -2 * r), (1, -1), (2 * r, 0), (1, 1), (0, 2 * r), (-1, 1), (-2 * r, 0), (-1, -1))
    corners = " ".join(f"{x + dx},{y + dy}" for dx, dy in tips)
    return "#ffc", poly(0, corners)


def beach() -> list[Layer]:
    """Sky, sea with waves, and sand."""
    waves = [("#9ce", curve(0, 1.5, f"{x},{y} {x + 10},{y - 4} {x + 20},{y}"))
             for x, y in ((8, 50), (60, 54), (112, 49), (140, 58), (34, 60), (86, 63))]  # fmt: skip
    grains = [("#db8", oval(0, x, y, 1, 1)) for x, y in spots(1, 60, 86, 166)]
    return [
        band("#cef", 0, 44), *cloud("#fff", 32, 18), *cloud("#fff", 128, 24),
        band("#6ac", 44, 74), *waves,
        ("#fff", blob(0, "-10,72 30,66 70,76 110,68 150,76 180,70 180,90 -10,90", 2)),
        ("#feb", blob(0, "-10,76 30,71 70,81 110,73 150,81 180,75 190,190 -20,190", 2)),
        *grains,
    ]  # fmt: skip


def street() -> list[Layer]:
    """Pavement, kerb and a road with a dashed line."""
    slabs = [("#bbb", line(0, 1, f"{x},28 {x - 12},54")) for x in range(12, 190, 24)]
    near = [("#bbb", line(0, 1, f"{x},146 {x - 12},168")) for x in range(12, 190, 24)]
    dashes = [("#ffe", poly(0, f"{x},96 {x + 26},96 {x + 23},102 {x - 3},102")) for x in range(6, 168, 42)]
    return [
        band("#def", 0, 28), *cloud("#fff", 60, 12), *cloud("#fff", 140, 16),
        band("#ccc", 28, 54), *slabs, band("#eee", 54, 58), band("#777", 58, 140), *dashes,
        band("#eee", 140, 146), band("#ccc", 146, 168), *near,
    ]  # fmt: skip


def field() -> list[Layer]:
    """Green hills under a blue sky, with the shadows of clouds: blades of grass would be plants."""
    shadows = [
        ("#8b6", oval(0, x, y, 22, 4)) for x, y in ((34, 92), (124, 84), (84, 118), (26, 146), (136, 152))
    ]
    return [
        band("#cef", 0, 60), *cloud("#fff", 40, 20), *cloud("#fff", 116, 14),
        ("#bd8", blob(0, "-20,66 20,44 60,52 100,38 150,52 190,42 190,90 -20,90", 3)),
        ("#9c7", blob(0, "-20,70 50,58 110,66 190,56 200,190 -30,190", 3)), *shadows,
    ]  # fmt: skip


def night() -> list[Layer]:
    """Stars, a crescent moon and dark hills."""
    stars = [star(x, y, 2) for x, y in spots(3, 14, 6, 118)]
    dots = [("#ccd", oval(0, x, y, 0.75, 0.75)) for x, y in spots(4, 36, 2, 124)]
    return [
        band("#114", 0, 60), band("#225", 60, 100), band("#336", 100, 168), *dots, *stars,
        ("#feb", oval(0, 140, 26, 13, 13)), ("#114", oval(0, 134, 23, 11.5, 11.5)),
        ("#123", blob(0, "-20,150 30,126 80,144 130,124 190,142 190,190 -20,190", 3)),
        ("#112", blob(0, "-20,160 60,148 120,160 190,148 190,190 -20,190", 3)),
    ]  # fmt: skip


def snow() -> list[Layer]:
    """Falling flakes over white ground with blue shadows."""
    flakes = [("#fff", oval(0, x, y, 1 + y % 3 / 2, 1 + y % 3 / 2)) for x, y in spots(5, 44, 2, 80)]
    drifts = [("#cde", curve(0, 2, f"{x},{y} {x + 22},{y - 8} {x + 46},{y}"))
              for x, y in ((8, 96), (92, 88), (50, 118), (110, 132), (4, 146), (78, 158))]  # fmt: skip
    return [
        band("#bcd", 0, 84), *flakes,
        ("#def", blob(0, "-20,80 30,58 80,70 130,56 190,72 190,120 -20,120", 3)),
        ("#fff", blob(0, "-20,92 40,72 100,86 150,70 190,84 200,190 -30,190", 3)), *drifts,
    ]  # fmt: skip


def desert() -> list[Layer]:
    """Dunes under a hot sky."""
    ripples = [("#c94", curve(0, 1.5, f"{x},{y} {x + 18},{y - 7} {x + 38},{y}"))
               for x, y in ((10, 112), (96, 122), (52, 138), (118, 152), (12, 156))]  # fmt: skip
    return [
        band("#feb", 0, 30), band("#fda", 30, 56), band("#fd9", 56, 80),
        ("#eb7", blob(0, "-20,84 20,46 40,42 90,82 190,84 190,120 -20,120", 2)),
        ("#da6", blob(0, "40,42 96,86 60,96 30,80", 2)),
        ("#eb6", blob(0, "40,110 120,58 140,56 200,100 200,140 40,140", 2)),
        ("#da5", blob(0, "-20,100 50,88 120,108 190,96 200,190 -30,190", 3)), *ripples,
    ]  # fmt: skip


def room() -> list[Layer]:
    """A papered wall with a window, and floor boards."""
    stripes = [("#edb", poly(0, f"{x},0 {x + 7},0 {x + 7},98 {x},98")) for x in range(5, 168, 21)]
    boards = [("#b86", line(0, 1, f"{84 + (x - 84) * 3 // 5},104 {x},168")) for x in range(-84, 260, 28)]
    return [
        band("#fec", 0, 98), *stripes,
        ("#fff", poly(0, "60,12 108,12 108,66 60,66")), ("#cef", poly(0, "64,16 104,16 104,62 64,62")),
        ("#fff", poly(0, "82,16 86,16 86,62 82,62")), ("#fff", poly(0, "64,37 104,37 104,41 64,41")),
        band("#fff", 96, 103), band("#ccc", 103, 104), band("#c97", 104, 168), *boards,
        *(("#b86", line(0, 1, f"0,{y} {SIDE},{y}")) for y in (118, 136, 156)),
    ]  # fmt: skip


def mountains() -> list[Layer]:
    """Peaks behind stony ground."""
    stones = [("#a98", oval(0, x, y, 2.5, 1.5)) for x, y in spots(6, 26, 110, 166)]
    return [
        band("#def", 0, 110), *cloud("#fff", 28, 16), *cloud("#fff", 142, 12),
        ("#abc", poly(0, "-20,106 30,34 62,72 96,22 134,76 156,50 200,106")),
        ("#89a", poly(0, "-30,110 0,60 26,86 58,40 88,82 120,46 150,88 176,62 210,110")),
        ("#789", poly(0, "58,40 88,82 72,110 64,84 54,70")),
        ("#789", poly(0, "120,46 150,88 136,110 128,86")),
        ("#789", poly(0, "0,60 26,86 16,110 6,88")),
        ("#cba", blob(0, "-20,108 40,98 90,108 140,98 190,106 200,190 -30,190", 3)), *stones,
    ]  # fmt: skip


SCENERY = {
    "beach": beach, "street": street, "field": field, "night": night, "snow": snow, "desert": desert,
    "room": room, "mountains": mountains,
}  # fmt: skip


@cache
def backdrop(background: int) -> np.ndarray:
    """Return a background as whole numbers [168, 168, 3]."""
    side = SIDE * FINE
    canvas = np.zeros((side, side), np.uint8)
    layers = SCENERY[BACKGROUND_NAMES[background]]()
    colours = sorted({colour for colour, _ in layers})
    for colour, shape in layers:
        for polygon in shape.polygons:
            canvas[fill(np.array(polygon, np.int64) * FINE, (side, side))] = colours.index(colour)
    samples = np.array([rgb(colour) for colour in colours])[canvas]
    cells = samples.reshape(SIDE, FINE, SIDE, FINE, 3).sum(axis=(1, 3))
    return (cells + FINE**2 // 2) // FINE**2
