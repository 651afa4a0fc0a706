"""Scenes as pixels."""

from __future__ import annotations

import numpy as np

from karat.validation import InputError
from karat.world.backdrops import backdrop
from karat.world.png import STEP
from karat.world.scenes import Scenes
from karat.world.sprites import MARGIN, paint
from karat.world.vocabulary import COLOURS


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
    for one in sorted(objects, key=lambda one: (int(scenes.y[one]), one)):
        paint(
            picture,
            int(scenes.kind[one]),
            COLOURS[scenes.colour[one]],
            int(scenes.size[one]),
            MARGIN + int(scenes.x[one]),
            MARGIN + int(scenes.y[one]),
        )
    # Sixteen steps of each channel: edges stay smooth, and a file's palette of 256 colours suffices.
    steps = (picture[MARGIN:-MARGIN, MARGIN:-MARGIN] * 15 + 127) // 255
    return (steps * STEP).astype(np.uint8)
