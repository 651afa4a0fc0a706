"""``karat inspect``: look at a run before it is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="One run: a score table, two embedding tables, or ranked lists; {run_files}.",
            show_default=False,
        ),
    ],
    benchmark: options.BenchmarkName = "coco",
    ids: options.Ids = None,
    similarity: options.Similarity = "dot",
    transpose: options.Transpose = False,
    setting: options.Setting = None,
) -> None:
    """Look at a run before it is scored.

    What it is, whether it fits the benchmark, and whether its scores make sense. Exit code 2 when it could
    not be scored as it is; warnings leave it at 0.
    """
    from karat.cli.show import show
    from karat.scores import inspect as inspect_run

    settings = parse_settings(setting)
    seen = inspect_run(
        *files, benchmark=benchmark, setting=settings, ids=ids, similarity=similarity, transpose=transpose
    )
    show(seen)
    if seen.worst == "error":
        raise typer.Exit(2)
