"""Scores of rated pairs by what names them: a caption metric, the original pairing, a run, a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, parsing
from karat.benchmarks import Benchmark, as_benchmark
from karat.captions.metric import CAPTION_METRICS
from karat.captions.similarity import pair_scores
from karat.errors import InputError, MissingDataError, unknown_name
from karat.runs import Loading, group_sources, read_run
from karat.scores import (
    COLUMN_NAMES,
    RESAMPLED,
    SEPARATORS,
    Located,
    Ratings,
    ScoreAgreement,
    first_lines,
    locate,
    read_ratings,
    run_scores,
    score_agreement,
    table_scores,
)
from karat.stats import Intervals

ORIGINAL = "original"
"""The score that is 1 where the caption was written for the image, and 0 elsewhere."""


def agree_with_scores(
    ratings: Ratings | str | Path,
    score: str | Path | Sequence[str | Path],
    benchmark: Benchmark | str | Path | None = None,
    *,
    leave_out: bool = False,
    rater: Sequence[str] | None = None,
    rating_from: Sequence[float] | None = None,
    score_from: Sequence[float] | None = None,
    resample: str = "image",
    intervals: Intervals | None = None,
    loading: Loading | None = None,
    setting: Mapping[str, Any] | None = None,
) -> ScoreAgreement:
    """Return how far scores agree with people's ratings of the same pairs.

    Pearson, Spearman and Kendall of every score with the mean ratings, and the best Cohen's kappa of the two,
    each cut into yes and no (Hodosh et al. 2013, tables 3 to 5); all with bootstrap intervals.

    Parameters
    ----------
    ratings
        A table of ratings; see `karat.agree`.
    score
        One or several: names of caption metrics; "original", the benchmark's own pairs; files of runs; tables
        with the columns image, caption, score.
    benchmark
        What metrics, runs and the original pairs are about; tables need none.
    leave_out
        Whether a metric leaves a caption out of the references of its own image.
    rater
        Only these raters, or columns.
    rating_from, score_from
        Thresholds of the ratings and of the scores; by default every value above the lowest or, where
        there are many, nine that divide the pairs.
    resample
        What is drawn for the intervals: all pairs of an "image" or "caption", or each "item" by itself.
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples.
    loading
        How runs are read.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> agreed = karat.captions.agree("ratings.csv", ["cider", "spice"], "my/")  # doctest: +SKIP
    """
    check_choice(resample, RESAMPLED, "resample")
    sources = [score] if isinstance(score, str | Path) else list(score)
    if not sources:
        raise InputError("there is no score", fix="name one, such as cider")
    for source in sources:
        is_file(source)
    read = ratings if isinstance(ratings, Ratings) else read_ratings(ratings, rater)
    known = None if benchmark is None else as_benchmark(benchmark, setting)
    located = locate(read, known)
    scores = collect_scores(located, sources, known, leave_out=leave_out, loading=loading)
    found = score_agreement(
        located.ratings, scores, original=located.original, first_from=rating_from, second_from=score_from,
        resample=resample, intervals=intervals,
    )  # fmt: skip
    return replace(found, notes=(*located.notes, *found.notes))


def collect_scores(
    located: Located,
    sources: Sequence[str | Path],
    benchmark: Benchmark | None = None,
    *,
    leave_out: bool = False,
    loading: Loading | None = None,
) -> dict[str, np.ndarray]:
    """Return scores of rated pairs by name, one number per rated pair.

    Parameters
    ----------
    located
        The rated pairs and where they are in the benchmark (`karat.scores.locate`).
    sources
        Names of caption metrics; "original", the benchmark's own pairing as 1 and 0; files of runs
        (score tables, or two consecutive embedding tables); tables of scores with the columns
        image, caption and one or more scores.
    benchmark
        What metrics, runs and the original pairing are about; tables need none.
    leave_out
        Whether a metric leaves a caption out of the references of its own image.
    loading
        How runs are read.
    """
    scores: dict[str, tuple[int, np.ndarray]] = {}

    def add(source: str | Path, name: str, values: np.ndarray, longer: str = "") -> None:
        free = name if name not in scores else longer or name
        if free in scores:
            raise InputError(f"duplicate score {free!r}", fix="name it once")
        scores[free] = (names.index(str(source)), values)

    names = [str(source) for source in sources]
    files = [Path(source) for source in sources if is_file(source)]
    for name in (source for source in names if Path(source) not in files):
        bench = needed(benchmark, name)
        if name == ORIGINAL:
            add(name, name, original_scores(located, bench))
        else:
            metric = CAPTION_METRICS[name]
            add(name, metric.name, pair_scores(bench, metric, located.image, located.caption, leave_out))
    tables = [path for path in files if is_table(path)]
    for path in tables:
        columns = table_scores(located.ratings, read_ratings(path))
        for column, values in columns.items():
            whole = f"{path.with_suffix('')} {column}"
            add(path, path.stem if len(columns) == 1 else column, values, whole)
    runs = [path for path in files if path not in tables]
    for group in group_sources(runs, needed(benchmark, str(runs[0]))) if runs else ():
        run = read_run(group, benchmark, None, loading).align(needed(benchmark, str(group[0])))
        values = run_scores(run, located.image, located.caption)
        add(group[0], run.name, values, str(group[0].with_suffix("")))
    return {name: values for name, (_, values) in sorted(scores.items(), key=lambda score: score[1][0])}


def original_scores(located: Located, benchmark: Benchmark) -> np.ndarray:
    """Return the benchmark's own pairing as scores."""
    if located.original is None:
        what = f"{benchmark.name} does not say for which images its captions were written"
        raise InputError(what, fix=f"leave out the score {ORIGINAL!r}")
    return located.original.astype(np.float64)


def needed(benchmark: Benchmark | None, what: str) -> Benchmark:
    """Return the benchmark, or raise where there is none."""
    if benchmark is None:
        raise InputError(f"{what} needs a benchmark", fix="name it with --benchmark, or benchmark= in Python")
    return benchmark


def is_file(source: str | Path) -> bool:
    """Whether a source is a file and not the name of a score; one that is neither raises."""
    if str(source) == ORIGINAL or str(source) in CAPTION_METRICS:
        return False
    path = Path(source)
    if path.exists():
        return True
    if path.suffix or len(path.parts) > 1:
        raise MissingDataError("there is no such file", where=path)
    raise unknown_name("score", str(source), [*CAPTION_METRICS, ORIGINAL])


def is_table(path: Path) -> bool:
    """Whether a file is a table of scores: one of its columns names images, another captions."""
    if path.suffix.lower() == ".parquet":
        import polars as pl

        with parsing(path, "is not a Parquet table", "write it again"):
            columns = list(pl.read_parquet_schema(path))
    else:
        lines = first_lines(path, tuple(SEPARATORS))
        columns = [cell for line in lines for cell in line.split(SEPARATORS[path.suffix.lower()])]
    known = {column.strip('\ufeff" ').lower() for column in columns}
    return all(known & set(COLUMN_NAMES[kind]) for kind in ("image", "caption"))
