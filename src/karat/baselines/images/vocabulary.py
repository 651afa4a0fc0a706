"""Visual words: the centres of k-means over a sample of points, and the nearest of them for every point.

The words of picture files are kept on disk, so that a picture is looked at once: one small array per picture,
no objects. An entry is named by the content of the picture's file, in a folder named by everything else that
decides its words. A damaged entry, or a folder that cannot be written, costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import karat
from karat._util import cache_folder, extra, open_entry, write_entry
from karat.baselines.images.descriptors import DESCRIPTORS
from karat.models import Source, decode_bytes, decode_image, read_bytes

Vocabularies = Mapping[str, np.ndarray]
"""By kind of word, see `DESCRIPTORS`: the centres, float32 [words, dimensions]."""
BATCH = 8192
RECIPE = 1
"""Raised when the same picture and vocabulary give other words than before."""


def fit_words(sample: np.ndarray, words: int, seed: int) -> np.ndarray:
    """Return the centres of k-means over a sample, float32 [words, dimensions].

    They are fewer where the sample has no more than `words` different points: each of these is a word then.
    scikit-learn's mini-batch k-means is used, on one thread, because several threads do not
    always add in the same order.

    Examples
    --------
    >>> fit_words(np.array([[0.0], [1.0], [0.0]]), 5, seed=0)
    array([[0.],
           [1.]], dtype=float32)
    """
    sample = np.ascontiguousarray(sample, dtype=np.float32)
    # np.unique sorts whole rows, which takes as long as k-means itself: few rows show that there are enough.
    head = np.unique(sample[: 4 * words], axis=0)
    distinct = head if len(head) > words else np.unique(sample, axis=0)
    if len(distinct) <= words:
        return distinct
    cluster, pools = extra("sklearn.cluster"), extra("threadpoolctl")
    means = cluster.MiniBatchKMeans(
        words, batch_size=BATCH, n_init=1, max_iter=30, max_no_improvement=20, random_state=seed
    )
    with pools.threadpool_limits(1):
        means.fit(sample)
    return means.cluster_centers_.astype(np.float32)


def draw(
    pictures: int, most_pictures: int, points: int, most_points: int, seed: int
) -> list[tuple[int, np.ndarray]]:
    """Return which pictures a sample takes, and which points of each; all where there are no more.

    Examples
    --------
    >>> sample = draw(10, 2, 100, 3, seed=0)
    >>> len(sample), [len(places) for _, places in sample]
    (2, [3, 3])
    """
    rng = np.random.default_rng(seed)
    chosen = rng.choice(pictures, min(most_pictures, pictures), replace=False)
    return [(int(k), rng.choice(points, min(most_points, points), replace=False)) for k in chosen]


def nearest_words(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the number of the nearest centre of every point; the first of several equally near.

    Examples
    --------
    >>> nearest_words(np.array([[0.1], [0.9], [0.5]]), np.array([[0.0], [1.0]]))
    array([0, 1, 0])
    """
    # |p - c|² without |p|², which is the same for all centres.
    return (0.5 * np.einsum("ij,ij->i", centres, centres) - points @ centres.T).argmin(axis=1)


def picture_words(picture: np.ndarray, points: int, vocabularies: Vocabularies) -> np.ndarray:
    """Return the words at a decoded picture's points, [kinds, points, points].

    They are bytes where no vocabulary has more than 256 words.
    """
    words = [
        nearest_words(DESCRIPTORS[kind](picture, points), centres) for kind, centres in vocabularies.items()
    ]
    return np.stack(words).astype(word_type(vocabularies)).reshape(-1, points, points)


def word_type(vocabularies: Vocabularies) -> np.dtype:
    """Return the smallest type that holds a word's number.

    >>> word_type({"colour": np.zeros((256, 3))})
    dtype('uint8')
    """
    return np.min_scalar_type(max(len(centres) for centres in vocabularies.values()) - 1)


def source_words(
    source: Source, side: int, points: int, vocabularies: Vocabularies, cache: WordCache | None = None
) -> np.ndarray:
    """Return the words of a file or an array: from the cache, or by reading and decoding it once."""
    if isinstance(source, np.ndarray):
        return picture_words(decode_image(source, side=side), points, vocabularies)
    data = read_bytes(source)
    path = None if cache is None else cache.path(data)
    if cache is not None and path is not None and (entry := cache.get(path)) is not None:
        return entry
    words = picture_words(decode_bytes(data, side=side, where=source), points, vocabularies)
    if cache is not None and path is not None:
        cache.put(path, words)
    return words


def words_key(parameters: Mapping[str, int], vocabularies: Mapping[str, np.ndarray]) -> str:
    """Return a name for parameters, vocabularies and the versions of the packages that compute words."""
    versions = [karat.__version__]
    for package in ("Pillow", "opencv-python-headless"):
        # Another build of OpenCV may be installed under another name.
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(importlib.metadata.version(package))
    digest = hashlib.sha256(json.dumps([RECIPE, versions, dict(parameters)], sort_keys=True).encode())
    for name, centres in vocabularies.items():
        digest.update(f"{name}{centres.shape}".encode() + centres.tobytes())
    return digest.hexdigest()[:32]


class WordCache:
    """The entries of one vocabulary, in ``features`` below karat's cache folder.

    Parameters
    ----------
    key
        The folder's name, see `words_key`.
    shape, dtype
        What an entry must be; anything else counts as damaged.
    sizes
        How many words each of an entry's tables has.
    """

    def __init__(self, key: str, shape: tuple[int, ...], dtype: np.dtype, sizes: Sequence[int]) -> None:
        self.folder = cache_folder() / "features" / key
        self.shape, self.dtype, self.sizes = shape, dtype, np.array(sizes)

    def path(self, data: bytes) -> Path:
        """Return where the words of a file with this content are."""
        name = hashlib.sha256(data).hexdigest()
        return self.folder / name[:2] / f"{name}.npy"

    def get(self, path: Path) -> np.ndarray | None:
        """Return an entry, or None."""
        with contextlib.suppress(Exception), open_entry(path) as file:
            words = np.load(file, allow_pickle=False)
            if words.shape == self.shape and words.dtype == self.dtype:
                return words if np.all(words.max(axis=(1, 2)) < self.sizes) else None
        return None

    def put(self, path: Path, words: np.ndarray) -> None:
        """Write an entry, whole or not at all."""
        write_entry(path, lambda draft: np.save(draft, words, allow_pickle=False))
