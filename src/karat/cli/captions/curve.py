"""``karat captions curve``: recall by meaning, for growing numbers of items that count as right."""

from __future__ import annotations

from typing import Annotated

import typer

from karat._util import split_names
from karat.cli import options
from karat.cli.command import Command
from karat.cli.evaluate import check_computed
from karat.cli.options import parse_files, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def curve(
    files: options.Files,
    benchmark: options.BenchmarkName = "coco",
    by: Annotated[
        str,
        options.option(
            "--by",
            panel=options.SCORED,
            choices="metrics",
            help="The similarity, one of --phi or a caption metric: {metrics}.",
        ),
    ] = "cider",
    at: Annotated[int, options.option("--at", min=1, panel=options.SCORED, help="The cut-off K.")] = 5,
    m: Annotated[
        list[str] | None,
        options.option(
            "--m",
            panel=options.SCORED,
            metavar="N",
            help="How many of the most similar items count as right: 1,5,10.",
        ),
    ] = None,
    with_gt: Annotated[
        bool,
        options.option(
            "--with-gt",
            panel=options.SCORED,
            help="Keep items that the truth lists; they are left out by default.",
        ),
    ] = False,
    name: options.Name = None,
    truth: options.Truth = None,
    direction: options.Direction = None,
    ties: options.Ties = "pessimistic",
    phi: options.Phi = None,
    intervals: options.ScoreIntervals = False,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: options.ScorecardFile = None,
) -> None:
    """Draw recall by meaning against how many items count as right.

    Semantic Recall, with the hit rate beside it. The m items most similar to the query by their captions
    count as right. SR@K is the share of them among the first K; the hit rate asks for one of them only.
    """
    from karat._util import is_page
    from karat.captions import curve
    from karat.cli.show import finish, working
    from karat.runs import Loading
    from karat.scores import CURVE_M, Scorecard

    Scorecard.check_path(output)
    with working("scoring"):
        card = curve(
            files, benchmark, by, at, counts(m) or CURVE_M, with_gt=with_gt, truth=truth, direction=direction,
            ties=ties, intervals=intervals, loading=Loading(name, similarity=similarity),
            phi=parse_files(phi), setting=parse_settings(setting), details=is_page(output),
        )  # fmt: skip
    check_computed(card)
    finish(card, json, output)


def counts(given: list[str] | None) -> list[int] | None:
    """Return the numbers of items, given one by one or separated by commas.

    >>> counts(["1", "5,10"])
    [1, 5, 10]
    """
    if not given:
        return None
    texts = [name for text in given for name in split_names(text)]
    if not all(text.isascii() and text.isdigit() and 0 < int(text) < 10**9 for text in texts):
        raise InputError(f"--m is {' '.join(texts)!r}", fix="give whole numbers of 1 or more")
    return [int(text) for text in texts]
