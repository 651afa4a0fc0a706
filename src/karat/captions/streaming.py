"""φ of every image and every caption, block by block, in memory or streamed into a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from karat.captions.metric import Own, Prepared, Progress
from karat.validation import InputError, check_writable, plural

TYPE = np.dtype(np.float32)
CELLS_PER_BLOCK = 1 << 24
"""64 MiB of float32: large enough to share the work on a block, small enough to stream."""


def table_of(
    prepared: Prepared,
    *,
    own: Own | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return N[i, j] = φ(image i, candidate j), float32; see `CaptionMetric.matrix`.

    >>> from karat.captions.metrics.hodosh import HodoshBleu
    >>> prepared = HodoshBleu().prepare([["a dog", "two dogs"], ["a cat"]], ["a dog", "a cat"])
    >>> table_of(prepared)
    array([[1. , 0.5],
           [0.5, 1. ]], dtype=float32)
    >>> table_of(prepared, own=(np.array([0, 1]), np.array([0, 0])))
    array([[0. , 0.5],
           [0.5, 0. ]], dtype=float32)
    """
    shape = prepared.n_images, prepared.n_captions
    parts = blocks(prepared, None if own is None else check_own(own, prepared), threads, progress)
    if out is None:
        table = np.empty(shape, dtype=TYPE)
        for begin, part in parts:
            table[begin : begin + len(part)] = part
        return table
    path = Path(out)
    check_writable(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Written, not mapped: a full disk is then an error, and not the end of the process.
        with partial.open("wb") as handle:
            np.lib.format.write_array_header_1_0(
                handle, {"descr": TYPE.str, "fortran_order": False, "shape": shape}
            )
            for _, part in parts:
                handle.write(part.data)
        partial.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", where=path, fix="choose another place") from None
    finally:
        partial.unlink(missing_ok=True)
    return np.load(path, mmap_mode="r" if min(shape) else None)


def blocks(
    prepared: Prepared, own: Own | None, threads: int | None, progress: Progress | None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each block with its first image; a candidate meets its own image without itself."""
    image = caption = np.empty(0, dtype=np.int64)
    alone = np.empty(0)
    if own is not None:
        caption = np.flatnonzero(own[1] >= 0)
        image = own[0][caption]
        alone = prepared.at(image, caption, own[1][caption])
    step = max(1, CELLS_PER_BLOCK // max(1, prepared.n_captions))
    for begin in range(0, prepared.n_images, step):
        end = min(begin + step, prepared.n_images)
        part = prepared.block(begin, end, threads)
        here = (begin <= image) & (image < end)
        part[image[here] - begin, caption[here]] = alone[here]
        yield begin, part
        if progress is not None:
            progress(end, prepared.n_images)


def check_own(own: Own, prepared: Prepared) -> Own:
    """Return images and numbers as arrays, or raise where there is not one for each candidate."""
    image, number = (np.asarray(part, dtype=np.int64) for part in own)
    if image.shape != (prepared.n_captions,) or number.shape != image.shape:
        raise InputError(
            f"own names {plural(image.size, 'image')} and {plural(number.size, 'number')}",
            fix=f"give one of each for the {plural(prepared.n_captions, 'candidate')}, −1 for none",
        )
    if image.size and image.max() >= prepared.n_images:
        raise InputError(f"own names image {image.max()}", fix=f"there are {prepared.n_images:,}, from 0")
    return image, np.where(image < 0, -1, number)
