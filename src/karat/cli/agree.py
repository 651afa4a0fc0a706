"""``karat agree``: how far raters agree, and how far any score agrees with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable, plural, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand, parse_settings, split_names
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.scores import Agreement, Ratings, ScoreAgreement

app = typer.Typer()
TABLES = (".csv", ".tsv", ".txt", ".parquet")
"""What tables of ratings end in."""


@app.command(cls=ListCommand)
def agree(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="One or two tables of ratings (csv, tsv, txt, Parquet): image, caption and a column per "
            "rater; or image, caption, rater, rating; or Flickr8k's or CxC's own files.",
            show_default=False,
        ),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare these scores with the ratings: caption metrics (cider, spice, …), original (the "
            "benchmark's own pairs), runs, or tables of image, caption, score."
        ),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="With --score: see `karat benchmarks`.")
    ] = None,
    setting: scoring.Setting = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="A metric does not compare a caption with itself.")
    ] = False,
    similarity: scoring.Similarity = "dot",
    ids: scoring.IdsFile = None,
    transpose: scoring.Transpose = False,
    missing: Annotated[
        str, typer.Option(help="Pairs of the first table that the second does not list: left-out, or no.")
    ] = "left-out",
    first_from: Annotated[
        list[str] | None, typer.Option(help="Thresholds of the first table; all by default.")
    ] = None,
    second_from: Annotated[
        list[str] | None, typer.Option(help="Thresholds of the second table, or of the scores.")
    ] = None,
    raters: Annotated[
        list[str] | None, typer.Option(help="Of one table: only these raters, or columns.")
    ] = None,
    resample: Annotated[
        str | None,
        typer.Option(
            help="Drawn for intervals: each item, or all of an image or caption; "
            "items by default, images with --score."
        ),
    ] = None,
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
    """Show how far raters agree, or how far a score agrees with them, with intervals.

    One table: its raters, by Krippendorff's alpha and Cohen's kappa. Two tables: joined on image and
    caption, each cut into yes and no at every threshold of its scale, kappa of every two thresholds.
    With --score: Pearson, Spearman and Kendall of every score with the mean ratings, and the best kappa.
    """
    from karat.cli.show import console, print_notes, print_table
    from karat.scores import agree as compute
    from karat.scores import read_ratings
    from karat.stats import Intervals

    check_writable(json)
    options: dict[str, Any] = {
        "first_from": as_numbers(first_from, "--first-from"),
        "second_from": as_numbers(second_from, "--second-from"),
        "resample": resample or ("image" if score else "item"),
        "intervals": Intervals("bca" if bca else "percentile", level, resamples, seed),
    }
    found: Agreement | ScoreAgreement
    if score:
        if missing != "left-out":
            raise InputError("--missing with --score", fix="a pair without a score is always left out")
        loading = {"similarity": similarity, "ids": ids, "transpose": transpose}
        people, sources = sort_files(files, split_names(score) or [])
        found = against_scores(
            read_ratings(people, split_names(raters)),
            sources,
            benchmark,
            setting,
            leave_out,
            loading,
            options,
        )
    else:
        for option, given in (("--benchmark", benchmark), ("--set", setting), ("--leave-out", leave_out)):
            if given:
                raise InputError(f"{option} without --score", fix="name a score, such as --score cider")
        if len(files) > 2:
            raise InputError(plural(len(files), "table"), fix="give one or two")
        if len(files) == 2 and raters:
            raise InputError("--raters with two tables", fix="give one table, or leave it out")
        first = read_ratings(files[0], split_names(raters))
        found = compute(first, None if len(files) == 1 else files[1], missing=missing, **options)
    if json is not None:
        write_file(json, lambda path: path.write_text(found.to_json(), encoding="utf-8"))
    screen = console()
    for part in found.parts(intervals):
        if isinstance(part, str):
            print(part)
        else:
            print_table(part, screen)
    print_notes(found.notes)


def sort_files(files: list[Path], scores: list[str]) -> tuple[Path, list[str]]:
    """Return the table of ratings, and the scores with the files among them.

    After ``--score cider run.npy`` the run stands among the files: a run is never a table of ratings, and
    of tables the first holds the ratings.

    >>> sort_files([Path("run.npy"), Path("people.csv"), Path("mine.csv")], ["cider"])
    (PosixPath('people.csv'), ['cider', 'run.npy', 'mine.csv'])
    """
    tables = [path for path in files if path.suffix.lower() in TABLES]
    if not tables:
        shown = f"{files[0]} is no table of ratings"
        raise InputError(shown, fix=f"give a file that ends in {', '.join(TABLES)}")
    return tables[0], [*scores, *(str(path) for path in files if path is not tables[0])]


def against_scores(
    ratings: Ratings,
    sources: list[str],
    benchmark: str | None,
    setting: list[str] | None,
    leave_out: bool,
    loading: dict[str, Any],
    options: dict[str, Any],
) -> ScoreAgreement:
    """Return how far scores agree with ratings."""
    from dataclasses import replace

    from karat.benchmarks import load_benchmark
    from karat.captions import collect_scores
    from karat.cli.show import waiting
    from karat.scores import locate, score_agreement

    bench = None if benchmark is None else load_benchmark(benchmark, **parse_settings(setting))
    located = locate(ratings, bench)
    with waiting("scoring the rated pairs"):
        scores = collect_scores(located, sources, bench, leave_out=leave_out, **loading)
    with waiting("drawing resamples"):
        found = score_agreement(located.ratings, scores, original=located.original, **options)
    return replace(found, notes=(*located.notes, *found.notes))


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
