"""A benchmark, encoded by a model: what the model says about its images and captions, as a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_writable, keeping, track
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions import Queries, asked_texts, own_references, references_of
from karat.errors import InputError
from karat.models.cosine import unit
from karat.models.embedding_cache import picture_keys
from karat.models.encoder import ENCODERS, MODEL_HEAD, Encoder, load_model
from karat.models.summariser import Summariser, load_summariser
from karat.models.text_metric import TextMetric
from karat.runs import (
    RUN_MAKERS,
    WRITERS,
    Compute,
    EmbeddingRun,
    Fingerprint,
    MatrixRun,
    Run,
    RunMaker,
    ShardFolder,
    check_target,
    convert,
    load_run,
    notes_on_making,
    writer_of,
)

ROWS = 4096
"""How many rows one file of a sharded run has."""
NAMED = 5
"""How many of the captions that were cut are named."""


def encode(
    model: Any,
    benchmark: Benchmark | str | Path,
    *,
    output: str | Path | None = None,
    weights: str | Path | None = None,
    prompt: str | None = None,
    precision: str | None = None,
    device: str | None = None,
    batch: int | None = None,
    queries: Queries | None = None,
    summarise: str | Summariser | None = None,
    setting: Mapping[str, Any] | None = None,
) -> Run:
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
    output
        Where the run is written. A name without an extension is a new folder of safetensors files, written
        file by file: what an interrupted call left there is continued, and ends in the same bytes; with
        another model or other captions it is an error. Else a file that holds vectors or scores.
    weights, prompt, precision, device, batch
        Of a model that is given by name, as `karat.load_model` takes them.
    queries
        Changed captions in place of the benchmark's: what `karat.perturb` returned or wrote, or new texts by
        the captions' ids. The columns are these, in their order. For a model of texts, the original
        caption stays excluded from its image.
    summarise
        For a model of texts: "extractive", "joined", "transformers:FOLDER", or an object with ``summarise``,
        which makes one text of an image's captions first.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.

    Returns
    -------
    EmbeddingRun or MatrixRun
        What `karat.evaluate` takes, with the ids of its rows and columns, what it was made with, the
        `files` that were written, and `notes`.

    Examples
    --------
    >>> from karat.world import make_world
    >>> def words(texts):
    ...     return [[float(word in text.split()) for word in ("a", "dog", "cat", "red")] for text in texts]
    >>> encode(words, make_world(10, seed=1).benchmark())
    MatrixRun('words': score table of 10 images by 50 captions, float32)
    """
    target, folder = checked(output)
    encoder = load_model(
        model, weights=weights, prompt=prompt, precision=precision, device=device, batch=batch
    )
    run = encoded(encoder, as_benchmark(benchmark, setting), queries, summarise, folder)
    run.notes = tuple(notes_on(encoder, summarise, run))
    if folder is not None:
        run.files = (folder,)
    elif target is not None:
        tables = (run.images, run.captions) if isinstance(run, EmbeddingRun) else (run.scores,)  # type: ignore[attr-defined]
        run.files = tuple(
            convert(*tables, target=target, ids=run.ids, similarity="cosine", made_with=run.made_with)  # type: ignore[attr-defined]
        )
    return run


def checked(output: str | Path | None) -> tuple[Path | None, Path | None]:
    """Return the file to write and the folder, one at most; raise before the work where that cannot be."""
    if output is None:
        return None, None
    path = Path(output)
    if not path.suffix:
        check_target(path)
        return None, path
    check_writable(path)
    if not {"scores", "embeddings"} & {*writer_of(path).holds}:
        what = f"a {path.suffix} file holds ranked lists, not vectors or scores"
        fix = f"use one of {', '.join(vector_files())}; karat convert makes lists of it"
        raise InputError(what, where=path, fix=fix)
    return path, None


def vector_files() -> list[str]:
    """Return the extensions of files that hold tables of scores or vectors."""
    kinds = {"scores", "embeddings"}
    return [name for name in WRITERS if name.startswith(".") and kinds & {*WRITERS[name].holds}]


