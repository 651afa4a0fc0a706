"""What visual words are made of: colour, texture and SIFT descriptors at the points of a picture.

Points. Every picture has the same number of rows and columns of points, whatever its shape, so that every
histogram is a count with the same total. Intersections are then whole numbers, and a kernel between two
pictures is exact. It also leaves no special case: in a picture of one pixel, all points fall on it.

Colour. The CIELAB coordinates of single pixels.

Texture. The energies of Gabor filters at eight orientations and three scales. A Gabor filter is a wave under
a bell: it answers to edges and bars across the wave. The energy, from an even and an odd filter, does not
depend on where exactly in the wave the point lies. The three wavelengths are 4, 8 and 16 pixels of a picture
scaled to 256; the longer ones are measured with the same filters in the picture at half and at a quarter of
its size. Responses are compressed by the rule of Weber, as Varma and Zisserman (2005) do: a response vector
of length r is scaled to the length log(1 + r / 0.03).

SIFT. Upright SIFT descriptors (Lowe, 2004) on a dense grid. A descriptor counts the gradients around a point
by 4 x 4 places and 8 directions, both interpolated. A place is 4 pixels wide in a picture scaled to 256, so
that a descriptor covers 16 x 16. The bell that weighs a descriptor's middle more is taken as constant over
one place, which lets all points share one smoothed table (the "fast" variant of Vedaldi and Fulkerson's dense
SIFT).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from karat._util import extra

# Texture.
ORIENTATIONS = 8
SCALES = 3
WAVELENGTH = 4.0
BELL = 0.56 * WAVELENGTH
"""The standard deviation of the bell: a bandwidth of one octave."""
REACH = 6
WEBER = 0.03
FAINT_RESPONSE = 1e-4
"""Shorter response vectors are zero. One step of grey makes 0.001; far less is left by rounding."""
# SIFT.
GRADIENT_DIRECTIONS = 8
PLACES = 4
PLACE_WIDTH = 4
"""Pixels of one place."""
SMOOTHING = 0.8
"""The standard deviation of the blur before gradients are taken, in pixels."""
LARGEST_SHARE = 0.2
FAINT_GRADIENT = 0.001
"""Descriptors with less gradient are zero: noise on even surfaces. Black to white in a pixel is 1."""


def colour_points(picture: np.ndarray, points: int) -> np.ndarray:
    """Return L*, a* and b* (D65) at the points of a picture, float32 [points², 3].

    Examples
    --------
    >>> colour_points(np.full((2, 2, 3), 255, np.uint8), 1).round(1) + 0
    array([[100.,   0.,   0.]], dtype=float32)
    """
    rows, columns = nearest_pixels(picture.shape[0], points), nearest_pixels(picture.shape[1], points)
    chosen = picture[rows[:, None], columns]
    cv2 = extra("cv2")
    return cv2.cvtColor(chosen.astype(np.float32) / 255, cv2.COLOR_RGB2LAB).reshape(-1, 3)


def texture_points(picture: np.ndarray, points: int) -> np.ndarray:
    """Return the filters' energies at the points of a picture, float32 [points², 24].

    Columns go by scale, then by orientation: the first is the finest wave along the rows.

    Examples
    --------
    >>> stripes = np.zeros((64, 64, 3), np.uint8)
    >>> stripes[:, ::4] = stripes[:, 1::4] = 255
    >>> int(texture_points(stripes, 4).mean(axis=0).argmax())
    0
    """
    cv2 = extra("cv2")
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    energies = np.empty((SCALES * ORIENTATIONS, points, points), np.float32)
    for scale in range(SCALES):
        # Pixel i of a halved picture lies over pixel 2 i of the larger one.
        x = centres(picture.shape[1], points) / 2**scale
        y = centres(picture.shape[0], points) / 2**scale
        at = np.meshgrid(x, y)
        for k in range(ORIENTATIONS):
            even, odd = (
                cv2.filter2D(grey, -1, f, borderType=cv2.BORDER_REFLECT_101)
                for f in gabor_bank()[2 * k : 2 * k + 2]
            )
            energies[scale * ORIENTATIONS + k] = cv2.remap(
                cv2.magnitude(even, odd), *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
        grey = cv2.pyrDown(grey)
    responses = energies.reshape(len(energies), -1).T
    length = np.linalg.norm(responses, axis=1, keepdims=True)
    factor = np.log1p(length / WEBER) / np.maximum(length, FAINT_RESPONSE)
    return np.ascontiguousarray(responses * np.where(length < FAINT_RESPONSE, 0, factor))


@cache
def gabor_bank() -> tuple[np.ndarray, ...]:
    """Return the even and odd filters by orientation: zero mean, unit sum of absolute values.

    >>> len(gabor_bank()), gabor_bank()[0].shape, abs(float(gabor_bank()[0].sum())) < 1e-6
    (16, (13, 13), True)
    """
    y, x = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1]
    bell = np.exp(-(x**2 + y**2) / (2 * BELL**2))
    bank = []
    for k in range(ORIENTATIONS):
        angle = np.pi * k / ORIENTATIONS
        phase = 2 * np.pi / WAVELENGTH * (x * np.cos(angle) + y * np.sin(angle))
        # A filter must not answer to an even surface.
        even = bell * (np.cos(phase) - (bell * np.cos(phase)).sum() / bell.sum())
        odd = bell * np.sin(phase)
        bank += [(f / np.abs(f).sum()).astype(np.float32) for f in (even, odd)]
    return tuple(bank)


def sift_points(picture: np.ndarray, points: int) -> np.ndarray:
    """Return the descriptors at the points of a picture, float32 [points², 128], of length 1 or 0.

    The columns go by row of places, column of places, direction; directions turn from right to down.

    Examples
    --------
    >>> step = np.zeros((64, 64, 3), np.uint8)
    >>> step[:, 32:] = 255
    >>> middle = sift_points(step, 3)[4].reshape(4, 4, 8)
    >>> int(middle.sum(axis=(0, 1)).argmax()), bool(abs(np.linalg.norm(middle) - 1) < 1e-6)
    (0, True)
    """
    table = gradient_table(picture)
    height, width = picture.shape[:2]
    rows, columns = place_indices(height, points), place_indices(width, points)
    places = table[rows[:, None], columns].reshape(points, PLACES, points, PLACES, GRADIENT_DIRECTIONS)
    offset = np.arange(PLACES) - (PLACES - 1) / 2
    bell = np.exp(-(offset**2) / (2 * (PLACES / 2) ** 2)).astype(np.float32)
    places = places * (bell[:, None, None, None] * bell[:, None])
    flat = np.ascontiguousarray(places.transpose(0, 2, 1, 3, 4)).reshape(points * points, -1)
    length = np.linalg.norm(flat, axis=1, keepdims=True)
    faint = length < FAINT_GRADIENT
    # Cut and scaled again, so that no single strong edge decides.
    flat = np.minimum(flat / np.where(faint, 1, length), LARGEST_SHARE)
    flat[faint[:, 0]] = 0
    return flat / np.where(faint, 1, np.linalg.norm(flat, axis=1, keepdims=True))


def gradient_table(picture: np.ndarray) -> np.ndarray:
    """Return, per pixel, the gradients around it by direction, float32 [height, width, 8]."""
    cv2 = extra("cv2")
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    grey = cv2.GaussianBlur(grey, (0, 0), SMOOTHING)
    half = np.array([-0.5, 0, 0.5], np.float32)
    same = np.ones(1, np.float32)
    strength, angle = cv2.cartToPolar(
        cv2.sepFilter2D(grey, -1, half, same), cv2.sepFilter2D(grey, -1, same, half)
    )
    turn = angle.ravel() * (GRADIENT_DIRECTIONS / (2 * np.pi))
    lower = np.floor(turn)
    upper_share = (turn - lower) * strength.ravel()
    lower = lower.astype(np.intp) % GRADIENT_DIRECTIONS
    pixel = np.arange(turn.size)
    table = np.zeros((turn.size, GRADIENT_DIRECTIONS), np.float32)
    table[pixel, lower] = strength.ravel() - upper_share
    table[pixel, (lower + 1) % GRADIENT_DIRECTIONS] = upper_share
    # A triangle as wide as two places: interpolation between neighbouring places.
    triangle = (PLACE_WIDTH - np.abs(np.arange(1 - PLACE_WIDTH, PLACE_WIDTH))).astype(
        np.float32
    ) / PLACE_WIDTH**2
    return cv2.sepFilter2D(table.reshape(*picture.shape[:2], GRADIENT_DIRECTIONS), -1, triangle, triangle)


def place_indices(length: int, points: int) -> np.ndarray:
    """Return the pixels at the middles of the places around each point along one side, flat.

    >>> place_indices(64, 1)
    array([26, 30, 34, 38])
    """
    offset = (np.arange(PLACES) - (PLACES - 1) / 2) * PLACE_WIDTH
    around = np.rint(centres(length, points)[:, None] + offset).astype(np.intp)
    return np.clip(around, 0, length - 1).ravel()


def centres(length: int, points: int) -> np.ndarray:
    """Return the positions of the points along one side: the middles of equal parts, in pixels.

    >>> centres(8, 4)
    array([0.5, 2.5, 4.5, 6.5], dtype=float32)
    """
    return ((np.arange(points) + 0.5) * (length / points) - 0.5).astype(np.float32)


def nearest_pixels(length: int, points: int) -> np.ndarray:
    """Return the pixel that each point along one side lies in.

    >>> nearest_pixels(8, 4), nearest_pixels(1, 4)
    (array([1, 3, 5, 7]), array([0, 0, 0, 0]))
    """
    return ((np.arange(points) + 0.5) * (length / points)).astype(np.intp)


DESCRIPTORS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "colour": colour_points,
    "texture": texture_points,
    "sift": sift_points,
}
"""By kind of word, in the order of their columns: what describes a picture's points."""
WIDTHS = {"colour": 3, "texture": SCALES * ORIENTATIONS, "sift": PLACES * PLACES * GRADIENT_DIRECTIONS}
"""How many numbers describe a point."""
