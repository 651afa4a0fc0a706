"""Pairs of images and captions as a caller gives them, checked at the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from karat.validation import InputError, plural

Numbers: TypeAlias = Sequence[int] | np.ndarray
"""Numbers of images or of captions, from 0."""


def check_pairs(
    image: Numbers, caption: Numbers, images: int, captions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of so many images and captions as two arrays, or raise.

    Examples
    --------
    >>> check_pairs([1, 1], range(2), images=2, captions=6)
    (array([1, 1]), array([0, 1]))
    >>> check_pairs([-1], [0], images=2, captions=6)
    Traceback (most recent call last):
    ...
    karat.validation.InputError: there is no image -1; they are numbered 0 to 1.
    """
    first, second = check_numbers(image, images, "image"), check_numbers(caption, captions, "caption")
    if len(first) != len(second):
        raise InputError(
            f"{plural(len(first), 'image')} and {plural(len(second), 'caption')} are no pairs",
            fix="give one caption for each image",
        )
    return first, second


def check_numbers(given: Numbers, below: int, what: str) -> np.ndarray:
    """Return numbers from 0 to below − 1 as an array, or raise."""
    numbers = np.asarray(given)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InputError(
            f"the {what} numbers have shape {numbers.shape} and type {numbers.dtype}",
            fix="give a list of whole numbers",
        )
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < below:
        wrong = numbers[(numbers < 0) | (numbers >= below)][0]
        raise InputError(f"there is no {what} {wrong}", fix=f"they are numbered 0 to {below - 1}")
    return numbers.astype(np.int64)
