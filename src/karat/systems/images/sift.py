"""What SIFT words are made of: upright SIFT descriptors (Lowe, 2004) on a dense grid.

A descriptor counts the gradients around a point by 4 x 4 places and 8 directions, both interpolated. A place
is 4 pixels wide in a picture scaled to 256, so that a descriptor covers 16 x 16. The bell that weighs a
descriptor's middle more is taken as constant over one place, which lets all points share one smoothed table
(the "fast" variant of Vedaldi and Fulkerson's dense SIFT).
"""

from __future__ import annotations

import numpy as np

from karat.systems.images.extras import extra
from karat.systems.images.grid import centres

DIRECTIONS = 8
PLACES = 4
WIDTH = 4
"""Pixels of one place."""
SMOOTHING = 0.8
"""The standard deviation of the blur before gradients are taken, in pixels."""
CUT = 0.2
FAINT = 0.001
"""Descriptors with less gradient are zero: noise on even surfaces. Black to white in a pixel is 1."""


def sift_points(picture: np.ndarray, points: int) -> np.ndarray:
    """Return the descriptors at the points of a picture, float32 [points², 128], of length 1 or 0.

    The columns go by row of places, column of places, direction; directions turn from right to down.

    Examples
    --------
    >>> step = np.zeros((64, 64, 3), np.uint8)
    >>> step[:, 32:] = 255
    >>> found = sift_points(step, 3)[4].reshape(4, 4, 8)
    >>> int(found.sum(axis=(0, 1)).argmax()), bool(abs(np.linalg.norm(found) - 1) < 1e-6)
    (0, True)
    """
    table = gradient_table(picture)
    height, width = picture.shape[:2]
    rows, columns = place_indices(height, points), place_indices(width, points)
    found = table[rows[:, None], columns].reshape(points, PLACES, points, PLACES, DIRECTIONS)
    offset = np.arange(PLACES) - (PLACES - 1) / 2
    bell = np.exp(-(offset**2) / (2 * (PLACES / 2) ** 2)).astype(np.float32)
    found = found * (bell[:, None, None, None] * bell[:, None])
    flat = np.ascontiguousarray(found.transpose(0, 2, 1, 3, 4)).reshape(points * points, -1)
    length = np.linalg.norm(flat, axis=1, keepdims=True)
    faint = length < FAINT
    # Cut and scaled again, so that no single strong edge decides.
    flat = np.minimum(flat / np.where(faint, 1, length), CUT)
    flat[faint[:, 0]] = 0
    return flat / np.where(faint, 1, np.linalg.norm(flat, axis=1, keepdims=True))


def gradient_table(picture: np.ndarray) -> np.ndarray:
    """Return, per pixel, the gradients around it by direction, float32 [height, width, 8]."""
    cv2 = extra("cv2")
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    grey = cv2.GaussianBlur(grey, (0, 0), SMOOTHING)
    half = np.array([-0.5, 0, 0.5], np.float32)
    one = np.ones(1, np.float32)
    strength, angle = cv2.cartToPolar(
        cv2.sepFilter2D(grey, -1, half, one), cv2.sepFilter2D(grey, -1, one, half)
    )
    turn = angle.ravel() * (DIRECTIONS / (2 * np.pi))
    lower = np.floor(turn)
    upper_share = (turn - lower) * strength.ravel()
    lower = lower.astype(np.intp) % DIRECTIONS
    pixel = np.arange(turn.size)
    table = np.zeros((turn.size, DIRECTIONS), np.float32)
    table[pixel, lower] = strength.ravel() - upper_share
    table[pixel, (lower + 1) % DIRECTIONS] = upper_share
    # A triangle as wide as two places: interpolation between neighbouring places.
    triangle = (WIDTH - np.abs(np.arange(1 - WIDTH, WIDTH))).astype(np.float32) / WIDTH**2
    return cv2.sepFilter2D(table.reshape(*picture.shape[:2], DIRECTIONS), -1, triangle, triangle)


def place_indices(length: int, points: int) -> np.ndarray:
    """Return the pixels at the middles of the places around each point along one side, flat.

    >>> place_indices(64, 1)
    array([26, 30, 34, 38])
    """
    offset = (np.arange(PLACES) - (PLACES - 1) / 2) * WIDTH
    around = np.rint(centres(length, points)[:, None] + offset).astype(np.intp)
    return np.clip(around, 0, length - 1).ravel()
