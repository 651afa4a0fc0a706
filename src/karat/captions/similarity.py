"""Similarity by meaning: φ of a benchmark's images and captions, by the captions that each image has.

`pair_scores` gives φ of listed pairs and `all_pairs` the table of all of them. Every caption metric is
registered here as a similarity, so that measures such as NCS and SR can use it by its name.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import karat
from karat._util import NotOwnError, Scheduler, cache_folder, connected, make_folders, open_entry
from karat.benchmarks import Benchmark
from karat.captions.metric import CAPTION_METRICS, CaptionMetric
from karat.captions.perturbed_queries import read_queries
from karat.errors import InputError
from karat.scores import SIMILARITIES

Queries = Mapping[str, str] | str | Path | Any
"""Changed captions: what `karat.perturb` returned or wrote, or by the id of a caption its new text."""
LARGE = 1 << 30
"""Tables of more bytes than this are kept in a file of the cache folder instead of in memory."""


def references_of(benchmark: Benchmark) -> list[list[str]]:
    """Return, per image, the captions that were written for it: those of the gallery first, then others.

    Raises where the benchmark has no captions or does not know which images they belong to.
    """
    texts = benchmark.needed_texts
    if benchmark.caption_image is None:
        fix = "a caption metric needs to know which image a caption was written for"
        raise InputError(f"{benchmark.name} does not say which images its captions belong to", fix=fix)
    references: list[list[str]] = [[] for _ in range(benchmark.images.size)]
    for image, text in zip(benchmark.caption_image.tolist(), texts):
        if image >= 0:
            references[image].append(text)
    for own, others in zip(references, benchmark.other_texts or ()):
        own += others
    return references


def own_references(benchmark: Benchmark, caption: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, per caption, the image that it was written for and its number among that image's captions.

    Both are −1 where it is unknown.
    """
    owner = np.asarray(benchmark.caption_image)
    order = np.argsort(owner, kind="stable")
    number = np.empty(len(owner), np.int64)
    number[order] = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    return owner[caption], np.where(owner[caption] < 0, -1, number[caption])


def find_metric(metric: str | CaptionMetric) -> CaptionMetric:
    """Return a caption metric by its name; one that is given already stays."""
    return CAPTION_METRICS[metric] if isinstance(metric, str) else metric


def pair_scores(
    benchmark: Benchmark,
    metric: str | CaptionMetric,
    image: np.ndarray,
    caption: np.ndarray,
    leave_out: bool = False,
) -> np.ndarray:
    """Return φ(captions of image k, caption k) for given pairs of a benchmark, float64.

    The references are all captions of the image in the benchmark, and document frequencies, where a
    metric has them, come from the references of all of its images.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    metric
        A caption metric or its name: "cider", "spice", "bleu-1", …
    image, caption
        Indices into the benchmark's gallery, one of each per pair.
    leave_out
        Whether a caption is left out of the references of its own image. By default it counts, so that
        an original pair compares a caption with itself too, as published numbers do.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> pair_scores(tiny, "hodosh-bleu", [0, 0, 1], [0, 3, 1]).tolist()
    [1.0, 0.25, 0.5]
    >>> pair_scores(tiny, "hodosh-bleu", [0, 0, 1], [0, 3, 1], leave_out=True).tolist()
    [0.5, 0.25, 0.5]
    """
    image, caption = np.asarray(image, dtype=np.int64), np.asarray(caption, dtype=np.int64)
    references, texts = references_of(benchmark), benchmark.needed_texts
    # Only the requested captions are read: often a fifth of them.
    distinct, candidate = np.unique(caption, return_inverse=True)
    prepared = find_metric(metric).prepare(references, [texts[k] for k in distinct.tolist()])
    left = None
    if leave_out:
        owner, number = own_references(benchmark, caption)
        left = np.where(owner == image, number, -1)
    return prepared.at(image, candidate, left)


