"""Scenes: what each picture shows and where, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Objects
from karat.world.draws import Draws
from karat.world.vocabulary import BACKGROUND_NAMES, BOXES, COLOURS, KIND_NAMES, KINDS, SIZES

SIDE = 168
"""Pictures are squares of this many pixels, seen as three by three cells of 56."""
CELL, JITTER = 56, 4
"""An object's centre is at most JITTER pixels from its cell's centre, so that nothing is ever borderline:
a large object (48 pixels) stays inside its cell, and centres of other rows or columns are far away."""
MOST = 8
"""The most objects in a scene: which of them match a description then fits in one byte."""

GROUPS = (25, 45, 30)
COUNTS = (62, 20, 11, 7)
BACKGROUND_WEIGHTS = (3, 3, 3, 2, 2, 1, 3, 1)
COLOUR_WEIGHTS = (3, 3, 4, 3, 2, 4, 3, 2, 1, 1, 2)


@dataclass(frozen=True, eq=False)
class Scenes:
    """Scenes in compressed rows: scene s has the objects ptr[s] to ptr[s + 1].

    Parameters
    ----------
    background
        Per scene, an index into `vocabulary.BACKGROUNDS`.
    ptr
        Where each scene's objects begin, and the end; every scene has 1 to 8 objects.
    kind, colour, size
        Per object, indices into `vocabulary.KINDS`, `vocabulary.COLOURS` and `vocabulary.SIZES`.
    x, y
        Per object, the centre of its box in pixels of a picture of 168 by 168.

    Examples
    --------
    >>> scenes = draw_scenes(2, seed=3)
    >>> len(scenes), scenes.ptr.tolist()
    (2, [0, 2, 6])
    """

    background: np.ndarray
    ptr: np.ndarray
    kind: np.ndarray
    colour: np.ndarray
    size: np.ndarray
    x: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.background)

    @property
    def scene(self) -> np.ndarray:
        """The scene of each object."""
        return np.repeat(np.arange(len(self)), np.diff(self.ptr))

    @property
    def slot(self) -> np.ndarray:
        """Each object's place among the objects of its scene, from 0."""
        return np.arange(len(self.kind)) - self.ptr[:-1][self.scene]

    @property
    def box(self) -> np.ndarray:
        """Left, top, width and height of each object in pixels, shape [objects, 4]."""
        extent = BOXES[self.kind] // np.where(self.size == 1, 1, 2)[:, None]
        return np.concatenate([np.c_[self.x, self.y] - extent // 2, extent], axis=1)


def draw_scenes(number: int, seed: int) -> Scenes:
    """Draw scenes: one to three groups of things of the same kind, in separate cells.

    A group has one to four things, mostly alike; now and then one differs in colour or size, so that "two
    red dogs" and "two dogs" are different questions.
    """
    draws = Draws(seed, 1)
    background = draws.weighted(number, BACKGROUND_WEIGHTS).astype(np.int8)
    groups = draws.weighted(number, GROUPS) + 1
    count = np.stack([draws.weighted(number, COUNTS) + 1 for _ in range(3)], axis=1)
    count *= np.arange(3) < groups[:, None]
    room = MOST - np.cumsum(count, axis=1) + count
    count = np.minimum(count, room)
    kind = different_kinds(draws, number)
    shared = {
        "colour": draws.weighted(3 * number, COLOUR_WEIGHTS).reshape(number, 3),
        "size": draws.integers(3 * number, 2).reshape(number, 3),
    }
    # One row per object: its scene, its group, and its place in the group.
    scene, group, place = np.nonzero(np.arange(4) < count[:, :, None])
    n = len(scene)
    ptr = np.concatenate([[0], np.cumsum(count.sum(axis=1))])
    colour = shared["colour"][scene, group]
    odd = (place > 0) & draws.chances(n, 25)
    colour = np.where(odd, draws.weighted(n, COLOUR_WEIGHTS), colour)
    size = shared["size"][scene, group] ^ ((place > 0) & draws.chances(n, 15))
    cell = draws.orders(number, 9)[scene, np.arange(n) - ptr[scene]]
    x = (cell % 3) * CELL + CELL // 2 + draws.integers(n, 2 * JITTER + 1) - JITTER
    y = (cell // 3) * CELL + CELL // 2 + draws.integers(n, 2 * JITTER + 1) - JITTER
    return Scenes(
        background,
        ptr.astype(np.int64),
        kind[scene, group].astype(np.int8),
        colour.astype(np.int8),
        size.astype(np.int8),
        x.astype(np.int16),
        y.astype(np.int16),
    )


def different_kinds(draws: Draws, number: int) -> np.ndarray:
    """Return three different kinds for each scene."""
    kinds = draws.weighted(3 * number, [kind.weight for kind in KINDS]).reshape(number, 3)
    for column in (1, 2):
        for _ in range(column):
            # At most `column` steps lead away from the kinds that stand before.
            taken = (kinds[:, :column] == kinds[:, column : column + 1]).any(axis=1)
            kinds[:, column] = (kinds[:, column] + taken) % len(KINDS)
    return kinds


def as_objects(scenes: Scenes) -> Objects:
    """Return what scenes show; the background counts as an attribute of each object's picture."""
    return Objects(
        KIND_NAMES,
        scenes.scene,
        scenes.kind,
        scenes.box / SIDE,
        synsets=tuple(kind.synset for kind in KINDS),
        attributes={
            "colour": np.array(COLOURS)[scenes.colour],
            "size": np.array(SIZES)[scenes.size],
            "background": np.array(BACKGROUND_NAMES)[scenes.background][scenes.scene],
        },
    )
