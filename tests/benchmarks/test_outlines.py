"""Outlines of masks: what lies inside by the even-odd rule is the mask, pixel for pixel."""

import numpy as np
import pytest

from karat.benchmarks import outline

tool = pytest.importorskip("pycocotools.mask", reason="needs masks: pip install 'karat[masks]'")


def filled(lines, height, width):
    """Return the pixels left of which an odd number of upright edges lies."""
    inside = np.zeros((height, width), int)
    for line in lines:
        points = np.array(line).reshape(-1, 2)
        for (x, y), (other_x, other_y) in zip(points, np.roll(points, -1, axis=0)):
            assert (x == other_x) != (y == other_y), "edges run along pixels, and have a length"
            if x == other_x:
                inside[min(y, other_y) : max(y, other_y), x:] += 1
    return inside % 2


def test_outline_encloses_the_mask():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        height, width = rng.integers(1, 14, 2)
        mask = (rng.random((height, width)) < rng.random()).astype(np.uint8)
        lines = outline(tool.encode(np.asfortranarray(mask)))
        np.testing.assert_array_equal(filled(lines, height, width), mask, f"seed {seed}")


def test_hole_and_touching_pixels():
    ring = np.ones((3, 3), np.uint8)
    ring[1, 1] = 0
    assert sorted(map(len, outline(tool.encode(np.asfortranarray(ring))))) == [8, 8]
    assert outline(tool.encode(np.zeros((4, 5), np.uint8, order="F"))) == []
    for diagonal in (np.eye(2, dtype=np.uint8), np.eye(2, dtype=np.uint8)[::-1]):
        lines = outline(tool.encode(np.asfortranarray(diagonal)))
        np.testing.assert_array_equal(filled(lines, 2, 2), diagonal)
