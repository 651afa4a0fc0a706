"""What colour words are made of: the CIELAB coordinates of single pixels."""

from __future__ import annotations

import numpy as np

from karat.systems.images.extras import extra
from karat.systems.images.grid import nearest


def colour_points(picture: np.ndarray, points: int) -> np.ndarray:
    """Return L*, a* and b* (D65) at the points of a picture, float32 [points², 3].

    Examples
    --------
    >>> colour_points(np.full((2, 2, 3), 255, np.uint8), 1).round(1) + 0
    array([[100.,   0.,   0.]], dtype=float32)
    """
    rows, columns = nearest(picture.shape[0], points), nearest(picture.shape[1], points)
    chosen = picture[rows[:, None], columns]
    cv2 = extra("cv2")
    return cv2.cvtColor(chosen.astype(np.float32) / 255, cv2.COLOR_RGB2LAB).reshape(-1, 3)
