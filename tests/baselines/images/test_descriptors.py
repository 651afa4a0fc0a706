"""What words are made of: colours, textures and SIFT descriptors at points."""

import numpy as np
import pytest

from karat.baselines.images.descriptors import (
    ORIENTATIONS,
    centres,
    colour_points,
    gabor_bank,
    nearest_pixels,
    sift_points,
    texture_points,
)
from karat.models.pixels import decode_image

from .pictures import photo

ALL = [(colour_points, 3), (texture_points, 24), (sift_points, 128)]


@pytest.mark.parametrize(("describe", "width"), ALL)
@pytest.mark.parametrize("shape", [(1, 1), (1, 256), (256, 1), (3, 200), (256, 192)])
def test_any_shape_gives_the_same_number_of_finite_points(describe, width: int, shape: tuple[int, int]):
    found = describe(photo(0, *shape) if min(shape) > 8 else np.full((*shape, 3), 99, np.uint8), 8)
    assert found.shape == (64, width)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


@pytest.mark.parametrize("length", [1, 2, 7, 64, 256])
def test_points_lie_inside_and_evenly(length: int):
    at = centres(length, 8)
    np.testing.assert_allclose(np.diff(at), length / 8, rtol=1e-5)
    np.testing.assert_allclose(at + at[::-1], length - 1, atol=1e-5)
    assert np.abs(nearest_pixels(length, 8) - at).max() <= 0.5


def test_cielab_equals_its_definition():
    rgb = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    c = rgb.reshape(-1, 3) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                       [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
    xyz = linear @ to_xyz.T / [0.95047, 1, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    wanted = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
    assert np.abs(colour_points(rgb, 16) - wanted).max() < 0.5


def test_colours_are_those_of_pixels_and_no_mixtures():
    board = np.zeros((64, 64, 3), np.uint8)
    board[::2, ::2] = board[1::2, 1::2] = 255
    assert set(colour_points(board, 16)[:, 0].round().tolist()) <= {0.0, 100.0}


def test_filters_are_blind_to_even_surfaces():
    for one in gabor_bank():
        assert abs(one.sum()) < 1e-5
        assert np.abs(one).sum() == pytest.approx(1, abs=1e-5)
    assert (texture_points(np.full((64, 64, 3), 77, np.uint8), 4) == 0).all()
    # One step of grey is still seen.
    step = np.full((64, 64, 3), 77, np.uint8)
    step[:, 32:] += 1
    assert texture_points(step, 8).max() > 0.01


@pytest.mark.parametrize("scale", range(3))
@pytest.mark.parametrize("turn", range(ORIENTATIONS))
def test_a_wave_is_heard_at_its_orientation_and_scale(scale: int, turn: int):
    y, x = np.mgrid[:128, :128]
    angle, wavelength = np.pi * turn / ORIENTATIONS, 4 * 2**scale
    wave = 127 + 100 * np.cos(2 * np.pi / wavelength * (x * np.cos(angle) + y * np.sin(angle)))
    found = texture_points(np.stack([wave.astype(np.uint8)] * 3, axis=2), 8).reshape(8, 8, -1)
    assert int(found[2:6, 2:6].mean(axis=(0, 1)).argmax()) == scale * ORIENTATIONS + turn


def test_energy_does_not_depend_on_the_phase():
    x = np.arange(128)
    rows = [127 + 100 * np.cos(2 * np.pi * x / 8 + phase) for phase in (0, 1, 2)]
    found = [
        texture_points(np.broadcast_to(r.astype(np.uint8)[None, :, None], (128, 128, 3)).copy(), 8).reshape(
            8, 8, -1
        )[2:6, 2:6]
        for r in rows
    ]
    np.testing.assert_allclose(found[0].mean(axis=(0, 1)), found[1].mean(axis=(0, 1)), atol=0.02)
    np.testing.assert_allclose(found[0].mean(axis=(0, 1)), found[2].mean(axis=(0, 1)), atol=0.02)


def test_descriptors_have_length_one_or_are_zero():
    scene = decode_image(photo(1))
    scene[:, :128] = 50
    length = np.linalg.norm(sift_points(scene, 16), axis=1)
    assert np.isin(length.round(5), [0, 1]).all()
    assert 0 < (length == 0).sum() < len(length)


def test_descriptors_ignore_brightness_and_contrast():
    scene = (decode_image(photo(2)) // 2 + 20).astype(np.uint8)
    brighter, weaker = scene + np.uint8(60), (scene.astype(float) * 0.8).astype(np.uint8)
    found = sift_points(scene, 16)
    np.testing.assert_allclose(sift_points(brighter, 16), found, atol=1e-3)
    assert np.median((sift_points(weaker, 16) * found).sum(axis=1)) > 0.99


def test_descriptors_turn_with_the_picture():
    scene = decode_image(photo(3, 64, 64))
    found = sift_points(scene, 16).reshape(16, 16, 4, 4, 8)
    # A quarter turn to the right moves points, places and directions alike.
    turned = sift_points(np.ascontiguousarray(np.rot90(scene, -1)), 16).reshape(16, 16, 4, 4, 8)
    wanted = np.rot90(np.rot90(found, -1, axes=(0, 1)), -1, axes=(2, 3))
    same = (np.roll(wanted, 2, axis=4) * turned).sum(axis=(2, 3, 4))
    assert np.median(same[same > 0]) > 0.95


def test_descriptors_are_like_those_of_opencv():
    import cv2

    scene = decode_image(np.random.default_rng(4).integers(0, 256, (24, 24, 3), dtype=np.uint8))
    at = centres(256, 16)
    # OpenCV's places are 1.5 times as wide as a keypoint's size.
    keypoints = [cv2.KeyPoint(float(x), float(y), 4 / 1.5, 0) for y in at for x in at]
    kept, theirs = cv2.SIFT_create().compute(cv2.cvtColor(scene, cv2.COLOR_RGB2GRAY), keypoints)
    assert len(kept) == len(keypoints)
    theirs = theirs / np.linalg.norm(theirs, axis=1, keepdims=True)
    # OpenCV's directions turn from right to up.
    ours = sift_points(scene, 16).reshape(-1, 4, 4, 8)[..., -np.arange(8)].reshape(-1, 128)
    same = (ours * theirs).sum(axis=1)
    assert np.median(same) > 0.95
