"""φ of given pairs of a benchmark: how well the image's own captions say that a caption fits."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import Benchmark
from karat.captions.metric import CAPTION_METRICS, CaptionMetric
from karat.validation import InputError


def references_of(benchmark: Benchmark) -> list[list[str]]:
    """Return, per image, the captions that were written for it: those of the gallery first, then others.

    Raises where the benchmark has no captions or does not know whose they are.
    """
    if benchmark.texts is None:
        fix = "load it with its captions (for coco: captions=coco_karpathy_test_captions.tsv)"
        raise InputError(f"{benchmark.name} has no captions to compare", fix=fix)
    if benchmark.caption_image is None:
        fix = "a caption metric needs to know which image a caption was written for"
        raise InputError(f"{benchmark.name} does not say whose its captions are", fix=fix)
    references: list[list[str]] = [[] for _ in range(benchmark.images.size)]
    for image, text in zip(benchmark.caption_image.tolist(), benchmark.texts):
        if image >= 0:
            references[image].append(text)
    for own, others in zip(references, benchmark.other_texts or ()):
        own += others
    return references


def own_references(benchmark: Benchmark, caption: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, per caption, the image that it was written for and its number among that image's captions.

    Both are −1 where nobody knows.
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
    >>> from karat.benchmarks.reading import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> pair_scores(tiny, "hodosh-bleu", [0, 0, 1], [0, 3, 1]).tolist()
    [1.0, 0.25, 0.5]
    >>> pair_scores(tiny, "hodosh-bleu", [0, 0, 1], [0, 3, 1], leave_out=True).tolist()
    [0.5, 0.25, 0.5]
    """
    image, caption = np.asarray(image, dtype=np.int64), np.asarray(caption, dtype=np.int64)
    references = references_of(benchmark)
    assert benchmark.texts is not None  # references_of has looked
    # Only the captions that are asked for are read: often a fifth of them.
    asked, candidate = np.unique(caption, return_inverse=True)
    prepared = find_metric(metric).prepare(references, [benchmark.texts[k] for k in asked.tolist()])
    left = None
    if leave_out:
        owner, number = own_references(benchmark, caption)
        left = np.where(owner == image, number, -1)
    return prepared.at(image, candidate, left)
