"""Checks of what a user gives to `ImageFeatures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from karat.systems.images.decoding import Source
from karat.validation import InputError

RANGES = {
    "side": (1, 4096),
    "points": (1, 147),
    "colour_words": (1, 4096),
    "texture_words": (1, 4096),
    "sift_words": (1, 4096),
    "levels": (1, 6),
    "sample_images": (1, 1_000_000),
    "sample_points": (1, 1_000_000),
    "seed": (0, 2**32 - 1),
}
UNREADABLE = ("raise", "zero")


def check_parameters(params: Mapping[str, Any], learned: Mapping[str, np.ndarray] | None = None) -> None:
    """Raise when a parameter of `ImageFeatures` cannot be used, or not with vocabularies learned before."""
    for name, (low, high) in RANGES.items():
        value: Any = params[name]
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            raise InputError(f"{name} is {value!r}", fix=f"give a whole number from {low} to {high:,}")
    finest = 2 ** (params["levels"] - 1)
    if params["points"] % finest:
        raise InputError(
            f"{params['points']} points do not divide into {finest} cells a side",
            fix=f"give a multiple of {finest}",
        )
    if params["unreadable"] not in UNREADABLE:
        raise InputError(f"unreadable is {params['unreadable']!r}", fix=f"choose {' or '.join(UNREADABLE)}")
    for name, centres in (learned or {}).items():
        if len(centres) > params[f"{name}_words"]:
            raise InputError(
                f"{name}_words is {params[f'{name}_words']}, but {len(centres)} words were learned",
                fix="call fit again",
            )


def check_images(images: Sequence[Source] | np.ndarray) -> list[Source]:
    """Return the pictures as a list; a single one is an error, not a list of its rows."""
    single = isinstance(images, str | Path | bytes)
    if isinstance(images, np.ndarray):
        single = images.ndim < 3 or (images.ndim == 3 and images.shape[2] in (3, 4))
    if single:
        raise InputError("a single picture was given", fix="give a list of pictures")
    found = list(images)
    for number, source in enumerate(found):
        if not isinstance(source, str | Path | np.ndarray):
            raise InputError(
                f"picture {number} is a {type(source).__name__}", fix="give paths or arrays of pixels"
            )
    return found
