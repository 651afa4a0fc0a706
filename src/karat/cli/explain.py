"""``karat explain``: why the wrong item came first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def explain(
    files: options.Files,
    benchmark: options.BenchmarkName = "coco",
    truth: options.Truth = None,
    direction: options.Direction = None,
    rank: Annotated[
        list[str] | None,
        options.option(
            "--rank", panel=options.SCORED, metavar="N", help="Places of wrong items: 1,2,5; 1 by default."
        ),
    ] = None,
    concepts: Annotated[
        str | None,
        options.option(
            "--concepts",
            panel=options.INPUT,
            metavar="WHERE",
            help="What images show: objects, captions, or scene graphs of Visual Genome in a json file; by "
            "default objects where there are any.",
        ),
    ] = None,
    synset_map: Annotated[
        Path | None,
        options.option(
            "--synset-map",
            panel=options.INPUT,
            help="Synsets of names, json: Visual Genome's object_synsets.json.",
        ),
    ] = None,
    query_informed: Annotated[
        bool,
        options.option(
            "--query-informed",
            panel=options.SCORED,
            help="Also count only the concepts that the query mentions.",
        ),
    ] = False,
    ties: Annotated[
        str,
        options.option(
            "--ties", panel=options.SCORED, choices="failure_ties", help="Equal scores: {failure_ties}."
        ),
    ] = "pessimistic",
    better: Annotated[
        str | None,
        options.option(
            "--better",
            panel=options.SCORED,
            metavar="TRUTH",
            help="A better truth: retrieved items that it calls relevant are successful alternatives.",
        ),
    ] = None,
    keywords: Annotated[
        int | None,
        options.option(
            "--keywords",
            min=1,
            panel=options.SCORED,
            metavar="N",
            help="Mark captions that share fewer concepts than this with the other captions of their image.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        options.option(
            "--without",
            panel=options.SCORED,
            choices="faults",
            help="Failures with this mark do not count: {faults}.",
        ),
    ] = None,
    slices: Annotated[
        bool, options.slices("search for those on which a run is weak, or weaker than another.")
    ] = False,
    seed: options.Seed = 0,
    name: options.Name = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
    json: options.Json = None,
    output: Annotated[Path | None, options.result_file("{explanation_files}.")] = None,
    local: Annotated[
        Path | None,
        options.option(
            "--local",
            panel=options.OUTPUT,
            callback=options.check_file,
            help="Write every failure to this file: {explanation_files}.",
        ),
    ] = None,
    clean: Annotated[
        Path | None,
        options.option(
            "--clean",
            panel=options.OUTPUT,
            callback=options.check_file,
            help="Write captions that fit their images badly, the worst first, to this file: "
            "{explanation_files}.",
        ),
    ] = None,
    image_folder: options.ImageFolder = None,
) -> None:
    """Explain failures: what wrong items show instead.

    For every query whose first item is wrong, the image that should have come is compared with the one that
    came: common concepts, similarity of the others, numbers, sizes, positions.
    """
    from karat.cli.show import finish, working
    from karat.explanations import CleaningList, ConceptComparison, Explanation, FaultChoices, LocalFailures
    from karat.explanations import explain as explained
    from karat.reports import PageOptions
    from karat.runs import Loading

    Explanation.check_path(output)
    LocalFailures.check_path(local)
    CleaningList.check_path(clean)
    page = PageOptions(None, image_folder)
    with working("explaining failures"):
        result = explained(
            files, benchmark, truth=truth, direction=direction, rank=parse_ranks(rank), ties=ties,
            concepts=concepts, comparison=ConceptComparison(synset_map, query_informed),
            faults=FaultChoices(better, keywords, without or ()), slices=slices, clean=clean is not None,
            seed=seed, setting=parse_settings(setting), loading=Loading(name, similarity=similarity),
        )  # fmt: skip
    if local is not None:
        result.local.save(local)
    if clean is not None and result.cleaning is not None:
        result.cleaning.save(clean)
    finish(result, json, output, page)


def parse_ranks(given: list[str] | None) -> list[int]:
    """Return ranks as whole numbers.

    >>> parse_ranks(["1", "5"]), parse_ranks(None)
    ([1, 5], [1])
    """
    numbers = parse_numbers(given, "--rank") or [1.0]
    for number in numbers:
        if number != int(number):
            raise InputError(f"--rank is {number:g}", fix="give whole numbers from 1")
    return [int(number) for number in numbers]
