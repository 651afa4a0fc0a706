"""Tables that ``karat captions`` prints and writes: scores of listed pairs, and of one image's captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import plural, write_file
from karat.cli.lines import read_lines
from karat.errors import InputError, MissingDataError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.captions import CaptionMetric

TABLES = (".csv", ".parquet")


def score_pairs(
    bench: Benchmark, path: Path, metrics: dict[str, CaptionMetric], leave_out: bool, output: Path | None
) -> None:
    """Write, or print, φ of listed pairs."""
    import polars as pl

    from karat.captions import pair_scores
    from karat.cli.show import waiting

    image, caption = read_pairs(path)
    at = bench.images.index(image), bench.captions.index(caption)
    for ids, index in zip((bench.images, bench.captions), at):
        if (index >= ids.size).any():
            strange = ids[index[index >= ids.size][0]]
            raise InputError(f"{ids.kind} {strange} is not in the gallery", where=path, fix="leave it out")
    scores: dict[str, np.ndarray] = {}
    for name, metric in metrics.items():
        with waiting(f"{name} of {plural(len(image), 'pair')}"):
            scores[name] = pair_scores(bench, metric, *at, leave_out=leave_out)
    if output is None:
        rows = zip(image.tolist(), caption.tolist(), *(values.tolist() for values in scores.values()))
        print_rows(["image", "caption", *scores], [[i, c, *map(show, values)] for i, c, *values in rows], 2)
        return
    frame = pl.DataFrame({"image": image, "caption": caption, **scores})
    write_file(output, frame.write_csv if output.suffix == ".csv" else frame.write_parquet)
    print(f"wrote {output}: {', '.join(scores)} of {plural(len(image), 'pair')}")


def read_pairs(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a table with the columns image and caption."""
    from karat.scores import NAMES, read_cells

    cells = read_cells(path)
    columns = []
    for kind in ("image", "caption"):
        named = [column for column in cells.frame.columns if column.strip().lower() in NAMES[kind]]
        if not named:
            raise InputError(f"has no column {kind!r}", where=path, fix="name its columns image and caption")
        columns.append(cells.text(named[0]))
    return columns[0], columns[1]


def print_fit(path: Path, candidates: list[str], metrics: dict[str, CaptionMetric], named: bool) -> None:
    """Print φ of captions against one image's captions, a row per metric."""
    from karat.cli.show import print_notes

    group = read_lines(path)
    each = np.arange(len(candidates))
    rows, notes = [], []
    for name, metric in metrics.items():
        try:
            values = metric.prepare([group], candidates).at(0 * each, each)
        except MissingDataError as error:
            if named:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        if getattr(metric, "frequencies", metric) is None:
            notes.append(f"{name} is 0, since one image alone has no rare words; give --corpus")
        rows.append([name, *map(show, values), f"{metric.highest:g}"])
    heads = [text if len(text) <= 24 else f"{text[:23]}…" for text in candidates]
    print_rows(["metric", *heads, "highest"], rows, 1)
    print_notes(notes)


def show(value: float) -> str:
    """Return φ as people read it.

    >>> show(0.123456)
    '0.1235'
    """
    return f"{value:.4f}"


def print_rows(head: list[str], rows: Sequence[list[str]], labels: int) -> None:
    """Print a table."""
    from karat._util import Layout
    from karat.cli.show import console, print_table

    print_table(Layout(head, list(rows), set(), labels, set()), console())
