"""``karat filter``: what a filter by captions drops, and how people rated that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def filter(
    benchmark: options.Captioned,
    ratings: Annotated[
        list[Path] | None,
        options.option(
            "--ratings", panel=options.INPUT, help="Tables of people's ratings, as `karat agree` reads them."
        ),
    ] = None,
    metric: Annotated[str, options.metric("one of {metrics}.", "metrics")] = "bleu-pre",
    begin: Annotated[
        list[str] | None,
        options.option(
            "--from",
            panel=options.SCORED,
            metavar="X",
            help="Keep pairs with this score or more; 0.25 by default.",
        ),
    ] = None,
    relevant_from: Annotated[
        list[str] | None,
        options.option(
            "--relevant-from",
            panel=options.SCORED,
            metavar="X",
            help="Lowest ratings of relevant pairs; the middle of the scale by default.",
        ),
    ] = None,
    rated_captions: Annotated[
        bool,
        options.option("--rated-captions", panel=options.SCORED, help="Pair only captions that were rated."),
    ] = False,
    setting: options.Setting = None,
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Show what a filter by captions would drop.

    Before people judge: of all pairs, and of the relevant ones. A pair is kept when its caption is like
    those of the image: Hodosh et al. (2013) took unigram BLEU after ROUGE's preprocessing, 0.25 or more.
    """
    from karat.benchmarks import load_benchmark
    from karat.captions import audit_filter
    from karat.cli.show import show, waiting, write_json
    from karat.stats import Intervals

    check_writable(json)
    if not ratings:
        raise InputError("there are no ratings to audit the filter with", fix="give a table: --ratings FILE")
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with waiting("comparing captions"):
        found = audit_filter(
            bench,
            ratings,
            thresholds=sorted(parse_numbers(begin, "--from") or [0.25]),
            metric=metric,
            relevant_from=parse_numbers(relevant_from, "--relevant-from"),
            rated_captions=rated_captions,
            intervals=Intervals(level=level, resamples=resamples, seed=seed),
        )
    show(found, quiet=write_json(found, json))
