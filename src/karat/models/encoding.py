"""A benchmark, encoded by a model: what the model says about its images and captions, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.benchmarks import Benchmark, load_benchmark
from karat.captions import Queries, all_pairs, asked_texts
from karat.errors import InputError
from karat.models.cosine import unit
from karat.models.encoder import Encoder, Says, load_model
from karat.models.image_text_model import pictures_of
from karat.models.summariser import Summariser, load_summariser
from karat.models.text_metric import TextMetric
from karat.runs import EmbeddingRun, MatrixRun


def encode(
    model: Any,
    benchmark: Benchmark | str | Path,
    *,
    queries: Queries | None = None,
    summarise: str | Summariser | None = None,
    setting: Mapping[str, Any] | None = None,
    says: Says | None = None,
) -> EmbeddingRun | MatrixRun:
    """Return the images and captions of a benchmark, encoded by a model, as a run.

    A model of pictures and texts gives two tables of vectors of length 1. A model of texts alone sees an
    image through its captions (Explainable §3.2): the mean of their vectors, without the caption that asks.
    What an image is thus depends on who asks, so that the run is a table of cosines.

    Parameters
    ----------
    model
        A model or its name, as `karat.load_model` takes it.
    benchmark
        One with captions, and with picture files unless the model encodes texts alone.
    queries
        Other texts in place of captions, by the captions' ids, such as perturbed ones: the columns are these,
        in their order. For a model of texts, the original caption stays excluded from its image.
    summarise
        For a model of texts: "extractive", "joined", "transformers:FOLDER", or an object with ``summarise``,
        which makes one text of an image's captions first.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.
    says
        Called with a sentence before each part of the work.

    Returns
    -------
    EmbeddingRun or MatrixRun
        With the ids of its rows and columns; `karat.evaluate` takes it.

    Examples
    --------
    >>> from karat.world import make_world
    >>> def words(texts):
    ...     return [[float(word in text.split()) for word in ("a", "dog", "cat", "red")] for text in texts]
    >>> encode(words, make_world(10, seed=1).benchmark())
    MatrixRun('words': score table of 10 images by 50 captions, float32)
    """
    encoder = load_model(model)
    if not isinstance(benchmark, Benchmark):
        benchmark = load_benchmark(benchmark, **(setting or {}))
    say = says or (lambda _: None)
    caption, texts = asked_texts(benchmark, queries)
    ids = {"images": benchmark.images.gallery, "captions": benchmark.captions.gallery[caption]}

    def shown(done: int, total: int) -> None:
        say(f"{encoder.name}: {done:,} of {total:,} texts")

    if encoder.images is None:
        summariser = None if summarise is None else load_summariser(summarise, encoder)
        metric = TextMetric(encoder, summariser, progress=shown)
        say(f"{encoder.name}: reading {len(texts):,} captions")
        return MatrixRun(all_pairs(benchmark, metric, leave_out=True, queries=queries), encoder.name, ids)
    if summarise is not None:
        raise InputError(f"{encoder.name} sees pictures, not captions", fix="leave out --summarise")
    images = pictures_of(benchmark)
    say(f"reading {len(images):,} pictures")
    pictures = unit(encoder.encode_images(images))
    say(f"reading {len(texts):,} captions")
    return EmbeddingRun(pictures, unit(encoder.encode_texts(texts, progress=shown)), encoder.name, ids=ids)


def notes_on(encoder: Encoder, summarise: str | None = None) -> list[str]:
    """Return what a reader of a model's run should know."""
    if encoder.images is not None:
        return []
    how = "the mean of its captions' vectors"
    if summarise is not None:
        how = f"the vector of its captions' summary ({summarise})"
    asked = "without the caption that asks; the scores are cosines"
    return [f"{encoder.name} encodes no pictures: an image is {how}, {asked}"]
