"""Scores of captions: of listed pairs of a benchmark, and of candidates against one image's captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, Result
from karat.benchmarks import Benchmark
from karat.captions.metric import CAPTION_METRICS, CaptionMetric
from karat.captions.similarity import pair_scores
from karat.errors import InputError, MissingDataError
from karat.scores import COLUMN_NAMES, read_cells

if TYPE_CHECKING:
    import polars as pl

Metrics = Mapping[str, CaptionMetric] | Iterable[str]
"""Caption metrics by name, or their names alone."""
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
    benchmark: Benchmark,
    pairs: str | Path | tuple[Sequence[Any], Sequence[Any]],
    metrics: Metrics | None = None,
    *,
    leave_out: bool = False,
    progress: Callable[[str], object] | None = None,
) -> PairScores:
    """Score listed pairs by caption metrics.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    pairs
        A table file with the columns image and caption, or the ids of images and of captions.
    metrics
        By name, or the names alone; all by default.
    leave_out
        Whether a caption is left out of the references of its own image; see `pair_scores`.
    progress
        Called with the name of each metric before it is computed.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> print(score_pairs(tiny, (["x", "y"], ["4", "4"]), ["hodosh-bleu"]))
    image  caption  hodosh-bleu
    ─────  ───────  ───────────
    x      4             0.2500
    y      4             1.0000
    """
    where = Path(pairs) if isinstance(pairs, str | Path) else None
    image, caption = map(np.asarray, pairs if isinstance(pairs, tuple) else read_pair_list(Path(pairs)))
    at = benchmark.images.index(image), benchmark.captions.index(caption)
    for ids, index in zip((benchmark.images, benchmark.captions), at):
        if (index >= ids.size).any():
            strange = ids[index[index >= ids.size][0]]
            raise InputError(f"{ids.kind} {strange} is not in the gallery", where=where, fix="leave it out")
    scores = {}
    for name, metric in find_metrics(metrics).items():
        if progress is not None:
            progress(name)
        scores[name] = pair_scores(benchmark, metric, *at, leave_out=leave_out)
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
    references: Sequence[str],
    candidates: Sequence[str],
    metrics: Metrics | None = None,
    *,
    skip_missing: bool | None = None,
) -> CandidateScores:
    """Score captions against the captions of one image.

    Parameters
    ----------
    references
        The image's captions.
    candidates
        The captions to score.
    metrics
        By name, or the names alone; all by default.
    skip_missing
        Whether metrics whose data is not installed are left out, with a note; by default if none are named.

    Examples
    --------
    >>> print(score_candidates(["two dogs run", "dogs on a beach"], ["dogs run"], ["bleu-1", "rouge-l"]))
    metric   dogs run  highest
    ───────  ────────  ───────
    bleu-1     0.6065        1
    rouge-l    0.7722        1
    """
    skip_missing = metrics is None if skip_missing is None else skip_missing
    each = np.arange(len(candidates))
    scores, highest, notes = {}, {}, []
    for name, metric in find_metrics(metrics).items():
        try:
            scores[name] = metric.prepare([references], candidates).at(0 * each, each)
        except MissingDataError as error:
            if not skip_missing:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        highest[name] = metric.highest
        if getattr(metric, "frequencies", metric) is None:
            notes.append(f"{name} is 0, since one image alone has no rare words; give --corpus")
    return CandidateScores(tuple(candidates), scores, highest, tuple(notes))


def find_metrics(metrics: Metrics | None) -> dict[str, CaptionMetric]:
    """Return caption metrics by their names; all when none are named."""
    if isinstance(metrics, Mapping):
        return dict(metrics)
    chosen = [CAPTION_METRICS[name] for name in (CAPTION_METRICS if metrics is None else metrics)]
    return {metric.name: metric for metric in chosen}


def show_score(value: float) -> str:
    """Return φ as people read it.

    >>> show_score(0.123456)
    '0.1235'
    """
    return f"{value:.4f}"
