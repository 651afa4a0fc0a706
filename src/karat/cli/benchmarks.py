"""``karat benchmarks``: what is known, with counts; add, remove and save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_folder, check_writable, write_file
from karat.cli import options
from karat.cli.choices import completion
from karat.cli.command import Command, Group
from karat.cli.options import parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark


class BenchmarksGroup(Group):
    """The command ``benchmarks``: without a command it lists all, or shows the one that is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put a command in front of words that have none."""
        if not ctx.resilient_parsing and "--help" not in args[:1] and not set(args[:1]) & set(self.commands):
            args = ["list" if all(word.startswith("-") for word in args) else "show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer()
benchmarks = typer.Typer(
    cls=BenchmarksGroup,
    help="List the benchmarks, show one, or add your own.\n\n"
    "karat benchmarks lists them; karat benchmarks NAME shows one.",
)
app.add_typer(benchmarks, name="benchmarks")


@benchmarks.command("list", cls=Command)
def list_benchmarks() -> None:
    """List all benchmarks with their settings."""
    from karat.benchmarks import list_benchmarks as catalogue
    from karat.cli.show import show

    show(catalogue())


@benchmarks.command("show", cls=Command)
def show_benchmark(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A benchmark's name or folder.",
            show_default=False,
            autocompletion=completion("sources"),
        ),
    ],
    ids: options.IdsTarget = None,
    save: options.Save = None,
    setting: options.Setting = None,
) -> None:
    """Show a benchmark with its truths and counts."""
    from karat.benchmarks import BenchmarkSummary, load_benchmark
    from karat.cli.show import show

    settings = parse_settings(setting)
    check_targets(ids, save, name, settings)
    bench = load_benchmark(name, **settings)
    write_files(bench, ids, save)
    show(BenchmarkSummary(bench))


@benchmarks.command("add", cls=Command)
def add(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="Images with captions, or another benchmark.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        options.option("--name", panel=options.INPUT, help="Its name; by default the benchmark's own."),
    ] = None,
    ids: options.IdsTarget = None,
    save: options.Save = None,
    setting: options.Setting = None,
) -> None:
    """Check a folder, and remember it as a benchmark."""
    from karat.benchmarks import BenchmarkSummary, add_benchmark, forget
    from karat.cli.show import show

    settings = parse_settings(setting)
    check_targets(ids, save, folder, settings)
    remembered, bench = add_benchmark(folder, name, **settings)
    try:
        write_files(bench, ids, save)
    except BaseException:
        forget(remembered)
        raise
    print(f"added; use it as --benchmark {remembered}")
    show(BenchmarkSummary(bench))


@benchmarks.command("remove", cls=Command)
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of an added benchmark.", show_default=False)
    ],
) -> None:
    """Forget a benchmark that was added; its files stay."""
    from karat.benchmarks import forget

    forget(name)
    print(f"removed {name}; its files are still there")


def check_targets(ids: Path | None, save: Path | None, name: str, settings: dict[str, str]) -> None:
    """Raise before the work starts when the requested files could not be written, or over those read."""
    from karat.benchmarks import read_from

    check_writable(ids)
    if save is None:
        return
    check_folder(save)
    place = read_from(name, settings)
    if place is not None and place.resolve() == save.resolve():
        raise InputError(
            "is the folder that the benchmark is read from", where=save, fix="save it to another folder"
        )


def write_files(bench: Benchmark, ids: Path | None, save: Path | None) -> None:
    """Write the requested files."""
    from karat.benchmarks import save_benchmark

    if ids is not None:
        order = {"images": bench.images.gallery.tolist(), "captions": bench.captions.gallery.tolist()}
        write_file(ids, lambda path: path.write_text(json.dumps(order), encoding="utf-8"))
    if save is not None:
        save_benchmark(bench, save)
