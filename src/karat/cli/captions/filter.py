"""``karat captions filter``: what a filter by captions drops, and how people rated that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings

app = typer.Typer()


@app.command(cls=Command)
def filter(
    benchmark: options.Captioned,
    ratings: Annotated[
        list[Path],
        options.option(
            "--ratings",
            panel=options.INPUT,
            show_default=False,
            help="Tables of people's ratings, as `karat agree` reads them.",
        ),
    ],
    metric: Annotated[str, options.metric("one of {metrics}.", "metrics")] = "bleu-pre",
    from_: Annotated[
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
    from karat.captions import filter
    from karat.cli.show import keep, working
    from karat.stats import Intervals

    intervals = Intervals(level=level, resamples=resamples, seed=seed)
    with working("comparing captions"):
        found = filter(
            benchmark, ratings, metric=metric, from_=sorted(parse_numbers(from_, "--from") or [0.25]),
            relevant_from=parse_numbers(relevant_from, "--relevant-from"), rated_captions=rated_captions,
            intervals=intervals, setting=parse_settings(setting),
        )  # fmt: skip
    keep(found, json)
