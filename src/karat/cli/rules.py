"""``karat rules``: what goes together in a table of booleans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command

app = typer.Typer()


@app.command(cls=Command)
def rules(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="Columns of 0 and 1: csv, tsv, txt or Parquet.",
            show_default=False,
        ),
    ],
    then: Annotated[
        list[str] | None,
        options.option("--then", panel=options.SCORED, help="What rules may conclude; all by default."),
    ] = None,
    given: Annotated[
        list[str] | None,
        options.option("--given", panel=options.SCORED, help="What rules may start from; all by default."),
    ] = None,
    parts: Annotated[
        int,
        options.option(
            "--parts",
            min=1,
            max=2,
            panel=options.SCORED,
            help="From how many columns a rule may start, 1 or 2.",
        ),
    ] = 1,
    min_support: Annotated[int, options.min_support("rows")] = 5,
    clusters: Annotated[
        str | None,
        options.option(
            "--clusters",
            panel=options.SURE,
            help="The column whose equal values belong together, such as image.",
            show_default=False,
        ),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{rule_files}.")] = None,
) -> None:
    """Find what goes together in failures.

    Rules between the columns of a table: if this, then that. Support, confidence and lift have intervals that
    hold for all rules together. `karat project rules` finds rules in what annotators marked.
    """
    from karat.cli.show import keep, working
    from karat.explanations import RuleReport
    from karat.explanations import rules as searched

    RuleReport.check_path(output)
    with working("searching for rules"):
        found = searched(
            table, then, given=given, clusters=clusters, parts=parts, min_support=min_support, level=level,
            seed=seed,
        )  # fmt: skip
    keep(found, json, output)
