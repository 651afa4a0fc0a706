"""Inspection of a run before it is scored: what it is, whether it fits, and whether its scores make sense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from karat._util import TEXT_FORMATS, Result, plural
from karat.benchmarks import Benchmark, as_benchmark
from karat.errors import InputError, KaratError
from karat.runs import (
    Compute,
    EmbeddingRun,
    Loading,
    MatrixRun,
    RankingsRun,
    Run,
    note_on_steps,
    notes_on_loading,
    read_run,
)
from karat.scores.evaluation import at_chance, chance_r1, explain_chance, listed_truth, quick_r1

Level = Literal["fact", "warning", "error"]
READ_ROWS = 4096
"""Vectors that are looked at at once, so that tables in files stay there."""


@dataclass(frozen=True)
class Finding:
    """One thing that was seen; a warning or an error says how to fix it."""

    level: Level
    text: str


MARKS: dict[Level, str] = {"fact": "  ", "warning": "! ", "error": "✗ "}


@dataclass
class Inspection(Result):
    """Everything that was seen, in order."""

    formats = TEXT_FORMATS

    findings: list[Finding] = field(default_factory=list)

    def add(self, level: Level, text: str) -> None:
        """Note a finding."""
        self.findings.append(Finding(level, text))

    @property
    def worst(self) -> Level:
        """The most serious level."""
        levels: tuple[Level, ...] = ("error", "warning")
        return next((level for level in levels if any(f.level == level for f in self.findings)), "fact")

    def records(self) -> list[dict[str, Any]]:
        """Return one record per finding: its level and its text."""
        return [asdict(finding) for finding in self.findings]

    def parts(self) -> list[str]:
        """Return a line per finding; ! marks a warning, ✗ an error."""
        return ["\n".join(MARKS[finding.level] + finding.text for finding in self.findings)]


def inspect(
    *sources: Any,
    benchmark: Benchmark | str | Path | None = None,
    setting: Mapping[str, Any] | None = None,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> Inspection:
    """Look at a run, and never raise for what is wrong with it.

    Parameters
    ----------
    *sources
        A run, or what `karat.load_run` takes.
    benchmark
        What the run should answer: a benchmark, its name or its folder. A benchmark may also be the last of
        `sources`.
    setting
        Settings of a benchmark that is given by name, as `karat.load_benchmark` takes them.
    loading, compute
        How the run is read, how much memory that may take, and what is told meanwhile.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> from karat.benchmarks import Ids, Judgments, Provenance, Truth
    >>> own = Judgments([0, 1, 1], [0, 1, 2], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(3)})
    >>> tiny = Benchmark("tiny", Ids([7, 8], kind="image"), Ids(range(3), kind="caption"), {"own": truth})
    >>> print(inspect(np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]), benchmark=tiny).findings[1].text)
    is transposed: tiny has 2 images by 3 captions; karat convert --transpose turns it
    """
    if sources and isinstance(sources[-1], Benchmark):
        sources, benchmark = sources[:-1], sources[-1]
    if benchmark is None:
        raise InputError("no benchmark was given", fix="name one, such as coco")
    benchmark = as_benchmark(benchmark, setting)
    benchmark.check_gallery()
    report = Inspection()
    try:
        run = read_run(sources, benchmark, None, loading, compute)
        made_with = run.made_with
        run = look_at_backing(run, benchmark, report)
        if made_with is not None:
            report.add("fact", f"made with {made_with}")
        run = run.align(benchmark)
    except KaratError as error:
        report.add("error", str(error))
        return report
    look_at_ids(run, benchmark, report)
    if isinstance(run, RankingsRun):
        benchmark = run.benchmark or benchmark
    if isinstance(run, MatrixRun) and not look_at_scores(run, report):
        return report
    look_at_quality(run, benchmark, report)
    return report


def look_at_backing(run: Run, benchmark: Benchmark, report: Inspection) -> Run:
    """Note what the run is made of; return it, turned where it was transposed."""
    if isinstance(run, MatrixRun):
        report.add("fact", f"score table of {shape(run.images_by_captions)}, {run.scores.dtype}")
        return turned(run, benchmark, report)
    if isinstance(run, EmbeddingRun):
        look_at_embeddings(run, benchmark, report)
    elif isinstance(run, RankingsRun):
        look_at_lists(run, benchmark, report)
    return run


def look_at_ids(run: Run, benchmark: Benchmark, report: Inspection) -> None:
    """Note how the run fits the benchmark, and where its ids come from."""
    report.add("fact", f"fits {benchmark.name}: {benchmark.extent}")
    for note in benchmark.pooled_notes():
        report.add("fact", note)
    if isinstance(run, RankingsRun):
        for note in notes_on_loading([run]):
            report.add("warning", note)
    else:
        order = "an ids file" if getattr(run, "ids", None) else "the benchmark's own order"
        report.add("fact", f"ids from {order}")


def shape(counts: Sequence[int]) -> str:
    """Return rows by columns in words."""
    return " by ".join(f"{count:,}" for count in counts)


def turned(run: MatrixRun, benchmark: Benchmark, report: Inspection) -> MatrixRun:
    """Return the table as images by captions, and note when it was transposed."""
    size = (benchmark.images.size, benchmark.captions.size)
    if run.images_by_captions == size[::-1] != size:
        one, other = (side.counted(number) for side, number in zip(benchmark.sides, size))
        expected, turn = f"{one} by {other}", "karat convert --transpose turns it"
        report.add("warning", f"is transposed: {benchmark.name} has {expected}; {turn}")
        return MatrixRun(run.scores if run.rows == "captions" else run.scores.T, run.name, run.ids, run.where)
    return run


def look_at_embeddings(run: EmbeddingRun, benchmark: Benchmark, report: Inspection) -> None:
    """Note size, lengths and repeated rows of embeddings, and what the pass over their files found."""
    width = run.vectors[0].shape[1]
    sides = " by ".join(side.many for side in benchmark.sides)
    report.add("fact", f"embeddings of {width} dimensions: {shape(run.shape)} ({sides})")
    # Those of one collection are there twice.
    kinds = [side.one for side in benchmark.sides][: len(benchmark.directions)]
    for kind, table, norm in zip(kinds, run.vectors, run.norms):
        report.add("fact", f"{kind} vectors have lengths from {norm.min():.4g} to {norm.max():.4g}")
        again = repeated_rows(table.read(*span) for span in table.spans(READ_ROWS))
        if again:
            rows = plural(again, f"{kind} vector")
            report.add("warning", f"{rows} repeat an earlier one: they tie in every ranking")
        zero = np.flatnonzero(norm == 0)
        if len(zero):
            report.add("warning", f"{plural(len(zero), f'{kind} vector')} are zero, first row {zero[0]}")
    if run.similarity == "dot" and not run.unit_length:
        report.add(
            "warning", "lengths differ from 1 and scores are plain products; --similarity cosine scales them"
        )
    for kind, check in zip(kinds, run.checks):
        report.add("fact", f"{kind} embeddings: {check.source}, all rows read and finite")
        for warning in check.warnings:
            report.add("warning", warning)


def look_at_lists(run: RankingsRun, benchmark: Benchmark, report: Inspection) -> None:
    """Note how many lists there are and how long they are."""
    for direction in run.directions:
        ranked = run.raw[direction].values()
        lengths = np.array([len(listed) for listed in ranked if hasattr(listed, "__len__")])
        if len(lengths):
            lists = plural(len(lengths), "ranked list")
            report.add("fact", f"{direction}: {lists} of {lengths.min():,} to {lengths.max():,} items")
    for direction in benchmark.asked_directions:
        if direction not in run.directions:
            report.add("warning", f"has no {direction} rankings: only one direction can be scored")


def repeated_rows(parts: Iterable[np.ndarray]) -> int:
    """Return how many rows are exactly like an earlier one."""
    seen: set[int] = set()
    again = 0
    for part in parts:
        for row in part:
            key = hash(row.tobytes())
            again += key in seen
            seen.add(key)
    return again


def look_at_scores(run: MatrixRun, report: Inspection) -> bool:
    """Note range, ties and repeated rows of a score table; return whether every score is a number."""
    low, high, bad, first = np.inf, -np.inf, 0, None
    sums = np.zeros(run.shape[0]), np.zeros(run.shape[1])
    for begin, block in run.blocks():
        wrong = ~np.isfinite(block)
        if wrong.any():
            bad += int(wrong.sum())
            if first is None:
                row, column = np.argwhere(wrong)[0]
                place = (begin + row, column) if run.rows == "images" else (column, begin + row)
                first = (*place, block[row, column])
        else:
            low, high = min(low, float(block.min())), max(high, float(block.max()))
            sums[0][begin : begin + len(block)] = block.sum(axis=1, dtype=np.float64)
            sums[1][:] += block.sum(axis=0, dtype=np.float64)
    if first is not None:
        report.add(
            "error",
            f"{plural(bad, 'score')} are not numbers, first {first[2]} in row {first[0]}, column {first[1]}",
        )
        return False
    report.add("fact", f"scores from {low:.4g} to {high:.4g}: {kind_of_range(low, high)}")
    if low == high:
        report.add("warning", "all scores are the same: nothing is ranked")
        return True
    again = repeated_rows(block for _, block in run.blocks())
    if again:
        asks = run.sides[0 if run.rows == "images" else 1].many
        report.add("warning", f"{plural(again, f'row of {asks}')} repeat an earlier one")
    sample = run.block(0, min(64, run.shape[0]))
    ordered = np.sort(sample, axis=1)
    ties = float((ordered[:, 1:] == ordered[:, :-1]).mean())
    if ties > 0.01:
        report.add("warning", f"{100 * ties:.1f}% of neighbouring scores in a row are equal: see --ties")
    look_for_steps(run, low, sums if run.rows == "images" else sums[::-1], report)
    return True


def look_for_steps(run: MatrixRun, low: float, sums: Sequence[np.ndarray], report: Inspection) -> None:
    """Note whether scores were normalised over the test set: as the run says, or by an exact trace."""
    if note := note_on_steps(run.made_with):
        report.add("warning", note)
        return
    # A sum of rounded shares is off by their own rounding, by that of the sum that they were divided by (of
    # singles at least, added one after the other), and by what vanishes below the smallest number.
    limits = np.finfo(run.scores.dtype if run.scores.dtype.kind == "f" else np.float64)
    step = min(limits.eps, np.finfo(np.float32).eps)
    trace = False
    names = [side.many for side in run.sides]
    for sides, other, way, total in zip(names, names[::-1], run.directions[::-1], sums):
        many = run.scores.size / len(total)
        tolerance = 16 * limits.eps + many * (step + float(limits.smallest_subnormal))
        if low >= 0 and run.scores.size > len(total) and (np.abs(total - 1) <= tolerance).all():
            trace = True
            report.add(
                "warning",
                f"the scores of all {sides} sum to 1 over the {other}: a softmax over the whole test set, "
                f"which changes {way} ranks",
            )
    if not trace:
        text = "neither rows nor columns sum to 1; whether scores were normalised otherwise cannot be told"
        report.add("fact", text)


def kind_of_range(low: float, high: float) -> str:
    """Guess from their range what scores are."""
    if -1.001 <= low < 0 and high <= 1.001:
        return "cosines, by their range"
    if low >= 0 and high <= 1.001:
        return "probabilities or cosines, by their range"
    if low >= 0:
        return "never negative, so perhaps distances"
    return "logits or products, by their range"


def look_at_quality(run: Run, benchmark: Benchmark, report: Inspection) -> None:
    """Score R@1, compare it with chance, and look for what would make it better."""
    truth = listed_truth(benchmark)
    recalls = {} if truth is None else quick_r1(run, benchmark, truth)
    if truth is None or not recalls:
        return
    chance = {d: chance_r1(benchmark, truth, d) for d in recalls}
    shown = ", ".join(f"{d} {100 * recalls[d]:.2f}% (chance {100 * chance[d]:.3f}%)" for d in recalls)
    report.add("fact", f"R@1 on {truth}: {shown}")
    if any(at_chance(recalls[d], chance[d], len(benchmark.truth(truth).queries[d])) for d in recalls):
        wrong_order, text = explain_chance(run, benchmark, truth)
        report.add(
            "warning", "R@1 is at chance level: the order of rows or columns, or the sign, may be wrong"
        )
        report.add("error" if wrong_order else "warning", text)
