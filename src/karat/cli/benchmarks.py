"""``karat benchmarks``: what is known, with counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import ListCommand, parse_settings
from karat.validation import InputError, check_writable, write_file

app = typer.Typer()


@app.command(cls=ListCommand)
def benchmarks(
    name: Annotated[str | None, typer.Argument(help="Show this one with counts.", show_default=False)] = None,
    ids: Annotated[Path | None, typer.Option(help="Write the order of ids here as json.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting: --set cxc_ratings=sits_test.csv.")
    ] = None,
) -> None:
    """List the benchmarks, or show one with its truths and counts."""
    from rich.markup import escape
    from rich.table import Table

    from karat.benchmarks import SOURCES, load_benchmark
    from karat.cli.show import console

    screen = console()
    if name is None:
        if ids is not None:
            raise InputError("--ids needs a benchmark", fix="write karat benchmarks NAME --ids FILE")
        for source in SOURCES.values():
            screen.print(escape(f"{source.name}  {source.about}"))
            for param in source.params:
                screen.print(escape(f"    --set {param.name}=…  {param.help}"))
        return
    check_writable(ids)
    bench = load_benchmark(name, **parse_settings(setting))
    if ids is not None:
        order = {"images": bench.images.gallery.tolist(), "captions": bench.captions.gallery.tolist()}
        write_file(ids, lambda path: path.write_text(json.dumps(order), encoding="utf-8"))
    screen.print(
        escape(f"{bench.name}: {bench.images.size:,} images, {bench.captions.size:,} captions"), style="bold"
    )
    screen.print(escape(bench.about))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("truth", "queries", "number", "relevant", "judged not", "off-gallery", "folds"):
        table.add_column(title, justify="left" if title in ("truth", "queries") else "right", no_wrap=True)
    screen.print()
    for row in bench.summary():
        for direction, asked in (("i2t", "images"), ("t2i", "captions")):
            counts = row[direction]
            table.add_row(
                escape(row["truth"]) if direction == "i2t" else "",
                asked,
                *(f"{counts[key]:,}" for key in ("queries", "positives", "negatives", "off_gallery")),
                str(row["folds"]) if direction == "i2t" else "",
            )
    screen.print(table)
    screen.print()
    for row in bench.summary():
        screen.print(escape(f"{row['truth']}: {row['about']}"))
