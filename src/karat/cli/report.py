"""``karat report``: one html file with everything that was found."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_writable, plural
from karat.cli import scoring
from karat.cli.options import ListCommand

if TYPE_CHECKING:
    from karat.runs import Run
    from karat.scores import Comparison, Scorecard

app = typer.Typer()

Title = Annotated[str | None, typer.Option(help="The page's title.")]


@app.command(cls=ListCommand)
def report(
    files: scoring.Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The html file to write.")] = Path(
        "report.html"
    ),
    benchmark: scoring.BenchmarkName = "coco",
    names: scoring.Names = None,
    title: Title = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Show only image files in this folder; by default where the benchmark has them."),
    ] = None,
    inline_images: Annotated[
        float, typer.Option(min=0, help="Megabytes of small pictures in the file; more are linked.")
    ] = 2.0,
    measures: scoring.Measures = None,
    truths: scoring.Truths = None,
    directions: scoring.Directions = None,
    test: scoring.Test = "randomisation",
    samples: scoring.Samples = 100_000,
    alpha: scoring.Alpha = 0.05,
    method: scoring.Method = "percentile",
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    ties: scoring.Ties = "pessimistic",
    unjudged: scoring.Unjudged = "misses",
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    phi: scoring.Phi = None,
    setting: scoring.Setting = None,
    threads: scoring.Threads = None,
) -> None:
    """Write one html file about one or several runs, which opens without a network.

    In it: a headline in plain words, scores with intervals, who beats whom, how places change from metric to
    metric, what unjudged labels leave open, every query, and the methods.
    """
    from karat.cli.show import print_notes, waiting
    from karat.reports import check_target
    from karat.scores import check_choices, compare, with_intervals
    from karat.stats import Intervals

    check_target(output)
    check_writable(output)
    # Wrong choices show before large files are read.
    check_choices(test, alpha, samples, seed)
    intervals = Intervals(method, level, resamples, seed)
    card, runs, suspicions = scoring.score_files(
        files, benchmark, names=names, measures=measures, truths=truths, directions=directions, ties=ties,
        unjudged=unjudged, setting=setting, phi=phi, threads=threads, ids=ids, similarity=similarity,
        transpose=transpose,
    )  # fmt: skip
    found: Comparison | Scorecard
    with waiting(f"comparing {plural(len(card.runs), 'run')}"):
        if len(card.runs) == 1:
            found = with_intervals(card, intervals)
        else:
            found = compare(card, test=test, alpha=alpha, intervals=intervals, samples=samples, seed=seed)
    save_report(
        found, output, runs, title=title, images=images, inline_images=inline_images, threads=threads
    )  # fmt: skip
    print_notes(suspicions)


def save_report(
    found: Comparison | Scorecard,
    output: Path,
    runs: list[Run],
    *,
    title: str | None = None,
    images: Path | None = None,
    inline_images: float = 2.0,
    threads: int | None = None,
) -> None:
    """Write the report of scored runs, and say where it is."""
    from karat.cli.show import waiting
    from karat.reports import write_report

    with waiting(f"writing {output.name}"):
        write_report(
            found, output, runs=runs, title=title, images=images,
            inline_images=inline_images, command=as_typed(), threads=threads,
        )  # fmt: skip
    say_where(output)


def is_page(path: Path | None) -> bool:
    """Whether a file is to be a report.

    >>> is_page(Path("report.HTML")), is_page(Path("table.md")), is_page(None)
    (True, False, False)
    """
    return path is not None and path.suffix.lower() in (".html", ".htm")


def as_typed() -> str:
    """Return the command as it was typed, for the report's methods."""
    return shlex.join(["karat", *sys.argv[1:]])


def say_where(output: Path) -> None:
    """Print the file's name and size."""
    print(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB); open it in a browser")
