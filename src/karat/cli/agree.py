"""``karat agree``: how far raters agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import scoring
from karat.cli.options import ListCommand, split_names
from karat.validation import InputError, check_writable, plural, write_file

app = typer.Typer()


@app.command(cls=ListCommand)
def agree(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="One or two tables of ratings (csv, tsv, txt, Parquet): image, caption and a column per "
            "rater; or image, caption, rater, rating; or Flickr8k's own files.",
            show_default=False,
        ),
    ],
    missing: Annotated[
        str, typer.Option(help="Pairs of the first table that the second does not list: left-out, or no.")
    ] = "left-out",
    first_from: Annotated[
        list[str] | None, typer.Option(help="Thresholds of the first table; all by default.")
    ] = None,
    second_from: Annotated[list[str] | None, typer.Option(help="Thresholds of the second table.")] = None,
    raters: Annotated[
        list[str] | None, typer.Option(help="Of one table: only these raters, or columns.")
    ] = None,
    resample: Annotated[
        str, typer.Option(help="Drawn for intervals: each item, or whole images or captions.")
    ] = "item",
    intervals: Annotated[
        bool | None,
        typer.Option(
            "--intervals/--no-intervals", help="In the table of thresholds; by default where they fit."
        ),
    ] = None,
    bca: Annotated[bool, typer.Option("--bca", help="BCa intervals instead of percentile ones.")] = False,
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    json: Annotated[Path | None, typer.Option(help="Write every number here as json.")] = None,
) -> None:
    """Show how far raters agree: Krippendorff's alpha and Cohen's kappa, with intervals.

    One table: its raters. Two tables: joined on image and caption, each cut into yes and no at every
    threshold of its scale, kappa of every two thresholds.
    """
    from karat.cli.show import console, print_notes, print_table
    from karat.scores.agreement import agree as compute
    from karat.scores.ratings_file import read_ratings
    from karat.stats.intervals import Intervals

    check_writable(json)
    if len(files) > 2:
        raise InputError(plural(len(files), "table"), fix="give one or two")
    if len(files) == 2 and raters:
        raise InputError("--raters with two tables", fix="give one table, or leave it out")
    found = compute(
        read_ratings(files[0], split_names(raters)),
        None if len(files) == 1 else files[1],
        missing=missing,
        first_from=as_numbers(first_from, "--first-from"),
        second_from=as_numbers(second_from, "--second-from"),
        resample=resample,
        intervals=Intervals("bca" if bca else "percentile", level, resamples, seed),
    )
    if json is not None:
        write_file(json, lambda path: path.write_text(found.to_json(), encoding="utf-8"))
    screen = console()
    for part in found.parts(intervals):
        if isinstance(part, str):
            print(part)
        else:
            print_table(part, screen)
    print_notes(found.notes)


def as_numbers(given: list[str] | None, option: str) -> list[float] | None:
    """Return thresholds given one by one or separated by commas.

    >>> as_numbers(["2.66", "3,4"], "--first-from")
    [2.66, 3.0, 4.0]
    """
    texts = split_names(given)
    try:
        return None if texts is None else [float(text) for text in texts]
    except ValueError:
        raise InputError(
            f"{option} is {' '.join(texts or [])!r}", fix="give numbers such as 3 3.5 4"
        ) from None
