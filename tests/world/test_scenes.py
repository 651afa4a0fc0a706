"""Scenes leave no doubt: nothing is borderline, and objects are inside and apart."""

import numpy as np

from karat.world.scenes import draw_scenes
from karat.world.vocabulary import KINDS


def test_nothing_is_borderline():
    """Every line that decides something runs through a gap in which no centre lies."""
    scenes = draw_scenes(4000, seed=2)
    for centre in (scenes.x.astype(int), scenes.y.astype(int)):
        assert min(abs(centre - 56).min(), abs(centre - 112).min()) >= 24
        apart = np.abs(centre[:, None] - centre[None, :8000:97])
        assert not ((apart > 8) & (apart < 48)).any()
        assert not ((apart > 64) & (apart < 104)).any()


def test_objects_are_inside_and_apart():
    scenes = draw_scenes(2000, seed=3)
    box = scenes.box
    assert box.min() >= 0
    assert (box[:, :2] + box[:, 2:]).max() <= 168
    assert np.diff(scenes.ptr).min() >= 1
    assert np.diff(scenes.ptr).max() <= 8
    for begin, end in zip(scenes.ptr, scenes.ptr[1:]):
        some = box[begin:end]
        for k, (x, y, w, h) in enumerate(some):
            for u, v, a, b in some[:k]:
                assert x >= u + a or u >= x + w or y >= v + b or v >= y + h
    kinds = [set(scenes.kind[b:e]) for b, e in zip(scenes.ptr, scenes.ptr[1:])]
    assert {len(k) for k in kinds} == {1, 2, 3}
    assert set(scenes.kind) == set(range(len(KINDS)))
