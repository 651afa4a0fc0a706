"""``karat robustness``: a run before and after changed queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_writable, plural
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark

app = typer.Typer()


@app.command(cls=Command)
def robustness(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="BEFORE AFTER...",
            help="The run on the captions, then the run on each file of changed queries: score tables, pairs "
            "of embedding tables (of changed queries, their vectors are enough), or ranked lists; "
            "{run_files}.",
            show_default=False,
        ),
    ],
    queries: Annotated[
        list[Path],
        options.option(
            "--queries",
            panel=options.INPUT,
            metavar="FILE",
            help="What karat perturb wrote; again for each further run, in the same order.",
            show_default=False,
        ),
    ],
    benchmark: options.BenchmarkName = "coco",
    name: options.Name = None,
    measure: options.Measure = None,
    per: Annotated[
        str | None,
        options.option(
            "--per",
            panel=options.SCORED,
            choices="robustness_units",
            help="What a query is: {robustness_units}; a set is an image's captions together. By default "
            "both, where scores can be averaged.",
            show_default=False,
        ),
    ] = None,
    truth: options.Truth = None,
    ties: options.Ties = "pessimistic",
    unjudged: options.Unjudged = "misses",
    interval_method: options.IntervalMethod = "percentile",
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.output("{robustness_files}.")] = None,
    threads: options.Threads = None,
) -> None:
    """Show whether a model reads what was changed in its queries.

    Ranks and scores of the caption's own image, and every measure, before and after; on the changed queries
    and on all, per caption and per image's set of captions, with paired intervals over images. Controls,
    which keep the meaning, show how much the mere wording moves.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import show, waiting, write_json
    from karat.explanations import Robustness, assess_robustness
    from karat.runs import Compute, Loading

    for path in (json, output):
        check_writable(path)
    Robustness.check_path(output)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    before, after = split_files(files, bench, len(queries))
    with waiting("ranking the changed queries"):
        found = assess_robustness(
            before, after, bench, list(queries), measure, per=per, truth=truth, ties=ties, unjudged=unjudged,
            interval_method=interval_method, level=level, resamples=resamples, seed=seed,
            loading=Loading(name, ids, similarity, transpose), compute=Compute(threads=threads),
        )  # fmt: skip
    if output is not None:
        found.save(output)
    show(found, quiet=write_json(found, json))


def split_files(
    files: list[Path], benchmark: Benchmark, kinds: int
) -> tuple[tuple[Path, ...], list[tuple[Path, ...]]]:
    """Return the files of the run before, and those of the run on each kind of changed queries."""
    from karat.runs import group_sources

    before = group_sources(files[:2], benchmark)[0]
    rest = files[len(before) :]
    width = 2 if len(rest) == 2 * kinds else 1
    if len(rest) not in (kinds, 2 * kinds):
        raise InputError(
            f"{plural(len(rest), 'file')} after {' and '.join(map(str, before))}, but "
            f"{plural(kinds, 'file')} of queries",
            fix="give, for each --queries, one run on the changed queries",
        )
    return before, [tuple(rest[at : at + width]) for at in range(0, len(rest), width)]
