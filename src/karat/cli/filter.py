"""``karat filter``: what a filter by captions drops, and what people say of that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable, write_file
from karat.cli import scoring
from karat.cli.agree import as_numbers
from karat.cli.options import ListCommand, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=ListCommand)
def filter(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="A benchmark that holds its captions; see `karat benchmarks`.", show_default=False
        ),
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(help="More tables of ratings.", show_default=False)
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option(help="Tables of people's ratings, as `karat agree` reads them.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="How well an image's captions say that a caption fits.")
    ] = "bleu-pre",
    begin: Annotated[
        list[str] | None, typer.Option("--from", help="Pairs are kept from here on; 0.25 by default.")
    ] = None,
    relevant_from: Annotated[
        list[str] | None,
        typer.Option(help="Ratings from which on a pair is relevant; the middle of the scale by default."),
    ] = None,
    rated_captions: Annotated[
        bool, typer.Option("--rated-captions", help="Pair only captions that somebody rated.")
    ] = False,
    setting: scoring.Setting = None,
    level: scoring.Level = 0.95,
    resamples: scoring.Resamples = 10_000,
    seed: scoring.Seed = 0,
    json: Annotated[Path | None, typer.Option(help="Write every number here as json.")] = None,
) -> None:
    """Show what a filter by captions drops before people judge: of all pairs, and of the relevant ones.

    A pair is kept when its caption is like those of the image: Hodosh et al. (2013) took unigram BLEU
    after ROUGE's preprocessing, 0.25 or more.
    """
    from karat.benchmarks import load_benchmark
    from karat.captions import audit_filter
    from karat.cli.show import print_notes, waiting
    from karat.stats import Intervals

    check_writable(json)
    # Of several files after --ratings all but the first arrive as arguments.
    tables = [*(ratings or ()), *(files or ())]
    if not tables:
        raise InputError("there are no ratings to audit the filter with", fix="give a table: --ratings FILE")
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with waiting("comparing captions"):
        found = audit_filter(
            bench,
            tables,
            thresholds=sorted(as_numbers(begin, "--from") or [0.25]),
            metric=metric,
            relevant_from=as_numbers(relevant_from, "--relevant-from"),
            rated_captions=rated_captions,
            intervals=Intervals(level=level, resamples=resamples, seed=seed),
        )
    if json is not None:
        write_file(json, lambda path: path.write_text(found.to_json(), encoding="utf-8"))
    print("\n".join(found.sentences()))
    print_notes(found.notes)
