"""Options that several judging commands take: the project, which answers count, how they become verdicts."""

from __future__ import annotations

from typing import Annotated

import typer

ProjectPlace = Annotated[
    str, typer.Argument(metavar="PROJECT", help="A project's file, or its postgresql:// address.")
]
Aggregate = Annotated[str, typer.Option("--aggregate", "-a", help="majority, mean or dawid-skene.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", help="Of the aggregation: threshold=0.66, prior_answers=0.", metavar="NAME=VALUE"),
]
Control = Annotated[
    float, typer.Option(min=0, max=1, help="Share of control items that a worker must judge right.")
]
Surely = Annotated[
    bool, typer.Option("--surely", help="Fail a worker only when all of the 95% interval lies below.")
]
CaptionsWrong = Annotated[
    int, typer.Option(min=0, help="In a grid: captions of a control image that may be wrong.")
]
Exclude = Annotated[
    bool | None,
    typer.Option(
        "--exclude/--keep",
        help="Leave out who fails the control rule; by default, unless the aggregation weighs people.",
    ),
]
ApprovedOnly = Annotated[bool, typer.Option("--approved-only", help="Only approved hand-ins count.")]
