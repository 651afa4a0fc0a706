"""``karat rules``: what goes together in failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable
from karat.cli import options
from karat.cli.agree import TABLES
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat._util import Result

app = typer.Typer()


@app.command(cls=Command)
def rules(
    source: Annotated[
        str,
        typer.Argument(
            metavar="PROJECT|TABLE",
            help="A project's file, or its postgresql:// address: what its annotators marked. Or a table of "
            "0 and 1 (csv, tsv, txt, Parquet): its columns.",
            show_default=False,
        ),
    ],
    question: Annotated[
        str | None,
        options.option(
            "--question",
            panel=options.SCORED,
            help="Of a project: the follow-up question; by default the first with several choices.",
            show_default=False,
        ),
    ] = None,
    slices: Annotated[
        bool,
        options.slices("of a project, search for rules from what captions mention to what is marked."),
    ] = False,
    share: Annotated[
        float | None,
        options.option(
            "--share",
            panel=options.SCORED,
            help="Of a project: a pair has what at least this share of its answers marks; 0.5 by default.",
            show_default=False,
        ),
    ] = None,
    then: Annotated[
        list[str] | None,
        options.option(
            "--then", panel=options.SCORED, help="Of a table: what rules may conclude; all by default."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        options.option(
            "--given", panel=options.SCORED, help="Of a table: what rules may start from; all by default."
        ),
    ] = None,
    parts: Annotated[
        int | None,
        options.option(
            "--parts",
            min=1,
            max=2,
            panel=options.SCORED,
            help="Of a table: from how many columns a rule may start, 1 or 2; 1 by default.",
            show_default=False,
        ),
    ] = None,
    min_support: Annotated[
        int | None,
        options.option(
            "--min-support",
            min=1,
            panel=options.SCORED,
            help="The fewest rows with both sides of a rule; by default 5, of a project 3 pairs.",
            show_default=False,
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        options.option(
            "--clusters",
            panel=options.SURE,
            help="Of a table: the column whose equal values belong together, such as image.",
            show_default=False,
        ),
    ] = None,
    aggregate: options.Aggregate = options.AGGREGATE,
    gold_share: options.GoldShare = options.GOLD_SHARE,
    only_if_certain: options.OnlyIfCertain = False,
    captions_wrong: options.CaptionsWrong = 0,
    exclude: options.Exclude = None,
    approved_only: options.ApprovedOnly = False,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json: options.Json = None,
    output: Annotated[Path | None, options.output("{rule_files}.")] = None,
) -> None:
    """Find what goes together in failures.

    Of a project whose form has a question with several choices (misread): how often each is marked, how many
    at once, the ratings, and rules between them. Of a table: rules between its columns. Support, confidence
    and lift have intervals that hold for all rules together.
    """
    from karat.cli.show import opening, show, waiting, write_json
    from karat.explanations import RuleReport, check_share, find_rules, summarise_marks
    from karat.stats import check_level

    for path in (json, output):
        check_writable(path)
    RuleReport.check_path(output)
    chosen: dict[str, Any] = {"level": check_level(level), "seed": seed}
    if min_support is not None:
        chosen["min_support"] = min_support
    found: Result
    if Path(source).suffix.lower() in TABLES:
        refuse("a table", "a project", question=question, slices=slices, share=share, exclude=exclude,
               approved_only=approved_only, only_if_certain=only_if_certain,
               captions_wrong=captions_wrong or None,
               aggregate=aggregate if aggregate != options.AGGREGATE else None,
               gold_share=gold_share if gold_share != options.GOLD_SHARE else None)  # fmt: skip
        with waiting("searching for rules"):
            found = find_rules(source, then, given=given, clusters=clusters, parts=parts or 1, **chosen)
    else:
        refuse("a project", "a table", then=then, given=given, parts=parts, clusters=clusters)
        from karat.judging import AcceptanceRule, project_marks

        acceptance = AcceptanceRule(
            aggregate, gold_share=gold_share, only_if_certain=only_if_certain, captions_wrong=captions_wrong,
            exclude=exclude, approved_only=approved_only,
        )  # fmt: skip
        if share is not None:
            chosen["share"] = check_share(share)
        with opening(source) as project, waiting("searching for rules"):
            found = summarise_marks(
                project_marks(project, acceptance, question=question), slices=slices, **chosen
            )
    if output is not None:
        found.save(output)
    show(found, quiet=write_json(found, json))


def refuse(here: str, there: str, **given: object) -> None:
    """Raise for the first option that is given and means nothing here."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InputError(
                f"--{name.replace('_', '-')} with {here}", fix=f"leave it out; it is for {there}"
            )
