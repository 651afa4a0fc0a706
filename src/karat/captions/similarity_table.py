"""What is computed of a whole benchmark and kept in a file: φ of all pairs, and document frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, check_extension, check_writable, plural, replacing_all
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions.caption_scores import Metrics, find_metrics
from karat.captions.frequencies import DocumentFrequencies
from karat.captions.similarity import Queries, all_pairs, asked_texts, references_of
from karat.errors import InputError
from karat.runs import write_ids


@dataclass(frozen=True, eq=False)
class SimilarityTable(Result):
    """φ of every image and every caption of a benchmark.

    Parameters
    ----------
    scores
        Images by captions, float32; mapped into memory where it was written to a file.
    ids
        Those of its rows and columns: "images" and "captions".
    metric, highest
        The caption metric, and φ of a caption that could not fit better.
    path
        The file that it was written to.
    """

    scores: np.ndarray = field(repr=False)
    ids: Mapping[str, np.ndarray] = field(repr=False)
    metric: str
    highest: float
    path: Path | None = None
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the metric, its highest value, the sizes and the file."""
        images, captions = self.scores.shape
        file = None if self.path is None else str(self.path)
        return [{"metric": self.metric, "images": images, "captions": captions, "highest": self.highest,
                 "file": file}]  # fmt: skip

    def parts(self) -> list[str]:
        """Return what it is, and where."""
        images, captions = self.scores.shape
        what = f"{self.metric} of {plural(images, 'image')} by {plural(captions, 'caption')}"
        what += f", from 0 to {self.highest:g}"
        return [
            what if self.path is None else f"wrote {self.path}: {what}; ids in {ids_file(self.path).name}"
        ]


@dataclass(frozen=True, eq=False)
class FrequencyFile(Result):
    """The document frequencies of a benchmark, for cider.

    Parameters
    ----------
    frequencies
        In how many images each n-gram occurs.
    path
        The file that they were written to.
    """

    frequencies: DocumentFrequencies
    path: Path | None = None
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: how many images and n-grams, and the file."""
        file = None if self.path is None else str(self.path)
        return [{"images": self.frequencies.images, "n_grams": len(self.frequencies.grams), "file": file}]

    def parts(self) -> list[str]:
        """Return how many there are, and where."""
        what = f"{self.frequencies.images:,} images, {len(self.frequencies.grams):,} n-grams"
        return [what if self.path is None else f"wrote {self.path}: {what}"]


def score_table(
    benchmark: Benchmark | str | Path,
    metric: Metrics = "cider",
    *,
    output: str | Path | None = None,
    leave_out: bool = False,
    queries: Queries | None = None,
    corpus: str | Path | DocumentFrequencies | None = None,
    setting: Mapping[str, Any] | None = None,
) -> SimilarityTable:
    """Score every image with every caption of a benchmark by a caption metric (Semantic margin eq. 3).

    Parameters
    ----------
    benchmark
        One with captions, its name or its folder.
    metric
        A caption metric, or its name.
    output
        Write the table into this npy file, block by block, and the ids of its rows and columns beside it;
        `karat.evaluate` reads it like any run.
    leave_out
        Whether a caption is left out of the references of its own image.
    queries
        Changed captions in place of the benchmark's: what `karat.perturb` returned or wrote, or new texts by
        the captions' ids. The columns are these, in their order.
    corpus
        For cider, document frequencies or a file of them; by default those of the benchmark.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> bench = karat.world.make(images=20, seed=3).benchmark()
    >>> table = karat.captions.table(bench, "hodosh-bleu")
    >>> print(table)
    hodosh-bleu of 20 images by 100 captions, from 0 to 1
    >>> table.scores.shape
    (20, 100)
    """
    target = checked(output, ".npy")
    found = list(find_metrics(metric, corpus).values())
    if len(found) != 1:
        raise InputError(f"a table holds one metric, not {len(found)}", fix="name one: -m cider")
    known = with_captions(benchmark, setting)
    caption, _ = asked_texts(known, queries)
    ids = {"images": known.images.gallery, "captions": known.captions.gallery[caption]}
    options: dict[str, Any] = {"leave_out": leave_out, "queries": queries}
    if target is None:
        scores = all_pairs(known, found[0], **options)
    else:
        with replacing_all(target, ids_file(target)) as (table, listed):
            all_pairs(known, found[0], out=table, **options)
            write_ids(ids, listed)
        scores = np.load(target, mmap_mode="r", allow_pickle=False)
    return SimilarityTable(scores, ids, found[0].name, found[0].highest, target)


def count_frequencies(
    benchmark: Benchmark | str | Path,
    output: str | Path | None = None,
    *,
    setting: Mapping[str, Any] | None = None,
) -> FrequencyFile:
    """Count in how many images of a benchmark each n-gram occurs, for cider.

    Parameters
    ----------
    benchmark
        One with captions, its name or its folder.
    output
        Write the frequencies into this npz file, which `corpus` of the other functions takes.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> print(karat.captions.corpus(karat.world.make(images=20, seed=3).benchmark()))
    20 images, 933 n-grams
    """
    target = checked(output, ".npz")
    found = DocumentFrequencies.from_references(references_of(with_captions(benchmark, setting)))
    if target is not None:
        found.save(target)
    return FrequencyFile(found, target)


def checked(output: str | Path | None, extension: str) -> Path | None:
    """Return the file to write, or raise before the work starts where that cannot be done."""
    if output is None:
        return None
    check_writable(Path(output))
    check_extension(Path(output), (extension,))
    return Path(output)


def with_captions(benchmark: Benchmark | str | Path, setting: Mapping[str, Any] | None) -> Benchmark:
    """Return a benchmark that has captions, or raise."""
    known = as_benchmark(benchmark, setting)
    return replace(known, texts=known.needed_texts)


def ids_file(table: Path) -> Path:
    """Return the file with the ids of a table's rows and columns."""
    return table.with_suffix(".ids.json")
