"""``karat convert``: a run in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._util import plural
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="What to read (a score table, ranked lists, an image and a caption embedding table, or both "
            "of these in one), then what to write: {run_targets}.",
            metavar="SOURCE [SECOND] TARGET",
            show_default=False,
        ),
    ],
    benchmark: options.OptionalBenchmark = None,
    kind: Annotated[
        str | None,
        options.option(
            "--kind",
            panel=options.OUTPUT,
            choices="content_kinds",
            help="{content_kinds}; as the source is, where TARGET takes it.",
        ),
    ] = None,
    top: options.OptionalTop = None,
    direction: options.Direction = None,
    similarity: options.Similarity = "dot",
    ids: Annotated[
        list[Path] | None,
        options.option(
            "--ids",
            panel=options.INPUT,
            help="Order of rows and columns: ids one per line, json or csv; by default NAME.ids.json beside "
            "NAME.npy.",
        ),
    ] = None,
    transpose: Annotated[
        bool, options.option("--transpose", panel=options.INPUT, help="Score tables are captions by images.")
    ] = False,
    setting: options.Setting = None,
) -> None:
    """Write a run in another file format.

    With a benchmark, the run is checked and rows are named by its ids. Tables go through block by block.
    Embeddings become scores, and both become ranked lists with --top.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import tell, working
    from karat.runs import convert as write
    from karat.runs import writer_of

    if len(files) not in (2, 3):
        raise InputError(
            plural(len(files), "file"),
            fix="write karat convert SOURCE TARGET, or two embedding tables and TARGET",
        )
    *sources, target = files
    writer_of(target)  # a mistake in the target shows before anything large is read
    bench = None if benchmark is None else load_benchmark(benchmark, **parse_settings(setting))
    choices: dict[str, Any] = {
        "benchmark": bench,
        "kind": kind,
        "top": top,
        # Both is what all files have anyway.
        "direction": direction[0] if direction and len(set(direction)) == 1 else None,
        "similarity": similarity,
        "ids": ids,
        "transpose": transpose,
    }
    with working(f"writing {target.name}"):
        written = write(*sources, target=target, **choices)
    tell(f"wrote {' and '.join(str(path) for path in written)}")
