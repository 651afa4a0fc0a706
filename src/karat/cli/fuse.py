"""``karat fuse``: several runs, fused into one ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli import options
from karat.cli.choices import in_words
from karat.cli.command import Command
from karat.cli.options import parse_numbers, parse_settings
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=Command)
def fuse(
    files: options.Files,
    output: Annotated[Path, options.output("ranked lists, {list_files}.")],
    benchmark: options.BenchmarkName = "coco",
    method: Annotated[
        str,
        options.option(
            "--method", panel=options.SCORED, choices="fusions", help="How items get points: {fusions}."
        ),
    ] = "borda",
    method_set: Annotated[
        list[str] | None,
        options.option(
            "--method-set",
            panel=options.SCORED,
            metavar="NAME=VALUE",
            help="A setting of the method: k=60, for 1 / (k + place) of rrf.",
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        options.option("--weight", panel=options.SCORED, metavar="X", help="A number for each run: 2,1."),
    ] = None,
    top: options.OptionalTop = None,
    direction: options.Direction = None,
    similarity: options.Similarity = "dot",
    setting: options.Setting = None,
) -> None:
    """Fuse several runs into one ranking.

    Some methods fuse rankings and take any runs; others need scores.
    """
    from karat.baselines import check_fusion
    from karat.baselines import fuse as fuse_runs
    from karat.benchmarks import load_benchmark
    from karat.cli.show import tell, working
    from karat.runs import Loading, convert, writer_of

    # Mistakes in these show before anything large is read.
    writer = writer_of(output)
    if "lists" not in writer.holds:
        raise InputError("takes no ranked lists", where=output, fix=f"write {in_words('list_files')}")
    weights, params = parse_numbers(weight, "--weight"), parse_settings(method_set)
    check_fusion(method, weights, top, params)
    loading = Loading(similarity=similarity)
    bench = load_benchmark(benchmark, **parse_settings(setting))
    ways = direction and [bench.direction(way) for way in direction]
    check_number([path.stem for path in files])
    runs = options.load_runs(files, bench, loading)
    check_number([run.name for run in runs])
    shared = [way for way in ways or bench.directions if all(way in run.directions for run in runs)]
    if writer.one_direction and len(shared) > 1:
        raise InputError("holds one direction", where=output, fix=f"choose --direction {' or '.join(shared)}")

    with working(f"fusing {len(runs)} runs"):
        fused = fuse_runs(
            runs, runs[0].benchmark or bench, method, weight=weights, top=top, direction=ways, **params
        )
        written = convert(fused.raw, target=output, made_with=fused.made_with)
    tell(f"wrote {' and '.join(str(path) for path in written)}")


def check_number(names: list[str]) -> None:
    """Raise for a single run; two files may be one, too."""
    if len(names) < 2:
        raise InputError(f"there is only the run {names[0]!r} to fuse", fix="give two or more")
