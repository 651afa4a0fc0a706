"""Scores of captions: of listed pairs of a benchmark, and of candidates against one image's captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, Result, track
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions.caption_file import read_captions
from karat.captions.frequencies import DocumentFrequencies
from karat.captions.metric import CAPTION_METRICS, CaptionMetric
from karat.captions.similarity import find_metric, pair_scores
from karat.errors import InputError, MissingDataError
from karat.scores import COLUMN_NAMES, read_cells

if TYPE_CHECKING:
    import polars as pl

Metrics = str | CaptionMetric | Iterable[str] | Mapping[str, CaptionMetric]
"""One caption metric or its name, or several."""
WIDEST_HEAD = 24
"""How many letters of a candidate are shown above its column."""


@dataclass(frozen=True, eq=False)
class PairScores(Result):
    """φ of listed pairs by one or several caption metrics.

    Parameters
    ----------
    image, caption
        Their ids, one of each per pair.
    scores
        By metric, φ of each pair.
    """

    image: np.ndarray
    caption: np.ndarray
    scores: dict[str, np.ndarray]

    def to_frame(self) -> pl.DataFrame:
        """Return one row per pair: image, caption, and φ by each metric."""
        import polars as pl

        return pl.DataFrame({"image": self.image, "caption": self.caption, **self.scores})

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair: image, caption, and φ by each metric."""
        return self.to_frame().to_dicts()

    def parts(self) -> list[Layout]:
        """Return a table with a row per pair."""
        rows = [
            [str(image), str(caption), *map(show_score, values)]
            for image, caption, *values in zip(
                self.image.tolist(), self.caption.tolist(), *(each.tolist() for each in self.scores.values())
            )
        ]
        return [Layout(["image", "caption", *self.scores], rows, labels=2)]


@dataclass(frozen=True, eq=False)
class CandidateScores(Result):
    """φ of captions against the captions of one image.

    Parameters
    ----------
    candidates
        The captions that were scored.
    scores, highest
        By metric, φ of each candidate, and the value of a caption that could not fit better.
    notes
        What a reader should know.
    """

    candidates: tuple[str, ...]
    scores: dict[str, np.ndarray]
    highest: dict[str, float]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per metric and candidate."""
        return [
            {"metric": name, "candidate": text, "value": float(value), "highest": self.highest[name]}
            for name, values in self.scores.items()
            for text, value in zip(self.candidates, values)
        ]

    def parts(self) -> list[Layout]:
        """Return a table with a row per metric."""
        heads = [
            text if len(text) <= WIDEST_HEAD else f"{text[: WIDEST_HEAD - 1]}…" for text in self.candidates
        ]
        rows = [
            [name, *map(show_score, values), f"{self.highest[name]:g}"]
            for name, values in self.scores.items()
        ]
        return [Layout(["metric", *heads, "highest"], rows)]


def score_pairs(
    benchmark: Benchmark | str | Path,
    pairs: str | Path | tuple[Sequence[Any], Sequence[Any]],
    metric: Metrics | None = None,
    *,
    leave_out: bool = False,
    corpus: str | Path | DocumentFrequencies | None = None,
    setting: Mapping[str, Any] | None = None,
) -> PairScores:
    """Score listed pairs by caption metrics.

    Parameters
    ----------
    benchmark
        One with captions, its name or its folder.
    pairs
        A table file with the columns image and caption, or the ids of images and of captions.
    metric
        One or several; all by default.
    leave_out
        Whether a caption is left out of the references of its own image; see `pair_scores`.
    corpus
        For cider, document frequencies or a file of them; by default those of the benchmark.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> print(karat.captions.pairs(tiny, (["x", "y"], ["4", "4"]), ["hodosh-bleu"]))
    image  caption  hodosh-bleu
    ─────  ───────  ───────────
    x      4             0.2500
    y      4             1.0000
    """
    metrics = find_metrics(metric, corpus)
    where = Path(pairs) if isinstance(pairs, str | Path) else None
    image, caption = map(np.asarray, pairs if isinstance(pairs, tuple) else read_pair_list(Path(pairs)))
    benchmark = as_benchmark(benchmark, setting)
    at = benchmark.images.index(image), benchmark.captions.index(caption)
    for ids, index in zip((benchmark.images, benchmark.captions), at):
        if (index >= ids.size).any():
            strange = ids[index[index >= ids.size][0]]
            raise InputError(f"{ids.kind} {strange} is not in the gallery", where=where, fix="leave it out")
    scores = {}
    for name, found in track(metrics.items(), lambda item: f"scoring by {item[0]}"):
        scores[name] = pair_scores(benchmark, found, *at, leave_out=leave_out)
    return PairScores(image, caption, scores)


def read_pair_list(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a table with the columns image and caption."""
    cells = read_cells(path)
    columns = []
    for kind in ("image", "caption"):
        named = [column for column in cells.frame.columns if column.strip().lower() in COLUMN_NAMES[kind]]
        if not named:
            raise InputError(f"has no column {kind!r}", where=path, fix="name its columns image and caption")
        columns.append(cells.text(named[0]))
    return columns[0], columns[1]


