"""Fixtures of the tests of image features."""

import numpy as np
import pytest
from PIL import Image

from karat.baselines.images import ImageFeatures

from .pictures import SMALL, photo


@pytest.fixture(scope="module")
def scenes() -> list[np.ndarray]:
    return [photo(seed) for seed in range(8)]


@pytest.fixture(scope="module")
def fitted(scenes) -> ImageFeatures:
    return ImageFeatures(**SMALL).fit(scenes)


@pytest.fixture
def files(scenes, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "images").mkdir()
    paths = [tmp_path / "images" / f"{number}.png" for number in range(len(scenes))]
    for path, scene in zip(paths, scenes):
        Image.fromarray(scene).save(path)
    return paths
