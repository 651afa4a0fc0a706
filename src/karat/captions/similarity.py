"""φ of every image with every caption of a benchmark, from its own captions."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import karat
from karat.benchmarks import Benchmark
from karat.benchmarks.cache import cache_folder
from karat.captions.metric import CAPTION_METRICS, CaptionMetric
from karat.captions.references import find_metric, own_references, references_of
from karat.scores.similarity import SIMILARITIES
from karat.validation import InputError

LARGE = 1 << 30
"""Tables of more bytes than this are kept in a file of the cache folder instead of in memory."""


def all_pairs(
    benchmark: Benchmark,
    metric: str | CaptionMetric = "cider",
    *,
    leave_out: bool = False,
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Return N[i, j] = φ(captions of image i, caption j) over a benchmark (Semantic margin eq. 3).

    Parameters
    ----------
    benchmark
        One that holds its captions and knows whose they are.
    metric
        A caption metric or its name.
    leave_out
        Whether a caption is left out of the references of its own image.
    out
        Write the table into this npy file, block by block, and return it mapped into memory.
    threads, progress
        See `CaptionMetric.matrix`.

    Returns
    -------
    Images by captions, float32, in the benchmark's order.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(20, seed=3)
    >>> all_pairs(world.benchmark(), "hodosh-bleu").shape
    (20, 100)
    """
    references = references_of(benchmark)
    assert benchmark.texts is not None  # references_of has looked
    own = own_references(benchmark, np.arange(benchmark.captions.size)) if leave_out else None
    return find_metric(metric).matrix(
        references, benchmark.texts, own=own, out=out, threads=threads, progress=progress
    )


def kept(benchmark: Benchmark, threads: int | None = None, *, metric: str) -> np.ndarray:
    """Return `all_pairs`; a table that is too large for memory stays in the cache folder, for next time."""
    if 4 * benchmark.images.size * benchmark.captions.size <= LARGE:
        return all_pairs(benchmark, metric, threads=threads)
    path = cache_folder() / "similarities" / f"{metric}-{fingerprint(benchmark)}.npy"
    with contextlib.suppress(OSError, ValueError):
        return np.load(path, mmap_mode="r", allow_pickle=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "name a folder with room in KARAT_CACHE"
        raise InputError(f"cannot be made ({error.strerror})", where=path.parent, fix=fix) from None
    return all_pairs(benchmark, metric, out=path, threads=threads)


def fingerprint(benchmark: Benchmark) -> str:
    """Return a name for the captions of a benchmark and whose they are, as this version reads them."""
    read = hashlib.sha256(karat.__version__.encode())
    read.update(np.ascontiguousarray(benchmark.caption_image).tobytes())
    for text in (*(benchmark.texts or ()), *(text for own in benchmark.other_texts or () for text in own)):
        read.update(text.encode("utf-8", "surrogatepass") + b"\0")
    read.update(np.array([len(own) for own in benchmark.other_texts or ()], dtype=np.int64).tobytes())
    return read.hexdigest()[:24]


for _name in CAPTION_METRICS:
    SIMILARITIES.add(_name, partial(kept, metric=_name), CAPTION_METRICS[_name].aliases)
