"""Photographs of Flickr8k: copies find their originals, and kernels keep their promises."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from karat.baselines.images import ImageFeatures, histogram_kernel, pyramid_kernel

PICTURES = 24


@pytest.fixture(scope="module")
def photos(data) -> list[np.ndarray]:
    path = data / "flickr8k" / "images-256.tar"
    if not path.is_file():
        pytest.skip("needs flickr8k/images-256.tar in KARAT_DATA")
    found = []
    with tarfile.open(path) as archive:
        while len(found) < PICTURES:
            member = archive.next()
            if member.isfile():
                found.append(np.asarray(Image.open(io.BytesIO(archive.extractfile(member).read()))))
    return found


def copied(photo: np.ndarray) -> np.ndarray:
    """A smaller copy of low quality, a little brighter."""
    image = Image.fromarray(photo)
    held = io.BytesIO()
    image.resize((image.width * 3 // 4, image.height * 3 // 4)).point(lambda v: min(255, v + 4)).save(
        held, "JPEG", quality=60
    )
    return np.asarray(Image.open(held))


@pytest.mark.parametrize("kernel", [histogram_kernel, pyramid_kernel])
def test_copies_find_their_originals(photos, kernel):
    features = ImageFeatures(colour_words=32, texture_words=64, sift_words=64, sample_points=200)
    counts = features.fit_transform(photos)
    found = kernel(features.transform([copied(photo) for photo in photos]), counts)
    assert (found.argmax(axis=1) == np.arange(PICTURES)).mean() > 0.9
    own = kernel(counts, power=3)
    assert np.linalg.eigvalsh(own).min() > -1e-10
    assert own[np.triu_indices(PICTURES, 1)].max() < 0.9
