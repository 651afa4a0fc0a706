"""A folder for what was parsed once: arrays only, written whole or not at all."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import karat
from karat._util.files import write_file
from karat._util.settings import setting_of
from karat.errors import KaratError

Arrays = dict[str, np.ndarray]


def cache_folder() -> Path:
    """Return the folder: the setting, by default ``karat`` in the user's cache folder."""
    return setting_of("cache")


def cached(name: str, inputs: Sequence[Path], parse: Callable[[], Arrays]) -> Arrays:
    """Return what `parse` returns, from the cache while `inputs` and karat's version stay the same.

    A cache that is damaged, or a folder that cannot be written, costs time and nothing else.
    """
    stats = [path.stat() for path in inputs]
    stamp = np.array([karat.__version__, *(f"{s.st_size}:{s.st_mtime_ns}" for s in stats)])
    path = cache_folder() / f"{name}.npz"
    with (
        contextlib.suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile),
        np.load(path, allow_pickle=False) as stored,
    ):
        if np.array_equal(stored["stamp"], stamp):
            return {key: stored[key] for key in stored.files if key != "stamp"}
    arrays = parse()
    with contextlib.suppress(OSError, KaratError):
        write_file(
            path,
            lambda draft: np.savez(draft, allow_pickle=False, stamp=stamp, **arrays),
            durable=False,
            parents=True,
        )
    return arrays
