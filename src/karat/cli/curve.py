"""``karat curve``: recall by meaning, for growing numbers of items that count as right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand, split_names
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=ListCommand)
def curve(
    files: scoring.Files,
    benchmark: scoring.BenchmarkName = "coco",
    by: Annotated[
        str, typer.Option(help="The similarity: cider, spice, another caption metric, or one of --phi.")
    ] = "cider",
    at: Annotated[int, typer.Option(min=1, help="The cut-off K.")] = 5,
    m: Annotated[
        list[str] | None,
        typer.Option("--m", help="How many of the most similar items count as right: --m 1 5 10."),
    ] = None,
    with_gt: Annotated[
        bool, typer.Option("--with-gt", help="Let what the truth lists take part; else it is taken out.")
    ] = False,
    names: scoring.Names = None,
    truths: scoring.Truths = None,
    directions: scoring.Directions = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add bootstrap intervals over images with their captions.")
    ] = False,
    ties: scoring.Ties = "pessimistic",
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    phi: scoring.Phi = None,
    setting: scoring.Setting = None,
    json: Annotated[Path | None, typer.Option(help="Write the records here as json.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table (.csv, .md, …), or the drawing (.html)."),
    ] = None,
    threads: scoring.Threads = None,
) -> None:
    """Show Semantic Recall against the number of items that count as right, with the hit rate beside it.

    The m items most similar to the query by their captions count as right. SR@K is the share of them among
    the first K; the hit rate asks for one of them only.
    """
    from karat.cli.report import is_page, save_report
    from karat.cli.show import print_notes, print_scorecard
    from karat.scores import SCORECARD_WRITERS, M, curve_measures
    from karat.stats import Intervals

    for path in (json, output):
        check_writable(path)
    check_extension(None if is_page(output) else output, (*SCORECARD_WRITERS, ".html"))
    measures = [str(measure) for measure in curve_measures(by, at, counts(m) or M, with_gt)]
    card, runs, suspicions = scoring.score_files(
        files, benchmark, names=names, measures=measures, truths=truths, directions=directions, ties=ties,
        unjudged="misses", setting=setting, phi=phi, threads=threads, ids=ids, similarity=similarity,
        transpose=transpose, intervals=Intervals() if intervals else None,
    )  # fmt: skip
    if json is not None:
        write_file(json, lambda path: path.write_text(card.to_json(), encoding="utf-8"))
    if output is not None and is_page(output):
        save_report(card, output, runs, threads=threads)
    elif output is not None:
        card.save(output)
    print_scorecard(card)
    print_notes(suspicions)


def counts(given: list[str] | None) -> list[int] | None:
    """Return the numbers of items, given one by one or separated by commas.

    >>> counts(["1", "5,10"])
    [1, 5, 10]
    """
    texts = split_names(given)
    if texts is None:
        return None
    if not all(text.isascii() and text.isdigit() and 0 < int(text) < 10**9 for text in texts):
        raise InputError(f"--m is {' '.join(texts)!r}", fix="give whole numbers from 1 on")
    return [int(text) for text in texts]
