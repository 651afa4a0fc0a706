"""``karat captions score``: captions of one image against others of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def score(
    references: Annotated[
        Path,
        options.option(
            "--references",
            panel=options.INPUT,
            show_default=False,
            help="One image's captions, one per line.",
        ),
    ],
    candidate: Annotated[
        list[str],
        options.option(
            "--candidate",
            panel=options.INPUT,
            metavar="CAPTION",
            show_default=False,
            help="A caption to score against them; repeat it for more.",
        ),
    ],
    metric: options.CaptionMetricNames = None,
    corpus: options.Corpus = None,
    json: options.Json = None,
) -> None:
    """Score captions of one image against others of it."""
    from karat.captions import score
    from karat.cli.show import keep, working

    with working("scoring captions"):
        found = score(references, candidate, metric, corpus=corpus)
    keep(found, json)