def all_pairs(
    benchmark: Benchmark,
    metric: str | CaptionMetric = "cider",
    *,
    leave_out: bool = False,
    queries: Queries | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    scheduler: Scheduler | str | None = None,
) -> np.ndarray:
    """Return N[i, j] = φ(captions of image i, caption j) over a benchmark (Semantic margin eq. 3).

    Parameters
    ----------
    benchmark
        One that holds its captions and knows which images they belong to.
    metric
        A caption metric or its name.
    leave_out
        Whether a caption is left out of the references of its own image.
    queries
        Changed captions in place of the benchmark's: what `karat.perturb` returned or wrote, or new texts by
        the captions' ids. The columns are these, in their order. With `leave_out`, the original
        caption is what is left out.
    out
        Write the table into this npy file, block by block, and return it mapped into memory.
    threads
        See `CaptionMetric.matrix`.
    scheduler
        The address of a Dask scheduler, or `karat.Scheduler`: its workers compute the table, block by block.
        By default that of the settings.

    Returns
    -------
    Images by captions, float32, in the benchmark's order; or images by queries.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(20, seed=3)
    >>> all_pairs(world.benchmark(), "hodosh-bleu").shape
    (20, 100)
    """
    references = references_of(benchmark)
    caption, texts = asked_texts(benchmark, queries)
    own = own_references(benchmark, caption) if leave_out else None
    with connected(scheduler) as workers:
        return find_metric(metric).matrix(
            references, texts, own=own, out=out, threads=threads, workers=workers
        )


def asked_texts(benchmark: Benchmark, queries: Queries | None) -> tuple[np.ndarray, Sequence[str]]:
    """Return which captions of the gallery are asked, and their texts: the queries', or all of the gallery.

    >>> from karat.benchmarks import build
    >>> tiny = build("tiny", ["x"], ["1", "2"], ["x", "x"], ["a dog", "a cat"], where="tiny", about="")
    >>> asked_texts(tiny, {"2": "a bird"})
    (array([1]), ['a bird'])
    """
    if queries is None:
        return np.arange(benchmark.captions.size), benchmark.needed_texts
    texts = texts_by_id(queries, benchmark)
    if not texts:
        raise InputError("there are no queries", fix="give at least one")
    names = list(texts)
    caption = benchmark.captions.find(names)
    outside = np.flatnonzero((caption < 0) | (caption >= benchmark.captions.size))
    if outside.size:
        fix = "give the benchmark that the queries were made from"
        raise InputError(f"{benchmark.name} has no caption {names[outside[0]]!r}", fix=fix)
    return caption, list(texts.values())


def texts_by_id(queries: Queries, benchmark: Benchmark) -> Mapping[str, str]:
    """Return changed captions by the ids of the captions."""
    if isinstance(queries, Mapping):
        return queries
    if isinstance(queries, str | Path):
        listed = read_queries(queries, benchmark)
    else:
        listed = (*queries.queries, *queries.unchanged)
    return {query.caption: query.new for query in listed}


class KeptTable:
    """`all_pairs` of one metric, for `karat.scores`."""

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def check_installed(self) -> None:
        """Raise, before the work starts, where a package or data that the metric needs is missing."""
        find_metric(self.metric).check_installed()

    def __call__(self, benchmark: Benchmark, threads: int | None = None) -> np.ndarray:
        """Return the table."""
        return kept(benchmark, threads, metric=self.metric)


def kept(benchmark: Benchmark, threads: int | None = None, *, metric: str) -> np.ndarray:
    """Return `all_pairs`; a table that is too large for memory stays in the cache folder, for next time."""
    if 4 * benchmark.images.size * benchmark.captions.size <= LARGE:
        return all_pairs(benchmark, metric, threads=threads)
    path = cache_folder() / "similarities" / f"{metric}-{fingerprint(benchmark)}.npy"
    with contextlib.suppress(Exception):  # damaged heads raise several kinds
        open_entry(path).close()
        # By its name: nobody else can put another file there.
        table = np.load(path, mmap_mode="r", allow_pickle=False)
        if table.shape == (benchmark.images.size, benchmark.captions.size) and table.dtype == np.float32:
            return table
    fix = "name a folder of yours with room in KARAT_CACHE"
    try:
        make_folders(path.parent)
        path.unlink(missing_ok=True)
    except NotOwnError as error:
        raise InputError(error.why, where=error.path, fix=fix) from None
    except OSError as error:
        raise InputError(f"cannot be created ({error.strerror})", where=path.parent, fix=fix) from None
    return all_pairs(benchmark, metric, out=path, threads=threads)


def fingerprint(benchmark: Benchmark) -> str:
    """Return a name for the captions of a benchmark and their images, as this version reads them."""
    digest = hashlib.sha256(karat.__version__.encode())
    digest.update(np.ascontiguousarray(benchmark.caption_image).tobytes())
    for text in (*benchmark.needed_texts, *(text for own in benchmark.other_texts or () for text in own)):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    digest.update(np.array([len(own) for own in benchmark.other_texts or ()], dtype=np.int64).tobytes())
    return digest.hexdigest()[:24]


CAPTION_METRICS.copy_to(SIMILARITIES, KeptTable)
