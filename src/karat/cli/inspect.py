"""``karat inspect``: look at a run before it is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import ListCommand, parse_settings

app = typer.Typer()


@app.command(cls=ListCommand)
def inspect(
    files: Annotated[
        list[Path], typer.Argument(help="One run: a score table, two embedding tables, or ranked lists.")
    ],
    benchmark: Annotated[str, typer.Option("--benchmark", "-b", help="See `karat benchmarks`.")] = "coco",
    ids: Annotated[Path | None, typer.Option(help="Order of rows and columns.")] = None,
    similarity: Annotated[str, typer.Option(help="For embeddings: dot or cosine.")] = "dot",
    setting: Annotated[list[str] | None, typer.Option("--set", help="A setting of the benchmark.")] = None,
) -> None:
    """Say what a run is, whether it fits the benchmark, and whether its scores make sense.

    Exit code 2 when it could not be scored as it is; warnings leave it at 0.
    """
    from karat.benchmarks import load_benchmark
    from karat.scores import inspect_run

    bench = load_benchmark(benchmark, **parse_settings(setting))
    seen = inspect_run(*files, benchmark=bench, ids=ids, similarity=similarity)
    print(seen)
    if seen.worst == "error":
        raise typer.Exit(2)
