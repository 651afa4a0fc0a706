"""``karat captions table``: every image with every caption of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def table(
    benchmark: options.Captioned,
    output: Annotated[Path, options.output("a table of images by captions, .npy.")],
    metric: Annotated[str, options.metric("one of {metrics}.", "metrics")] = "cider",
    leave_out: options.LeaveOut = False,
    queries: options.ChangedCaptions = None,
    corpus: options.Corpus = None,
    setting: options.Setting = None,
) -> None:
    """Score every image with every caption of a benchmark.

    `karat evaluate` reads the table like any run.
    """
    from karat.captions import table
    from karat.cli.show import show, working

    with working("scoring captions"):
        found = table(
            benchmark, metric, output=output, leave_out=leave_out, queries=queries, corpus=corpus,
            setting=options.parse_settings(setting),
        )  # fmt: skip
    show(found)
