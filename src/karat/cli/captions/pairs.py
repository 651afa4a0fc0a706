"""``karat captions pairs``: listed pairs of images and captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def pairs(
    benchmark: options.Captioned,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="A table with the columns image and caption (ids).", show_default=False
        ),
    ],
    metric: options.CaptionMetricNames = None,
    leave_out: options.LeaveOut = False,
    corpus: options.Corpus = None,
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("a table, such as .csv or .parquet.")] = None,
) -> None:
    """Score listed pairs of images and captions."""
    from karat.captions import PairScores
    from karat.captions import pairs as score_pairs
    from karat.cli.show import show, working, write_json

    PairScores.check_path(output)
    with working("scoring captions"):
        found = score_pairs(
            benchmark, pairs, metric, leave_out=leave_out, corpus=corpus,
            setting=options.parse_settings(setting),
        )  # fmt: skip
    taken = write_json(found, json)
    if output is not None:
        # The table may have millions of rows.
        found.save(output)
    show(found, quiet=taken or output is not None)
