"""Words of pictures on disk, so that a picture is looked at once: one small array a picture, no objects.

An entry is named by the content of the picture's file, in a folder named by everything else that decides its
words. A damaged entry, or a folder that cannot be written, costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import karat
from karat.benchmarks.cache import cache_folder

RECIPE = 1
"""Raised when the same picture and vocabulary give other words than before."""


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
        with contextlib.suppress(OSError, EOFError, ValueError):
            words = np.load(path, allow_pickle=False)
            if words.shape == self.shape and words.dtype == self.dtype:
                return words if np.all(words.max(axis=(1, 2)) < self.sizes) else None
        return None

    def put(self, path: Path, words: np.ndarray) -> None:
        """Write an entry, whole or not at all."""
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
            try:
                with os.fdopen(handle, "wb") as file:
                    np.save(file, words, allow_pickle=False)
                os.replace(draft, path)
            except BaseException:
                os.unlink(draft)
                raise
