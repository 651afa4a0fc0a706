"""``karat captions``: how well captions fit images, judged by the captions that the images have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_extension, check_writable, plural
from karat.cli import options
from karat.cli.command import Command, Group
from karat.cli.lines import read_lines
from karat.cli.options import parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat._util import Scheduler
    from karat.benchmarks import Benchmark
    from karat.captions import CaptionMetric


app = typer.Typer()
captions = typer.Typer(
    cls=Group, no_args_is_help=True, help="Score captions against the captions that images have."
)
app.add_typer(captions, name="captions")


@captions.command("table", cls=Command)
def score_table(
    benchmark: options.Captioned,
    metric: options.CaptionMetricNames = None,
    output: Annotated[Path | None, options.output("a table of images by captions, .npy.")] = None,
    leave_out: options.LeaveOut = False,
    queries: options.ChangedCaptions = None,
    corpus: options.Corpus = None,
    setting: options.Setting = None,
    threads: options.Threads = None,
    scheduler: options.SchedulerAddress = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
) -> None:
    """Score every image with every caption of a benchmark.

    `karat evaluate` reads the table like any run.
    """
    if output is None:
        raise InputError("all pairs are too many to print", fix="give -o N.npy, or karat captions pairs")
    check_writable(output)
    check_extension(output, (".npy",))
    cluster = options.scheduler_of(scheduler, tls_ca, tls_cert, tls_key)
    metrics = list(find_metrics(metric, corpus).values())
    if len(metrics) != 1:
        raise InputError(f"a table holds one metric, not {len(metrics)}", fix="name one: -m cider")
    bench = with_captions(benchmark, setting)
    changed = options.read_changed(queries, bench)
    score_all(bench, metrics[0], leave_out, changed, output, threads, cluster)


@captions.command("pairs", cls=Command)
def score_listed(
    benchmark: options.Captioned,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="A table with the columns image and caption (ids).", show_default=False
        ),
    ],
    metric: options.CaptionMetricNames = None,
    output: Annotated[Path | None, options.output("a table, .csv or .parquet; printed by default.")] = None,
    leave_out: options.LeaveOut = False,
    corpus: options.Corpus = None,
    setting: options.Setting = None,
) -> None:
    """Score listed pairs of images and captions."""
    from karat.captions import PairScores, score_pairs
    from karat.cli.show import saying, show

    check_writable(output)
    PairScores.check_path(output)
    chosen = find_metrics(metric, corpus)
    bench = with_captions(benchmark, setting)
    with saying() as say:
        found = score_pairs(bench, pairs, chosen, leave_out=leave_out, progress=say)
    if output is None:
        show(found)
    else:
        found.save(output)
        print(f"wrote {output}: {', '.join(found.scores)} of {plural(len(found.image), 'pair')}")


@captions.command("score", cls=Command)
def score_image(
    references: Annotated[
        Path,
        options.option(
            "--references",
            panel=options.INPUT,
            show_default=False,
            help="One image's captions, one per line.",
        ),
    ],
    candidate: Annotated[
        list[str],
        options.option(
            "--candidate",
            panel=options.INPUT,
            metavar="CAPTION",
            show_default=False,
            help="A caption to score against them; repeat it for more.",
        ),
    ],
    metric: options.CaptionMetricNames = None,
    corpus: options.Corpus = None,
) -> None:
    """Score captions of one image against others of it."""
    from karat.captions import score_candidates
    from karat.cli.show import show

    chosen = find_metrics(metric, corpus)
    show(score_candidates(read_lines(references), candidate, chosen, skip_missing=metric is None))


@captions.command("corpus", cls=Command)
def save_frequencies(
    benchmark: options.Captioned,
    output: Annotated[Path, options.output("a file, .npz.")],
    setting: options.Setting = None,
) -> None:
    """Write a benchmark's document frequencies, for cider."""
    check_writable(output)
    check_extension(output, (".npz",))
    write_corpus(with_captions(benchmark, setting), output)


def with_captions(name: str, setting: list[str] | None) -> Benchmark:
    """Return a benchmark that has captions."""
    from karat.benchmarks import load_benchmark

    bench = load_benchmark(name, **parse_settings(setting))
    return replace(bench, texts=bench.needed_texts)


def find_metrics(names: list[str] | None, corpus: Path | None) -> dict[str, CaptionMetric]:
    """Return the requested metrics, or all; those that use document frequencies with those of a corpus."""
    from karat.captions import CAPTION_METRICS, DocumentFrequencies

    found = {CAPTION_METRICS[name].name: CAPTION_METRICS[name] for name in names or CAPTION_METRICS}
    for known in found.values():
        known.check_installed()
    if corpus is None:
        return found
    frequencies = DocumentFrequencies.load(corpus)
    users = [name for name, metric in found.items() if hasattr(metric, "frequencies")]
    if not users:
        raise InputError(f"none of {', '.join(found)} uses document frequencies", fix="leave --corpus out")
    made: dict[str, Callable[..., CaptionMetric]] = {name: type(found[name]) for name in users}
    return {**found, **{name: make(frequencies=frequencies) for name, make in made.items()}}


def score_all(
    bench: Benchmark,
    metric: CaptionMetric,
    leave_out: bool,
    queries: dict[str, str] | None,
    output: Path,
    threads: int | None,
    scheduler: Scheduler | None,
) -> None:
    """Write φ of every image and caption, and the ids of rows and columns beside it."""
    from karat._util import replacing_all
    from karat.captions import all_pairs, asked_texts
    from karat.runs import write_ids

    beside = output.with_suffix(".ids.json")
    caption, _ = asked_texts(bench, queries)
    ids = {"images": bench.images.gallery, "captions": bench.captions.gallery[caption]}
    with replacing_all(output, beside) as (table, listed), blocks(metric.name) as progress:
        all_pairs(
            bench, metric, leave_out=leave_out, queries=queries, out=table, threads=threads,
            progress=progress, scheduler=scheduler,
        )  # fmt: skip
        write_ids(ids, listed)
    sizes = f"{plural(bench.images.size, 'image')} by {plural(len(caption), 'caption')}"
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
