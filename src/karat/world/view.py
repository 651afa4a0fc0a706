"""Scenes as bytes: which of a scene's at most eight objects each word fits; `exact` says what words mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.world.kinds import CATEGORIES, CATEGORY_OF, KINDS
from karat.world.scenes import MOST, SIDE, Scenes
from karat.world.vocabulary import COLOURS, POSITIONS, RELATIONS, SIZES

ALL = np.uint8(255)


@dataclass(frozen=True, eq=False)
class View:
    """Scenes as bytes: for each word, which of a scene's objects it fits; the last row is for no word.

    Parameters
    ----------
    noun, colour, size, position
        Per word and scene, a bit for each object.
    reach
        Per relation, object and scene: which objects it stands in that relation to.
    background
        Per scene.
    """

    noun: np.ndarray
    colour: np.ndarray
    size: np.ndarray
    position: np.ndarray
    reach: np.ndarray
    background: np.ndarray

    def __getitem__(self, scenes: slice) -> View:
        parts = (self.noun, self.colour, self.size, self.position, self.reach, self.background)
        return View(*(part[..., scenes] for part in parts))


def view(scenes: Scenes) -> View:
    """Return the bytes of scenes."""
    n, scene, slot = len(scenes), scenes.scene, scenes.slot
    bit = (1 << slot).astype(np.uint8)

    def table(words: int, *codes: np.ndarray) -> np.ndarray:
        made = np.zeros((words + 1, n), np.uint8)
        for code in codes:
            rows = np.flatnonzero(code >= 0)
            np.bitwise_or.at(made, (code[rows], scene[rows]), bit[rows])
        made[-1] = ALL
        return made

    category = CATEGORY_OF[scenes.kind].astype(np.int64)
    category = np.where(category < 0, -1, len(KINDS) + category)
    return View(
        table(len(KINDS) + len(CATEGORIES), scenes.kind, category),
        table(len(COLOURS), scenes.colour),
        table(len(SIZES), scenes.size),
        table(len(POSITIONS), *places(scenes)),
        reaches(scenes),
        scenes.background,
    )


def places(scenes: Scenes) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each object is left (0) or right (1), and whether it is at the top (2) or bottom (3)."""
    x, y = 3 * scenes.x.astype(np.int64), 3 * scenes.y.astype(np.int64)
    sideways = np.where(x < SIDE, 0, np.where(x > 2 * SIDE, 1, -1))
    upright = np.where(y < SIDE, 2, np.where(y > 2 * SIDE, 3, -1))
    return sideways, upright


def reaches(scenes: Scenes) -> np.ndarray:
    """Return, per relation, object and scene, a bit for each object that it stands so to."""
    n, scene, slot = len(scenes), scenes.scene, scenes.slot
    # Objects that do not exist stand nowhere near any other.
    x, y = (np.full((MOST, n), far, np.int64) for far in (10**6, 10**6))
    x[slot, scene], y[slot, scene] = scenes.x, scenes.y
    real = np.zeros((MOST, n), bool)
    real[slot, scene] = True
    reach = np.zeros((len(RELATIONS), MOST, n), np.uint8)
    for other in range(MOST):
        dx, dy = x[other] - x, y[other] - y
        row = 4 * abs(dy) < SIDE
        stands = (
            4 * dx >= SIDE,
            -4 * dx >= SIDE,
            4 * dy >= SIDE,
            -4 * dy >= SIDE,
            row & (4 * abs(dx) >= SIDE) & (2 * abs(dx) < SIDE),
        )
        for relation, so in enumerate(stands):
            reach[relation] |= ((so & real & real[other]) << other).astype(np.uint8)
    return reach
