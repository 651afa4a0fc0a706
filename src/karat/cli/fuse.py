"""``karat fuse``: one ranking out of several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli import scoring
from karat.cli.options import ListCommand, parse_settings, split_names
from karat.errors import InputError

app = typer.Typer()


@app.command(cls=ListCommand)
def fuse(
    files: scoring.Files,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the ranked lists go: .json, .csv, .parquet, .trec.")
    ],
    benchmark: scoring.BenchmarkName = "coco",
    method: Annotated[str, typer.Option(help="borda, rrf, mean, zscore or minmax.")] = "borda",
    k: Annotated[int | None, typer.Option("--k", min=0, help="For rrf: 1 / (k + place); 60 there.")] = None,
    weights: Annotated[list[str] | None, typer.Option(help="A number for each run: --weights 2 1.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Keep the first K items of each query.")] = None,
    directions: scoring.Directions = None,
    ids: scoring.IdsFile = None,
    similarity: scoring.Similarity = "dot",
    transpose: scoring.Transpose = False,
    setting: scoring.Setting = None,
) -> None:
    """Fuse runs of one benchmark into one, by their rankings or by their scores.

    Borda counts and reciprocal ranks take any runs; mean, zscore and minmax need scores.
    """
    from karat._util import check_choice
    from karat.benchmarks import DIRECTIONS, load_benchmark
    from karat.cli.show import console
    from karat.models import FUSIONS
    from karat.models import fuse as fuse_runs
    from karat.runs import convert, writer_of

    # Mistakes in these show before anything large is read.
    if "lists" not in writer_of(output).holds:
        raise InputError(
            "takes no ranked lists", where=output, fix="write .json, .csv, .tsv, .parquet or .trec"
        )
    FUSIONS[method]
    asked: Any = split_names(directions)
    for one in asked or ():
        check_choice(one, DIRECTIONS, "directions")
    shares = numbers(split_names(weights))
    bench = load_benchmark(benchmark, **parse_settings(setting))
    runs = scoring.load_runs(files, bench, None, ids=ids, similarity=similarity, transpose=transpose)
    if len(runs) < 2:
        raise InputError(f"there is only the run {runs[0].name!r} to fuse", fix="give two or more")
    options = {"weights": shares, "depth": depth, "directions": asked} | ({} if k is None else {"k": k})

    def work() -> list[Path]:
        fused = fuse_runs(runs, bench, method, **options)
        return convert(fused.raw, target=output)

    screen = console(stderr=True)
    if screen.is_terminal:
        with screen.status(f"fusing {len(runs)} runs"):
            written = work()
    else:
        written = work()
    print(f"wrote {' and '.join(str(path) for path in written)}")


def numbers(texts: list[str] | None) -> list[float] | None:
    """Return weights as numbers.

    >>> numbers(["2", "0.5"])
    [2.0, 0.5]
    """
    try:
        return None if texts is None else [float(text) for text in texts]
    except ValueError as error:
        raise InputError(f"a weight is no number ({error})", fix="write --weights 2 1") from None
