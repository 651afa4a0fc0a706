"""``karat convert``: a run in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._util import plural
from karat.cli.options import parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command()
def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="What to read (a score table, ranked lists, an image and a caption embedding table, or both "
            "of these in one), then what to write.",
            metavar="SOURCE [SECOND] TARGET",
            show_default=False,
        ),
    ],
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="Check against it; name rows by its ids.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="scores, embeddings or lists; as the source is, where TARGET takes it."),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Keep the first K items of each query.")] = None,
    direction: Annotated[
        str | None, typer.Option(help="Keep one direction of ranked lists, i2t or t2i.")
    ] = None,
    similarity: Annotated[str, typer.Option(help="For embeddings: dot or cosine.")] = "dot",
    ids: Annotated[
        Path | None, typer.Option(help="Order of rows and columns; by default NAME.ids.json beside NAME.npy.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the benchmark: --set cxc_ratings=sits_test.csv."),
    ] = None,
) -> None:
    """Write a run in another format: npy, npz, safetensors, Parquet, csv, tsv, json, trec, clip-retrieval.

    Tables go through block by block. Embeddings become scores, and both become ranked lists with --top.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import console
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
    options: dict[str, Any] = {
        "benchmark": bench,
        "kind": kind,
        "top": top,
        "direction": direction,
        "similarity": similarity,
        "ids": ids,
    }
    screen = console(stderr=True)
    if screen.is_terminal:
        with screen.status(f"writing {target.name}"):
            written = write(*sources, target=target, **options)
    else:
        written = write(*sources, target=target, **options)
    print(f"wrote {' and '.join(str(path) for path in written)}")
