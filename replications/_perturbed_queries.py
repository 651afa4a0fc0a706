"""Explainable's tables 4 and 5 on COCO: what changed captions do to systems that read images' captions.

A caption asks for its image among 5,000. The image is its other captions: the original stays excluded after
the change. Each system is asked about every kind, per caption and per caption set; the rows of a kind of the
paper's carry its name.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from _paper import Records, number, read_table, record

import karat
from karat.benchmarks import Benchmark
from karat.captions import CAPTION_METRICS, CaptionMetric, all_pairs
from karat.errors import MissingDataError
from karat.models import TextMetric, load_model
from karat.perturbations import PERTURBATIONS, MeasureEffect, PerturbedCaptions, QueryEffect, Robustness
from karat.runs import MatrixRun

SENTENCE_MODEL = "sentence:all-MiniLM-L6-v2"
SYSTEMS: dict[str, Callable[[], CaptionMetric]] = {
    "all MiniLM L6": lambda: TextMetric(load_model(SENTENCE_MODEL)),
    "BoW": lambda: CAPTION_METRICS["bow"],
    "CIDEr": lambda: CAPTION_METRICS["cider"],
}
CAPTIONS = Path("coco", "coco_karpathy_test_captions.tsv")
PAPER = {
    "Antonym": "antonym-adjective",
    "Color-all": "colour",
    "Color-in": "colour(in)",
    "Size": "size(minor=yes)",
}
"""The paper's kinds, as karat calls them; it writes *minor*, too."""
MEASURES = {"Recall @1": "R@1", "Recall @10": "R@10", "MRR @10": "MRR@10", "MRR @all": "MRR"}
SHARES = {
    "Lower": "lower",
    "Higher": "higher",
    "Same": "same",
    "Not noticed": "unnoticed",
    "Fell more than controls": "beyond_controls",
}
"""Columns of table 4, the last two beside the paper's, by what karat calls them."""
UNITS = {"caption": "captions", "set": "caption sets"}
NEEDS_VG = "perturbed queries: needs the paper's sentence models, and Visual Genome's images and regions"
RESAMPLES = 1000
Effect = TypeVar("Effect", QueryEffect, MeasureEffect)


def kinds() -> dict[str, str]:
    """Return every kind of change by the name of its rows, the paper's first."""
    taken = {name.partition("(")[0] for name in PAPER.values()}
    return PAPER | {kind: kind for kind in PERTURBATIONS if kind not in taken}


def table_4(data: Path | None) -> Records:
    """Return how many queries a kind changes, and how many images rank lower, higher and the same."""
    out = paper_rows("4")
    for system in SYSTEMS:
        try:
            robust = assess(system, data)
        except MissingDataError as error:
            out += nothing("4", system, ("Adv. query", *SHARES), str(error))
            continue
        for title, effect in titled(robust.effects):
            row = f"{title}: {system}, {UNITS[effect.per]}"
            count = f"{effect.changed:,} of {effect.of:,} {UNITS[effect.per]}"
            out.append(ours("4", row, "Adv. query", effect.changed, count))
            out.append(ours("4", row, "Adv. query %", 100 * effect.changed / effect.of, count))
            for column, name in SHARES.items():
                share = getattr(effect, name)
                if share is not None:
                    note = f"{100 * share.low:.2f} to {100 * share.high:.2f}"
                    out.append(ours("4", row, column, 100 * share.value, note))
    return out


def table_5(data: Path | None) -> Records:
    """Return the measures before, and after each kind: on all queries, and on the changed ones alone."""
    out = paper_rows("5")
    columns = {measure: column for column, measure in MEASURES.items()}
    for system in SYSTEMS:
        try:
            robust = assess(system, data)
        except MissingDataError as error:
            out += nothing("5", system, (*MEASURES, "Fails (%)"), str(error))
            continue
        first = {effect.kind for _, effect in list(titled(robust.measures))[:1]}
        for title, effect in titled(robust.measures):
            where, column = f"{system}, {UNITS[effect.per]}", columns[str(effect.measure)]
            difference = effect.difference
            note = (
                f"before {100 * effect.before:.2f}, difference {100 * difference.value:+.2f} "
                f"({100 * difference.low:+.2f} to {100 * difference.high:+.2f})"
            )
            if effect.queries == "all" and effect.kind in first:
                out += with_fails(f"Original: {where}", column, effect.before, "")
            some = "" if effect.queries == "all" else ", changed alone"
            out += with_fails(f"{title}: {where}{some}", column, effect.after, note)
    return out


def with_fails(row: str, column: str, value: float, note: str) -> Records:
    """Return a number of table 5; of R@1 the share of failures, too."""
    fails = [ours("5", row, "Fails (%)", 100 - 100 * value, "100% less R@1")] if column == "Recall @1" else []
    return [ours("5", row, column, 100 * value, note), *fails]


def paper_rows(table: str) -> Records:
    """Return the paper's own numbers."""
    return [
        record(table, line["row"], line["column"], number(line["paper"]), None, NEEDS_VG)
        for line in read_table("explainable_2_4_5", table)
    ]


def ours(table: str, row: str, column: str, value: float, note: str) -> dict:
    """Return one of our numbers."""
    return record(table, row, column, None, value, note)


def nothing(table: str, system: str, columns: Iterable[str], why: str) -> Records:
    """Return our rows without numbers, and why."""
    return [
        record(table, f"{title}: {system}, {unit}", column, None, None, why)
        for title in kinds() for unit in UNITS.values() for column in columns
    ]  # fmt: skip


def titled(effects: Sequence[Effect]) -> Iterator[tuple[str, Effect]]:
    """Yield effects with the names of their rows: kinds are in the order in which they were asked for."""
    names = dict(zip(dict.fromkeys(effect.kind for effect in effects), kinds()))
    return ((names[effect.kind], effect) for effect in effects)


@lru_cache
def coco(data: Path | None) -> Benchmark:
    """Return COCO's test split with captions."""
    if data is None or not (data / CAPTIONS).exists():
        raise MissingDataError(f"needs {CAPTIONS} under --data", fix="give --data")
    return karat.load_benchmark("coco", captions=data / CAPTIONS)


@lru_cache
def changed(data: Path | None) -> list[PerturbedCaptions]:
    """Return the captions of every kind of change."""
    return [karat.perturb(coco(data), kind) for kind in kinds().values()]


@lru_cache
def assess(system: str, data: Path | None) -> Robustness:
    """Return what every kind of change does to a system."""
    return assess_on(coco(data), SYSTEMS[system](), changed(data))


def assess_on(bench: Benchmark, metric: CaptionMetric, kinds: Sequence[PerturbedCaptions]) -> Robustness:
    """Return what changed captions do to the scores that a metric gives."""
    captions = bench.captions.gallery

    def run(queries: dict[Any, str] | None, ids: Any) -> MatrixRun:
        table = all_pairs(bench, metric, leave_out=True, queries=queries)
        return MatrixRun(table, metric.name, {"images": bench.images.gallery, "captions": ids})

    before = run(None, captions)
    after = []
    for kind in kinds:
        texts = {query.caption: query.new for query in kind.queries}
        after.append(run(texts, np.array(list(texts))))
    return karat.robustness(
        before, after, bench, list(kinds), list(MEASURES.values()), truth=next(iter(bench.truths)),
        resamples=RESAMPLES,
    )  # fmt: skip
