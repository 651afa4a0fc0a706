"""``karat perturb``: captions with changed words, to see whether a model reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def perturb(
    benchmark: options.Captioned,
    kind: Annotated[
        str,
        options.option(
            "--kind",
            panel=options.SCORED,
            choices="perturbations",
            help="What is changed: {perturbations}; with parameters, such as 'colour(in)'.",
        ),
    ],
    words: Annotated[
        str,
        options.option(
            "--words",
            panel=options.SCORED,
            metavar="WHICH",
            help="Of a caption's words that fit: one, drawn at random, or all.",
        ),
    ] = "one",
    keep_unchanged: Annotated[
        bool,
        options.option(
            "--keep-unchanged",
            panel=options.OUTPUT,
            help="Write captions that the kind does not apply to, too, as they are.",
        ),
    ] = False,
    setting: options.Setting = None,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, options.result_file("the queries (.tsv), or a table; {query_files}.")
    ] = None,
    json: options.Json = None,
) -> None:
    """Change words of captions, keeping the grammar.

    Encode the new queries with your model: if the ranks do not change, it does not read those words.
    """
    from karat.cli.show import keep, working
    from karat.perturbations import PerturbedCaptions, perturb

    PerturbedCaptions.check_path(output)
    with working("changing words"):
        perturbed = perturb(
            benchmark, kind, words=words, seed=seed, keep_unchanged=keep_unchanged,
            setting=parse_settings(setting),
        )  # fmt: skip
    keep(perturbed, json, output)