def score_candidates(
    references: Sequence[str] | str | Path,
    candidate: Sequence[str] | str,
    metric: Metrics | None = None,
    *,
    corpus: str | Path | DocumentFrequencies | None = None,
) -> CandidateScores:
    """Score captions against the captions of one image.

    Parameters
    ----------
    references
        The image's captions, or a text file with one per line.
    candidate
        The caption to score, or several.
    metric
        One or several. By default all, but those whose data is not installed, with a note.
    corpus
        For cider, document frequencies or a file of them, from `karat.captions.corpus`.

    Examples
    --------
    >>> import karat
    >>> print(karat.captions.score(["two dogs run", "dogs on a beach"], ["dogs run"], ["bleu-1", "rouge-l"]))
    metric   dogs run  highest
    ───────  ────────  ───────
    bleu-1     0.6065        1
    rouge-l    0.7722        1
    """
    metrics = find_metrics(metric, corpus)
    own = read_captions(references) if isinstance(references, str | Path) else list(references)
    candidates = [candidate] if isinstance(candidate, str) else list(candidate)
    each = np.arange(len(candidates))
    scores, highest, notes = {}, {}, []
    for name, found in metrics.items():
        try:
            scores[name] = found.prepare([own], candidates).at(0 * each, each)
        except MissingDataError as error:
            if metric is not None:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        highest[name] = found.highest
        if getattr(found, "frequencies", found) is None:
            notes.append(f"{name} is 0, since one image alone has no rare words; give --corpus")
    return CandidateScores(tuple(candidates), scores, highest, tuple(notes))


def find_metrics(
    metric: Metrics | None, corpus: str | Path | DocumentFrequencies | None = None
) -> dict[str, CaptionMetric]:
    """Return caption metrics by their names, all when none are named; with the frequencies of a corpus."""
    if isinstance(metric, Mapping):
        found = dict(metric)
    else:
        several = [metric] if isinstance(metric, str | CaptionMetric) else metric
        chosen = [find_metric(one) for one in (CAPTION_METRICS if several is None else several)]
        found = {one.name: one for one in chosen}
    if metric is not None:
        for known in found.values():
            known.check_installed()
    if corpus is None:
        return found
    frequencies = corpus if isinstance(corpus, DocumentFrequencies) else DocumentFrequencies.load(corpus)
    users = [name for name, known in found.items() if hasattr(known, "frequencies")]
    if not users:
        raise InputError(f"none of {', '.join(found)} uses document frequencies", fix="leave corpus out")
    made: dict[str, Callable[..., CaptionMetric]] = {name: type(found[name]) for name in users}
    return {**found, **{name: make(frequencies=frequencies) for name, make in made.items()}}


def show_score(value: float) -> str:
    """Return φ as people read it.

    >>> show_score(0.123456)
    '0.1235'
    """
    return f"{value:.4f}"
