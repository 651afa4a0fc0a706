"""Images of the benchmark; their first bytes, not their names, tell their type."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from karat.benchmarks import Benchmark, picture_kind

MOST_BYTES = 40_000_000


class NoPicture(Exception):
    """The image cannot be shown; the message says why, without naming the file."""


def read_picture(benchmark: Benchmark, image: int) -> tuple[bytes, str]:
    """Return the bytes and the media type of an image of the benchmark, or raise `NoPicture`.

    Parameters
    ----------
    benchmark
        Only the files of its paths are ever opened.
    image
        The index of the image.
    """
    paths = benchmark.image_paths
    if paths is None or not 0 <= image < len(paths):
        raise NoPicture("The benchmark has no image files.")
    data = read_bytes(Path(paths[image]))
    kind = picture_kind(data)
    if kind is None:
        raise NoPicture("The image file is not a JPEG, PNG, GIF, WebP, AVIF or BMP.")
    return data, kind


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file of bounded size."""
    try:
        # Opening a named pipe must not block.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        raise NoPicture("The image file is missing.") from None
    about = os.fstat(number)
    if not stat.S_ISREG(about.st_mode):
        os.close(number)
        raise NoPicture("The image file is missing.")
    with open(number, "rb") as file:
        if about.st_size > MOST_BYTES:
            raise NoPicture("The image file is too large.")
        return file.read(MOST_BYTES)
