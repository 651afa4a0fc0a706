"""``karat perturb``: captions with changed words, to see whether a model reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_writable
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
    output: Annotated[Path | None, options.output("the queries (.tsv), or a table; {query_files}.")] = None,
    json: options.Json = None,
) -> None:
    """Change words of captions, keeping the grammar.

    Encode the new queries with your model: if the ranks do not change, it does not read those words.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import show, waiting, write_json
    from karat.explanations import PerturbedCaptions, perturb_captions

    PerturbedCaptions.check_path(output)
    check_writable(json)
    check_writable(output)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with waiting("changing words"):
        perturbed = perturb_captions(bench, kind, words=words, seed=seed, keep_unchanged=keep_unchanged)
    if output is not None:
        perturbed.save(output)
    show(perturbed, quiet=write_json(perturbed, json))
