"""``karat captions``: how well captions fit images, judged by the captions that the images have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_extension, check_writable, plural, write_file
from karat.cli import scoring
from karat.cli.options import ListCommand, parse_settings, split_names
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.captions import CaptionMetric

app = typer.Typer()


@app.command(cls=ListCommand)
def captions(
    benchmark: Annotated[
        str | None, typer.Argument(help="See `karat benchmarks`; it must hold captions.", show_default=False)
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metrics", "-m", help="Such as cider, spice, bleu-4, rouge-l, hodosh-rouge."),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Score only these: a table with the columns image and caption (ids).")
    ] = None,
    references: Annotated[
        Path | None, typer.Option(help="One image's captions, one a line, instead of a benchmark.")
    ] = None,
    candidate: Annotated[
        list[str] | None, typer.Option(help="With --references: captions to score against them.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave a caption out of the references of its own image.")
    ] = False,
    corpus: Annotated[
        Path | None, typer.Option(help="For cider: document frequencies that --save-corpus wrote.")
    ] = None,
    save_corpus: Annotated[
        Path | None, typer.Option(help="Write the benchmark's document frequencies here (.npz).")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the benchmark: --set captions=captions.tsv."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write all pairs (.npy), or the scores of --pairs (.csv, .parquet)."
        ),
    ] = None,
    threads: scoring.Threads = None,
) -> None:
    """Score captions against the captions of images: all pairs of a benchmark, a list of pairs, or one image.

    All pairs become a table of images by captions, which `karat evaluate` reads like any run.
    """
    from karat.benchmarks import load_benchmark
    from karat.cli.caption_tables import TABLES, print_fit, score_pairs

    for path in (output, save_corpus):
        check_writable(path)
    chosen = find_metrics(metrics, corpus)
    if (references is None) != (candidate is None):
        raise InputError("--references and --candidate belong together", fix="give both, or a benchmark")
    if references is not None:
        others = {
            "the benchmark": benchmark, "--pairs": pairs, "--output": output, "--save-corpus": save_corpus,
            "--set": setting, "--leave-out": leave_out or None,
        }  # fmt: skip
        for name, value in others.items():
            if value is not None:
                raise InputError(f"{name} says nothing beside --references", fix="leave one of the two out")
        print_fit(references, candidate or [], chosen, named=metrics is not None)
        return
    if benchmark is None:
        raise InputError("no benchmark is named", fix="name one, or give --references and --candidate")
    if save_corpus is None and (pairs is None and output is None):
        raise InputError("all pairs are too many to print", fix="give -o N.npy, or --pairs FILE")
    check_extension(save_corpus, (".npz",))
    check_extension(output, (".npy",) if pairs is None else TABLES)
    if pairs is None and output is not None and len(chosen) != 1:
        raise InputError(f"a table holds one metric, not {len(chosen)}", fix="name one: -m cider")
    bench = load_benchmark(benchmark, **parse_settings(setting))
    if bench.texts is None:
        raise InputError(f"{bench.name} has ids but no captions", fix="name their file: --set captions=FILE")
    if save_corpus is not None:
        write_corpus(bench, save_corpus)
    if pairs is not None:
        score_pairs(bench, pairs, chosen, leave_out, output)
    elif output is not None:
        (metric,) = chosen.values()
        score_all(bench, metric, leave_out, output, threads)


def find_metrics(names: list[str] | None, corpus: Path | None) -> dict[str, CaptionMetric]:
    """Return the metrics asked for, or all; those that use document frequencies with those of a corpus."""
    from karat.captions import CAPTION_METRICS, DocumentFrequencies

    found = {
        CAPTION_METRICS[name].name: CAPTION_METRICS[name] for name in split_names(names) or CAPTION_METRICS
    }
    if corpus is None:
        return found
    frequencies = DocumentFrequencies.load(corpus)
    users = [name for name, metric in found.items() if hasattr(metric, "frequencies")]
    if not users:
        raise InputError(f"none of {', '.join(found)} uses document frequencies", fix="leave --corpus out")
    made: dict[str, Callable[..., CaptionMetric]] = {name: type(found[name]) for name in users}
    return {**found, **{name: make(frequencies=frequencies) for name, make in made.items()}}


def score_all(
    bench: Benchmark, metric: CaptionMetric, leave_out: bool, output: Path, threads: int | None
) -> None:
    """Write φ of every image and caption, and the ids of rows and columns beside it."""
    from karat.captions import all_pairs
    from karat.runs import write_ids

    with blocks(metric.name) as progress:
        all_pairs(bench, metric, leave_out=leave_out, out=output, threads=threads, progress=progress)
    beside = output.with_suffix(".ids.json")
    ids = {"images": bench.images.gallery, "captions": bench.captions.gallery}
    write_file(beside, lambda path: write_ids(ids, path))
    sizes = f"{plural(bench.images.size, 'image')} by {plural(bench.captions.size, 'caption')}"
    print(f"wrote {output}: {metric.name} of {sizes}, from 0 to {metric.highest:g}; ids in {beside.name}")


def write_corpus(bench: Benchmark, path: Path) -> None:
    """Write in how many images of a benchmark each n-gram occurs."""
    from karat.captions import DocumentFrequencies, references_of

    found = DocumentFrequencies.from_references(references_of(bench))
    found.save(path)
    print(f"wrote {path}: {found.images:,} images, {len(found.grams):,} n-grams")


@contextmanager
def blocks(what: str) -> Iterator[Callable[[int, int], object] | None]:
    """Yield what shows on a terminal how many images are done."""
    from karat.cli.show import console

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    with screen.status(f"{what}: reading captions") as status:
        yield lambda done, total: status.update(f"{what}: {done:,} of {plural(total, 'image')}")
