"""Scores of rated pairs by what names them: a caption metric, the original pairing, a run, a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from karat._util import parsing
from karat.benchmarks import Benchmark
from karat.captions.metric import CAPTION_METRICS
from karat.captions.similarity import pair_scores
from karat.errors import InputError, MissingDataError, unknown_name
from karat.runs import Loading, group_sources, read_run
from karat.scores import (
    COLUMN_NAMES,
    SEPARATORS,
    Located,
    first_lines,
    read_ratings,
    run_scores,
    table_scores,
)

ORIGINAL = "original"
"""The score that is 1 where the caption was written for the image, and 0 elsewhere."""


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
