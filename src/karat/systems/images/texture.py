"""What texture words are made of: energies of Gabor filters at eight orientations and three scales.

A Gabor filter is a wave under a bell: it answers to edges and bars across the wave. The energy, from an even
and an odd filter, does not depend on where exactly in the wave the point lies. The three wavelengths are 4, 8
and 16 pixels of a picture scaled to 256; the longer ones are measured with the same filters in the picture at
half and at a quarter of its size. Responses are compressed by the rule of Weber, as Varma and Zisserman
(2005) do: a response vector of length r is scaled to the length log(1 + r / 0.03).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from karat.systems.images.extras import extra
from karat.systems.images.grid import centres

ORIENTATIONS = 8
SCALES = 3
WAVELENGTH = 4.0
BELL = 0.56 * WAVELENGTH
"""The standard deviation of the bell: a bandwidth of one octave."""
REACH = 6
WEBER = 0.03
FAINT = 1e-4
"""Shorter response vectors are zero. One step of grey makes 0.001; far less is left by rounding."""


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
    found = np.empty((SCALES * ORIENTATIONS, points, points), np.float32)
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
            found[scale * ORIENTATIONS + k] = cv2.remap(
                cv2.magnitude(even, odd), *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
        grey = cv2.pyrDown(grey)
    responses = found.reshape(len(found), -1).T
    length = np.linalg.norm(responses, axis=1, keepdims=True)
    factor = np.log1p(length / WEBER) / np.maximum(length, FAINT)
    return np.ascontiguousarray(responses * np.where(length < FAINT, 0, factor))
