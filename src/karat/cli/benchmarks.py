"""``karat benchmarks``: what is known, with counts; add, remove and save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_writable, write_file
from karat.cli.options import ListCommand, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark

app = typer.Typer()


@app.command(cls=ListCommand)
def benchmarks(
    what: Annotated[
        str | None,
        typer.Argument(help="A benchmark's name or folder; or add, or remove.", show_default=False),
    ] = None,
    which: Annotated[
        str | None, typer.Argument(help="What to add (a folder) or to remove (a name).", show_default=False)
    ] = None,
    name: Annotated[str | None, typer.Option(help="With add: the name to remember it by.")] = None,
    ids: Annotated[Path | None, typer.Option(help="Write the order of ids here as json.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the benchmark in this folder.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting: --set cxc_ratings=sits_test.csv.")
    ] = None,
) -> None:
    """List the benchmarks, show one with its truths and counts, or add your own.

    `karat benchmarks add DIR` checks a folder and remembers it; `karat benchmarks remove NAME` forgets it.
    """
    from karat.benchmarks import add_benchmark, forget, load_benchmark, save_benchmark

    settings = parse_settings(setting)
    if what is None:
        if ids is not None or save is not None:
            raise InputError(
                "--ids and --save need a benchmark", fix="write karat benchmarks NAME --ids FILE"
            )
        list_all()
        return
    if what in ("add", "remove"):
        if which is None:
            thing = "folder" if what == "add" else "name"
            raise InputError(f"{what} needs a {thing}", fix=f"write karat benchmarks {what} {thing.upper()}")
        if what == "remove":
            forget(which)
            print(f"removed {which}; its files are still there")
            return
        remembered, bench = add_benchmark(which, name, **settings)
        print(f"added; use it as --benchmark {remembered}")
    elif which is not None:
        raise InputError(f"{which!r} is one word too many", fix="name one benchmark")
    else:
        check_writable(ids)
        bench = load_benchmark(what, **settings)
    if ids is not None:
        order = {"images": bench.images.gallery.tolist(), "captions": bench.captions.gallery.tolist()}
        write_file(ids, lambda path: path.write_text(json.dumps(order), encoding="utf-8"))
    if save is not None:
        save_benchmark(bench, save)
    show(bench)


def list_all() -> None:
    """Print every source with its settings, and what the user has added."""
    from rich.markup import escape

    from karat._util import REQUIRED
    from karat.benchmarks import SOURCES, registered
    from karat.cli.show import console

    screen = console()
    for source in SOURCES.values():
        screen.print(f"[bold]{escape(source.name)}[/]  {escape(source.about)}")
        for param in source.params:
            needed = " (needed)" if param.default is REQUIRED else ""
            screen.print(escape(f"    --set {param.name}=…  {param.help}{needed}"))
    for name, entry in registered().items():
        settings = ", ".join(f"{key}={value}" for key, value in entry["options"].items())
        screen.print(f"[bold]{escape(name)}[/]  {escape('added: ' + entry['source'] + ' with ' + settings)}")


def show(bench: Benchmark) -> None:
    """Print a benchmark with the counts of its truths."""
    from rich.markup import escape
    from rich.table import Table

    from karat.cli.show import console

    screen = console()
    counts = f"{bench.images.size:,} images, {bench.captions.size:,} captions"
    screen.print(escape(f"{bench.name}: {counts}"), style="bold")
    if bench.about:
        screen.print(escape(bench.about))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("truth", "queries", "number", "relevant", "judged not", "off-gallery", "folds"):
        table.add_column(title, justify="left" if title in ("truth", "queries") else "right", no_wrap=True)
    summary = bench.summary()
    for row in summary:
        for direction, asked in (("i2t", "images"), ("t2i", "captions")):
            found = row[direction]
            table.add_row(
                escape(row["truth"]) if direction == "i2t" else "",
                asked,
                *(f"{found[key]:,}" for key in ("queries", "positives", "negatives", "off_gallery")),
                str(row["folds"]) if direction == "i2t" else "",
            )
    screen.print()
    screen.print(table)
    screen.print()
    for row in summary:
        if row["about"]:
            screen.print(escape(f"{row['truth']}: {row['about']}"))
