"""``karat normalise``: scores after a named step that uses other queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def normalise(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="One run: a score table or two embedding tables.", show_default=False
        ),
    ],
    how: Annotated[
        str,
        options.option(
            "--how",
            panel=options.SCORED,
            choices="normalisations",
            show_default=False,
            help="The step: {normalisations}.",
        ),
    ],
    output: Annotated[Path, options.output("scores, or of querybank ranked lists: {run_targets}.")],
    how_set: Annotated[
        list[str] | None,
        options.option(
            "--how-set",
            panel=options.SCORED,
            metavar="NAME=VALUE",
            help="A parameter of the step: temperature=0.01, or k=10 for csls.",
        ),
    ] = None,
    benchmark: options.BenchmarkName = "coco",
    bank: Annotated[
        list[Path] | None,
        options.option(
            "--bank",
            panel=options.INPUT,
            show_default=False,
            help="Queries from elsewhere, such as the training set: scores with these items, or both "
            "embedding tables.",
        ),
    ] = None,
    direction: options.Direction = None,
    top: options.OptionalTop = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
) -> None:
    """Normalise scores by other queries, and record it.

    Items that many queries score high are lowered. Without --bank these queries are the other ones of the
    test set: the numbers get better, the model does not, and they do not compare with those of a model that
    ranks one query at a time. Evaluations of the result say so.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.show import print_notes, tell, working
    from karat.runs import (
        NORMALISATIONS,
        Loading,
        check_kind,
        check_normalisation,
        convert,
        load_tables,
        normalised_scores,
        note_on_steps,
    )

    # Mistakes in these show before anything large is read.
    step, params = NORMALISATIONS[how], parse_settings(how_set)
    check_kind(output, "lists" if step.dynamic else "scores", top)
    check_normalisation(how, bank, direction, params)
    loading = Loading(similarity=similarity)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    with working(f"writing {output.name}"):
        run = load_tables(files, bench, loading)
        scores = normalised_scores(
            run,
            how,
            bank=bank,
            direction=direction,
            loading=loading,
            **params,
        )
        target: dict[str, Any] = {"target": output, "benchmark": bench, "made_with": scores.made_with}
        if step.dynamic:
            written = convert(scores.lists(top), **target)
        else:
            written = convert(scores.table, top=top, ids=run.ids or None, **target)
    tell(f"wrote {' and '.join(str(path) for path in written)}")
    print_notes([f"{run.name}: {note_on_steps(scores.made_with)}"])
