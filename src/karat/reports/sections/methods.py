"""Every choice that was made, so that a reviewer can repeat the numbers."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import karat
from karat._util import MISSING, plural
from karat.benchmarks import Benchmark, asks_first
from karat.estimation import ESTIMATORS, STRATEGIES, TARGETS, ScoreEstimate, VettingStrategy
from karat.explanations import FAULTS
from karat.measures import Measure, Named
from karat.reports.columns import truths_of
from karat.reports.material import EstimateMaterial, FailureMaterial, Material
from karat.reports.presentation import in_words, table
from karat.reports.section import SectionData, section
from karat.scores import (
    TESTS,
    Comparison,
    Scorecard,
    labels_drawn,
    like_in_words,
    swaps_made,
    tie_notes,
    units_drawn,
)

READINGS = {
    "misses": "A pair that nobody judged counts as not relevant, as in published numbers.",
    "left_out": "Pairs that nobody judged are taken out of the ranking; the judged items are ranked alone.",
    "bounds": "A pair that nobody judged counts as not relevant; bounds say how low and how high the score "
    "could be, whatever these pairs are, where a measure allows bounds. A query without a known right answer "
    "may have one, and is in the bounds at its worst and at its best.",
}
TIES = {
    "pessimistic": "Items with equal scores are ordered the worst way: right answers last.",
    "optimistic": "Items with equal scores are ordered the best way: right answers first.",
    "expected": "Of items with equal scores every order is equally likely: exact means over them.",
    "stable": "Items with equal scores stay in the order of the benchmark's ids, or of a ranked list.",
    "trec_eval": "Items with equal scores are sorted by id as text, from last to first, as by trec_eval.",
}
AGREEMENT = "Kendall's tau-b over systems; 95% percentile intervals from 2,000 resamples of systems, seed 0."
CANDIDATES = (
    "The first items of each system, what the noisy labels call relevant where a measure counts all relevant "
    "items, and what is vetted; every other pair counts as not relevant."
)
INSTANCES = (
    "Pairs of detections and instances that overlap, at each threshold; instances that nothing detects count "
    "as missed."
)
PACKAGES = ("numpy", "numba", "scipy", "polars", "plotly")


@section(
    "methods",
    "Methods",
    "Methods",
    order=120,
    scripted=False,
    pages=["report", "estimate", "simulation", "failures"],
)
def collect(material: Material | EstimateMaterial | FailureMaterial) -> SectionData:
    """Return the choices, the measures, the labels, the runs, the versions and the notes."""
    repeated = {
        "versions": versions(),
        "made": material.page.made.strftime("%Y-%m-%d %H:%M %Z").strip(),
        "command": material.page.command,
    }
    if isinstance(material, EstimateMaterial):
        return estimate_methods(material) | repeated
    if isinstance(material, FailureMaterial):
        return failure_methods(material) | repeated
    card = material.card
    return {
        "choices": choices(material),
        "measures": None if card is None else measure_table([column.measure for column in card]),
        "truths": None if card is None else truth_table(card),
        "runs": run_table(material),
        "notes": notes(material),
        **repeated,
    }


def failure_methods(material: FailureMaterial) -> dict[str, Any]:
    """Return the choices behind explained failures."""
    found = material.found
    column = found.columns[0]
    metrics = next(iter(column.metrics.values()))
    out = [
        ("Failure", "A query whose item at a rank is wrong although a relevant one is still to come; ranks: "
         f"{', '.join(map(str, found.ranks))}. The ground truth is the query's original positive."),
        ("Concepts", f"WordNet synsets of what an image shows, from {found.concepts.source}."),
        ("Agreement", "The share of the ground truth's concepts that the retrieved image has."),
        ("Similarity", "Concepts that only one image has are matched so that the sum of their WordNet path "
         "similarities is largest; the mean over matched pairs."),
        ("Numbers", "The sum over common concepts of the difference of their counts."),
        ("Sizes", "Boxes of the same concept are paired so that the differences of their areas are smallest; "
         f"they disagree from {100 * metrics.threshold:g}% on."),
        ("Source", "Lymperaiou et al., Towards Explainable Evaluation of Language Models on the Semantic "
         "Similarity of Visual Concepts, COLING 2022, section 4."),
    ]  # fmt: skip
    if column.faults is not None:
        out.insert(1, ("Marks", "; ".join(FAULTS[name] for name in column.faults.marks()) + "."))
    return {
        "choices": [{"term": term, "text": text} for term, text in out],
        "measures": None,
        "truths": None,
        "runs": None,
        "notes": list(found.notes),
    }


def estimate_methods(material: EstimateMaterial) -> dict[str, Any]:
    """Return the choices behind estimates, or behind a simulation."""
    found = material.found
    if isinstance(found, ScoreEstimate):
        measures = [column.measure for column in found.columns]
        names = [str(found.estimator)]
        out = [
            ("Target", f"Estimated for {TARGETS[found.target]}."),
            ("Candidates", CANDIDATES),
            ("Spread", "The standard deviation of the score under labels that are drawn from the "
             "probabilities, independently; it holds if the probabilities are right, and is no confidence "
             "interval." + population(found)),
            ("Noisy labels", "The estimator naive: every pair that is not vetted has its noisy label."),
            ("Sample mean", "Every pair that is not vetted is relevant with the share of relevant pairs "
             "among the vetted ones."),
            ("Vetted queries", "The mean over the queries without an unvetted pair among those that the "
             "measure looks at."),
        ]  # fmt: skip
    else:
        first, measures = found.results[0], [result.measure for result in found.results]
        names = list(dict.fromkeys(curve.method for result in found.results for curve in result.curves))
        out = [
            ("Target", f"Estimated for {first.target}."),
            ("Candidates", CANDIDATES if first.unit == "pair" else INSTANCES),
            ("Simulation", f"{plural(found.times, 'repetition')} of each method, each with its own seed: the "
             f"first batch is random over {first.all_of}, later ones are chosen by the strategy; after each "
             "batch the estimator is fitted again."),
            (f"Error per {first.per}", f"Per {first.per}, the absolute difference between the estimated and "
             f"the true value; means over {first.all_of} and systems."),
            ("Bands", "One standard deviation over repetitions to each side of their mean."),
            ("Source", "Nguyen, Ramanan and Fowlkes, Active Testing, ICML 2018: figures 5 to 8."),
        ]  # fmt: skip
    return {
        "choices": [{"term": term, "text": text} for term, text in out],
        "measures": measure_table(measures),
        "truths": method_table(names),
        "runs": None,
        "notes": list(dict.fromkeys(found.notes)),
    }


def population(found: ScoreEstimate) -> str:
    """Say what is added for a score over the population; nothing for one of the test set."""
    if found.target != "population":
        return ""
    bench = found.benchmark
    move = f"; {together(bench)} move together" if bench is not None and bench.grouping else ""
    return f" The variance of the mean over queries is added{move}."


def together(benchmark: Benchmark) -> str:
    """Return what of a group there are several of, in words."""
    groups = benchmark.grouping
    assert groups is not None
    return f"{benchmark.sides[groups.of[1] is not None].many} of one {groups.unit.one}"


def method_table(names: Sequence[str]) -> dict[str, Any]:
    """Return what each strategy and each estimator does, by its own first sentence."""
    known: dict[str, type[Named]] = {}
    for name in names:
        strategy, plus, estimator = name.partition("+")
        for part, registry in (
            ((strategy, STRATEGIES), (estimator, ESTIMATORS)) if plus else ((name, ESTIMATORS),)
        ):
            key = part.partition("(")[0].strip()
            if key in registry:
                known.setdefault(part, registry[key])
    rows = [
        [
            part,
            "strategy" if issubclass(kind, VettingStrategy) else "estimator",
            (kind.__doc__ or MISSING).split("\n\n")[0],
        ]
        for part, kind in known.items()
    ]
    return table("Strategies and estimators", ["Name", "Kind", "What it does"], rows)


def choices(material: Material) -> list[dict[str, str]]:
    """Return what was chosen, as terms and sentences."""
    card, comparison = material.card, material.comparison
    if card is None:
        return [
            {"term": "Source", "text": "A table of numbers, without intervals; shown in as many digits as "
             "distinguish different numbers."},
            {"term": "Places", "text": "Systems with equal numbers share the better place."},
            {"term": "Agreement", "text": AGREEMENT},
        ]  # fmt: skip
    bench = card.benchmark
    out = [
        ("Benchmark", f"{bench.name}: {bench.extent}. {bench.about}".strip()),
        *([] if card.like is None else [("Conventions", like_in_words(card.like))]),
        ("Unjudged pairs", READINGS[card.unjudged]),
        ("Ties", TIES[card.ties]),
        ("Aggregate", "The mean (MedR: the median) over queries; over folds where labels have folds."),
        ("Main score", "One that every system has, where there is any. The most complete labels come "
         "first: all pairs judged, else most right answers per query, a machine's labels last; there "
         "mAP@R where computed, else the first measure."),
    ]  # fmt: skip
    if card.intervals is not None:
        intervals = card.intervals
        why = f", since {together(bench)} are not independent" if bench.grouping else ""
        out.append(("Intervals", (
            f"{100 * intervals.level:g}% {intervals.shown} bootstrap, {intervals.resamples:,} resamples, "
            f"seed {intervals.seed}. "
            f"Drawn with replacement: {units_drawn(card)}{why}{labels_drawn(card)}; "
            "all systems see the same draws."
        )))  # fmt: skip
    if comparison is not None:
        test = TESTS[comparison.test]
        draws = ""
        if comparison.test == "randomisation":
            listed = swaps_made(comparison)
            draws = (
                f", {listed}"
                if listed.startswith("all")
                else (f", {comparison.samples:,} random swaps, seed {comparison.seed}")
            )
        elif comparison.test == "bootstrap" and card.intervals is not None:
            draws = f", {card.intervals.resamples:,} resamples, seed {card.intervals.seed}"
        clustered = f" and clustered by {bench.grouping.unit.one}" if bench.grouping else ""
        out += [
            ("Test", f"{test.about}, paired by query{clustered}{draws}."),
            ("Correction", f"{correction(comparison)} p ≤ {comparison.alpha:g} then wins."),
            ("Places", "From one plus the number of systems that beat it to the number of all minus those it "
             "beats (Mogstad et al., Review of Economic Studies 2024). What none beats (●) is not shown "
             "to be worse than the first, which is no proof of being equal."),
        ]  # fmt: skip
    out += [
        ("Gallery size", "R@K over random smaller galleries, exact: the first right answer has d wrong ones "
         "above it; the number of these that stay is hypergeometric. Intervals: 95% percentile, 1,000 "
         f"resamples of {units_drawn(card)}, seed 0."),
        ("Agreement", AGREEMENT),
    ]  # fmt: skip
    return [{"term": term, "text": text} for term, text in out]


def correction(comparison: Comparison) -> str:
    """Say over what p-values are corrected, and how many there are."""
    pairs = f"{len([d for d in comparison.differences if d.p is not None]):,} comparisons in all"
    if comparison.correction == "all":
        return f"Holm, over the pairs of systems of all scores ({pairs})."
    return (
        f"Holm, over the pairs of systems of each score; scores are not corrected for each other ({pairs}). "
        "Decide which one counts before you look."
    )


def notes(material: Material) -> list[str]:
    """Return what a reader should know, each note once; ties have a separate table."""
    card = material.card
    if card is None:
        return list(material.board.notes if material.board else ())
    about_ties = tie_notes(card.tie_reports)
    return [note for note in dict.fromkeys(card.notes) if note not in about_ties]


def measure_table(measures: Iterable[Named]) -> dict[str, Any]:
    """Return each measure in words, its formula and source."""
    groups: dict[type[Named], dict[str, Named]] = {}
    for one in measures:
        measure: Named = getattr(one, "measure", one)
        groups.setdefault(type(measure), {})[str(measure)] = measure
    rows = []
    for kind, named in groups.items():
        words = "; ".join(dict.fromkeys(map(in_words, named.values())))
        if len(named) > 1 and kind.cutoff is not None:
            words = in_words(next(iter(named.values())), cut="K")
        pool = f" ({kind.aggregate.name} over queries)" if issubclass(kind, Measure) else ""
        rows.append([", ".join(named), words, f"{kind.formula}{pool}", kind.source or MISSING])
    return table("Measures", ["Measure", "In words", "Per query", "Source"], rows)


def truth_table(card: Scorecard) -> dict[str, Any]:
    """Return what each truth covers, and how many clusters its queries make."""
    rows, bench = [], card.benchmark
    known = {row["truth"]: row for row in bench.summary()}
    for name in truths_of(card):
        row, truth = known[name], bench.truth(name)
        sides = [f"{row[d]['queries']:,} {bench.query_side(d).many}" for d in truth.directions]
        clusters = max((c.effective for c in card if c.truth == name), default=0)
        counts = row[min(truth.directions, key=asks_first)]
        negatives = "all others" if truth.complete or truth.implicit else f"{counts['negatives']:,}"
        if truth.n_pooled:
            negatives += f"; {truth.n_pooled:,} pooled and not judged"
        rows.append([
            name, row["about"] or MISSING, ", ".join(sides), f"{clusters:,}", f"{counts['positives']:,}",
            negatives, plural(row["folds"], "fold") if truth.folds else "whole gallery",
        ])  # fmt: skip
    head = [
        "Labels",
        "What they are",
        "Queries",
        f"{bench.grouping.unit.many.capitalize()} (clusters)"
        if bench.grouping
        else "Queries drawn one by one",
        "Relevant pairs",
        "Judged not relevant",
        "Read in",
    ]
    return table("Labels", head, rows)


def run_table(material: Material) -> dict[str, Any] | None:
    """Return what each run is, where that is known."""
    if material.details is None:
        return None
    rows = []
    for name in material.systems:
        where, kind = material.details.sources[name]
        rows.append([name, Path(where).name if where else "given in memory", kind])
    return table("Runs", ["System", "File", "Kind"], rows)


def versions() -> list[dict[str, str]]:
    """Return the versions of what computed the numbers."""
    return [
        {"name": "karat", "version": karat.__version__},
        {"name": "Python", "version": platform.python_version()},
        *({"name": name, "version": importlib.metadata.version(name)} for name in PACKAGES),
    ]