def encoded(
    encoder: Encoder,
    benchmark: Benchmark,
    queries: Queries | None,
    summarise: str | Summariser | None,
    folder: Path | None,
) -> Run:
    """Return the run of a loaded model; one of pictures and texts is written into the folder, if given."""
    benchmark.check_image_text()
    caption, texts = asked_texts(benchmark, queries)
    ids = {"images": benchmark.images.gallery, "captions": benchmark.captions.gallery[caption]}

    if encoder.images is None:
        if folder is not None:
            fix = "name a file, such as scores.npy"
            raise InputError(f"{encoder.name} encodes no pictures and gives a table of scores", fix=fix)
        summariser = None if summarise is None else load_summariser(summarise, encoder)
        metric = TextMetric(encoder, summariser)
        # Here, wherever other tables are computed: the model is on this machine.
        own = own_references(benchmark, caption)
        scores = metric.matrix(references_of(benchmark), texts, own=own)
        run: Run = MatrixRun(scores, encoder.name, ids)
        # Every text is in the cache by now, or the model keeps none.
        cut = encoder.read_texts(texts).cut if encoder.fingerprint is not None else np.zeros(len(texts), bool)
        run.made_with = with_cut(encoder.made_with, ids["captions"][np.asarray(cut)])
        return run
    if summarise is not None:
        raise InputError(f"{encoder.name} sees pictures, not captions", fix="leave out summarise")
    images = list(benchmark.needed_image_paths)
    if folder is not None:
        return encode_into(folder, encoder, images, list(texts), ids)
    pictures = unit(encoder.encode_images(images))
    rows, cut = encoder.read_texts(texts)
    run = EmbeddingRun(pictures, unit(rows), encoder.name, ids=ids)
    run.made_with = with_cut(encoder.made_with, ids["captions"][np.asarray(cut)])
    return run


def encode_into(
    folder: Path, encoder: Encoder, images: list[str], texts: list[str], ids: Mapping[str, Any]
) -> Run:
    """Return the run in a folder, after encoding the parts that it lacks, each into a file of its own."""
    check_target(folder)
    made_with = encoder.made_with
    shards = ShardFolder(folder, digest_inputs(images, texts, ids), made_with, ROWS)
    with keeping(lambda: f"what is finished kept in {folder}"):
        cut = fill(shards, encoder, images, texts)
    shards.finish(ids, with_cut(made_with, ids["captions"][cut]), encoder.name)
    run = load_run(folder)
    run.name = encoder.name
    return run


def fill(shards: ShardFolder, encoder: Encoder, images: list[str], texts: list[str]) -> list[int]:
    """Write the files that a folder lacks, and return which captions were cut."""
    for path, part in track(list(shards.parts("images", len(images))), "files of pictures"):
        if shards.read(path, part.stop - part.start) is None:
            shards.write(path, unit(encoder.encode_images(images[part])))
    cut: list[int] = []
    for path, part in track(list(shards.parts("captions", len(texts))), "files of captions"):
        rows = shards.read(path, part.stop - part.start)
        if rows is None:
            vectors, too_long = encoder.read_texts(texts[part])
            rows = np.flatnonzero(too_long).tolist()
            shards.write(path, unit(vectors), rows)
        cut += [part.start + row for row in rows]
    return cut


def digest_inputs(images: Sequence[str], texts: Sequence[str], ids: Mapping[str, Any]) -> str:
    """Return a digest of what is encoded: ids, captions, and the bytes of the pictures."""
    pictures = [key.hex() for key in picture_keys(images)]
    content = [[np.asarray(listed).tolist() for listed in ids.values()], list(texts), pictures]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def with_cut(made_with: Fingerprint, cut: Any) -> Fingerprint:
    """Return what a run was made with, and which captions the model read only the beginning of, by id.

    A model that states no limit, such as your own function, does not say that it read all of them.
    """
    if not len(cut) and "text.max_tokens" not in made_with.facts:
        return made_with
    first = {"captions.truncated.first": ", ".join(map(str, cut[:NAMED]))} if len(cut) else {}
    return made_with.with_facts({"captions.truncated": len(cut), **first})


def notes_on(encoder: Encoder, summarise: Any = None, run: Run | None = None) -> list[str]:
    """Return what a reader of a model's run should know."""
    made = {} if run is None or run.made_with is None else {run.name: run.made_with}
    notes = notes_on_making(made)
    if encoder.images is not None:
        return notes
    how = "the mean of its captions' vectors"
    if summarise is not None:
        how = f"the vector of its captions' summary ({summarise})"
    asked = "without the caption that asks; the scores are cosines"
    return [f"{encoder.name} encodes no pictures: an image is {how}, {asked}", *notes]


def run_of(model: Any, benchmark: Benchmark, compute: Compute) -> Run:
    """Return the run of a model on a benchmark: what `karat.evaluate` does with a model among its runs."""
    if isinstance(model, str | Path):
        model = load_model(model, device=compute.device)
    run = encode(model, benchmark)
    run.device = None if run.made_with is None else str(run.made_with.facts.get("device"))
    return run


def names_model(name: str) -> bool:
    """Whether a name in place of a run's file is that of a model.

    Not ``module:function``: files name runs, too (a project those of its goal), and nothing that a file names
    is imported.
    """
    scheme, colon, _ = name.partition(":")
    return scheme in ENCODERS and ENCODERS[scheme].explicit if colon else (Path(name) / MODEL_HEAD).is_file()


RUN_MAKERS.add("model", RunMaker(names_model, run_of))
