"""``karat inspect``: look at a run before it is scored, or for duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.duplicates import DuplicateReport
    from karat.scores import Inspection

app = typer.Typer()

NEAR = ("picture", "words", "vector")


@app.command(cls=Command)
def inspect(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="One run: a score table, two embedding tables, or ranked lists; {run_files}. With "
            "--duplicates it may be left out.",
            show_default=False,
        ),
    ] = None,
    benchmark: options.BenchmarkName = "coco",
    duplicates: Annotated[
        bool,
        options.option(
            "--duplicates",
            panel=options.SCORED,
            help="Look for images, captions and vectors that are there twice, or nearly so.",
        ),
    ] = False,
    against: Annotated[
        list[str] | None,
        options.option(
            "--against",
            panel=options.INPUT,
            show_default=False,
            help="Duplicates in another collection: a benchmark, a folder of pictures, or embedding tables.",
        ),
    ] = None,
    against_set: Annotated[
        list[str] | None,
        options.option(
            "--against-set",
            panel=options.INPUT,
            metavar="NAME=VALUE",
            help="A setting of that benchmark, where it differs: split=train.",
        ),
    ] = None,
    near: Annotated[
        list[str] | None,
        options.option(
            "--near",
            panel=options.SCORED,
            metavar="NAME=VALUE",
            help="How similar near-duplicates are at least: picture=0.8, words=0.8, vector=0.98.",
        ),
    ] = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{inspection_files}.")] = None,
) -> None:
    """Look at a run before it is scored.

    What it is, whether it fits the benchmark, and whether its scores make sense. Exit code 2 when it could
    not be scored as it is; warnings leave it at 0. With --duplicates, look for items that are in the gallery
    twice, or in the training set, too.
    """
    from karat.cli.show import keep, working
    from karat.duplicates import find_duplicates
    from karat.runs import Loading
    from karat.scores import Inspection
    from karat.scores import inspect as inspect_run

    Inspection.check_path(output)
    settings = parse_settings(setting)
    loading = Loading(similarity=similarity)
    seen: Inspection | DuplicateReport
    if duplicates:
        with working("looking for duplicates"):
            seen = find_duplicates(
                benchmark, *(files or ()), against=against, setting=settings,
                against_setting=parse_settings(against_set), **parse_near(near), loading=loading,
            )  # fmt: skip
    else:
        if not files:
            raise InputError("no run was given", fix="name its file, or pass --duplicates")
        if against or against_set or near:
            raise InputError("--against and --near are about duplicates", fix="pass --duplicates, too")
        with working("reading scores"):
            seen = inspect_run(*files, benchmark=benchmark, setting=settings, loading=loading)
    keep(seen, json, output)
    if isinstance(seen, Inspection) and seen.worst == "error":
        raise typer.Exit(2)


def parse_near(texts: list[str] | None) -> dict[str, Any]:
    """Return thresholds of near-duplicates as `find_duplicates` takes them.

    >>> parse_near(["picture=0.9"])
    {'near_picture': 0.9}
    """
    thresholds = {}
    for name, value in parse_settings(texts).items():
        if name not in NEAR:
            raise InputError(f"--near has no {name!r}", fix=f"choose {', '.join(NEAR)}")
        thresholds[f"near_{name}"] = (parse_numbers([value], "--near") or [])[0]
    return thresholds
