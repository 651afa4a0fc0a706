"""What is chosen about an evaluation, checked once for Python, the command line, reports and the web."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat._util import Registry, and_list, check_choice, import_later, split_names
from karat.benchmarks import Benchmark, Direction, as_benchmark, note_on_duplicates
from karat.errors import InputError
from karat.measures import (
    READINGS,
    TIE_POLICIES,
    TREC_EVAL_DEFAULTS,
    ChoiceMeasure,
    Combined,
    Macro,
    Measure,
    Named,
    Reading,
    Semantic,
    TiePolicy,
    parse_measures,
)
from karat.runs import PassOptions
from karat.scores.column_intervals import as_intervals
from karat.scores.evaluation.similarity import Similarities
from karat.scores.trec_eval import LIKES, Like, read_like
from karat.stats import Intervals, check_count

DEFAULT_MEASURES = ("R@1", "R@5", "R@10")

LABEL_VERSIONS = 200
"""How many versions of uncertain labels are drawn by default."""

TruthMaker = Callable[[Benchmark, str], tuple[Benchmark, str]]
"""Adds the truth of a name to a benchmark; returns the benchmark, and the name as the truth itself has it."""

TRUTH_MAKERS: Registry[TruthMaker] = Registry(
    "kind of truth", fill=lambda: import_later("truth"), group="karat.truths"
)
"""By the word before the parentheses, as in "machine(cider>=1)"."""


@dataclass(frozen=True, eq=False)
class ScoringOptions:
    """Everything that is chosen about an evaluation; `check_options` makes it.

    Parameters
    ----------
    benchmark
        With the truths that were made for this evaluation.
    measures
        Per truth, what is computed.
    directions, ties, unjudged
        The directions; how equal scores are ordered; what unjudged pairs count as.
    similarities
        For measures of meaning.
    intervals
        How intervals are made; None for none.
    threads
        How many; None for all.
    label_versions
        How many versions of uncertain labels are drawn for the intervals; 0 for none.
    like
        Which other tool's conventions are followed; None for karat's own.
    passing
        How the pass over the scores is made.
    """

    benchmark: Benchmark
    measures: Mapping[str, Sequence[Named]]
    directions: tuple[Direction, ...]
    ties: TiePolicy
    unjudged: Reading
    similarities: Similarities
    intervals: Intervals | None = None
    threads: int | None = None
    label_versions: int = 0
    like: Like | None = None
    passing: PassOptions = field(default_factory=PassOptions)

    def needed(self) -> dict[str, list[Measure]]:
        """Return the measures per query of each truth, those that combinations are made of included."""
        needed: dict[str, dict[Measure, None]] = {}
        for truth, measures in self.measures.items():
            for named in measures:
                if isinstance(named, Measure):
                    needed.setdefault(truth, {})[named] = None
                ways = self.benchmark.directions
                for part in named.parts(truth, ways) if isinstance(named, Combined) else ():
                    needed.setdefault(self.benchmark.truth(part.truth).name, {})[part.measure] = None
        return {truth: list(measures) for truth, measures in needed.items()}

    def notes(self) -> list[str]:
        """Return what a reader of these truths under this reading should know."""
        machines = [name for name in self.measures if self.benchmark.truth(name).machine]
        made = (
            [f"{', '.join(machines)}: made by a machine; no person judged these labels"] if machines else []
        )
        added = [note_on_duplicates(self.benchmark.truth(name)) for name in self.measures]
        return [*made, *filter(None, added), *self._unjudged_notes(), *self._grade_notes()]

    def _grade_notes(self) -> list[str]:
        if not (self.benchmark.images.open or self.benchmark.captions.open):
            return []
        # In qrels a relevance of 1 is what others would read there.
        return [
            f"{measure}: rel=1 is the highest grade, {self.benchmark.truth(truth).top:g} in {truth}; for "
            "everything relevant, write rel=any"
            for truth, measures in self.needed().items()
            for measure in measures
            if getattr(measure, "rel", None) == 1 and self.benchmark.truth(truth).top > 1
        ]

    def _unjudged_notes(self) -> list[str]:
        one_sided = [
            name
            for name, measures in self.needed().items()
            if not self.benchmark.truth(name).has_negatives
            # Measures of meaning leave nothing unjudged.
            and not all(isinstance(measure, Semantic) for measure in measures)
        ]
        if not one_sided:
            return []
        nothing = f"nothing is judged not relevant in {', '.join(one_sided)}"
        if self.unjudged == "left_out":
            return [f"{nothing}: scores there are as high as they can be"]
        needed, notes = self.needed(), []
        if condensed := dict.fromkeys(str(m) for name in one_sided for m in needed[name] if m.leaves_out):
            notes.append(f"{nothing}: {', '.join(condensed)} there are as high as they can be")
        if self.unjudged == "bounds":
            notes.append(f"{nothing}: upper bounds say only that anything is possible")
        return notes


def check_options(
    benchmark: Benchmark | str | Path,
    measure: Iterable[str | Named] | str | Named | None = None,
    *,
    truth: Iterable[str] | str | None = None,
    direction: Iterable[str] | str | None = None,
    ties: str = "pessimistic",
    unjudged: str = "misses",
    like: str | None = None,
    intervals: Intervals | str | bool | None = None,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    label_uncertainty: bool = False,
    label_versions: int = LABEL_VERSIONS,
    phi: Mapping[str, Any] | None = None,
    setting: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> ScoringOptions:
    """Return the choices of an evaluation, or raise before anything large is loaded; see `karat.evaluate`."""
    chosen = as_intervals(intervals or label_uncertainty, interval_method, level, resamples, seed)
    check_count("label_versions", label_versions, usual=LABEL_VERSIONS)
    bench = as_benchmark(benchmark, setting)
    bench.check_gallery()
    bench, truths = with_made_truths(bench, as_list(truth))
    tool = check_like(like, ties, unjudged, label_uncertainty)
    if tool is not None:
        bench, ties = read_like(bench), "trec_eval"
        measure = TREC_EVAL_DEFAULTS if measure is None else measure
    options = ScoringOptions(
        bench,
        measures_by_truth(bench, as_list(measure), truths),
        check_directions(bench, as_list(direction)),
        check_choice(ties, TIE_POLICIES, "ties"),  # type: ignore[arg-type]
        check_choice(unjudged, READINGS, "unjudged"),  # type: ignore[arg-type]
        Similarities(bench, phi, threads),
        chosen,
        threads,
        label_versions if label_uncertainty else 0,
        tool,
    )
    check_grades(options)  # raises also where a combination needs a truth that the benchmark does not have
    check_pools(options)
    if direction is not None:
        check_queries(options)
    options.similarities.check(named for group in options.measures.values() for named in group)
    if label_uncertainty:
        check_label_versions(options)
    return options


def check_like(like: str | None, ties: str, unjudged: str, label_uncertainty: bool) -> Like | None:
    """Return the tool whose conventions are followed, or raise where another choice contradicts them."""
    if like is None:
        return None
    tool: Like = check_choice(like, LIKES, "like")  # type: ignore[assignment]
    for name, differs in (
        ("ties", ties not in ("pessimistic", "trec_eval", "trec-eval")),
        ("unjudged", unjudged != "misses"),
        ("label_uncertainty", label_uncertainty),
    ):
        if differs:
            raise InputError(f"like={like} has a convention of its own for {name}", fix=f"leave out {name}")
    return tool


def check_grades(options: ScoringOptions) -> None:
    """Raise for a relevance above the highest of the labels, and where ties need a list of labels."""
    for name, measures in options.needed().items():
        truth = options.benchmark.truth(name)
        for measure in measures:
            rel = getattr(measure, "rel", None)
            if isinstance(rel, float) and rel > max(1.0, truth.top):
                highest = (
                    f"the highest of truth {name!r} is {truth.top:g}"
                    if truth.top > 1
                    else (f"the labels of truth {name!r} are shares")
                )
                raise InputError(
                    f"{measure} asks for a relevance of {rel:g}, but {highest}", fix="give a share up to 1"
                )
            if options.ties == "trec_eval" and (truth.implicit or isinstance(measure, Semantic)):
                raise InputError(
                    f"{measure} on {name} does not look at a list of labels",
                    fix="choose another tie policy than trec_eval's, or another truth or measure",
                )


def check_queries(options: ScoringOptions) -> None:
    """Raise where no truth has queries in any of the directions."""
    truths = {name: options.benchmark.truth(name) for name in options.needed()}
    known = [way for way in options.benchmark.directions if any(way in t.directions for t in truths.values())]
    if known and not set(known) & set(options.directions):
        truth = f"truth{'s' if len(truths) > 1 else ''} {and_list(list(truths))}"
        raise InputError(
            f"no query of {truth} has the direction {' or '.join(options.directions)}",
            fix=f"choose {' or '.join(known)}",
        )


def check_pools(options: ScoringOptions) -> None:
    """Raise where a truth does not say how its pool was sampled, and a measure needs it."""
    for name, measures in options.needed().items():
        truth = options.benchmark.truth(name)
        for direction in options.directions:
            if len(truth.queries.get(direction, ())):
                for measure in measures:
                    measure.check_truth(truth, direction)


def check_label_versions(options: ScoringOptions) -> None:
    """Raise where other labels cannot be drawn for the intervals."""
    if options.intervals is not None and options.intervals.method != "percentile":
        raise InputError(
            f"intervals with uncertain labels are not made by {options.intervals.shown}, which corrects for "
            "the resampling of queries alone",
            fix="choose percentile",
        )
    known = [name for name, truth in options.benchmark.truths.items() if truth.has_probabilities]
    for name, measures in options.needed().items():
        if name not in known:
            raise InputError(
                f"the labels of truth {name!r} have no probabilities",
                fix=(f"choose --truth {shlex.quote(','.join(known))}, which has them, or " if known else "")
                + "score labels that karat project publish made with -a dawid-skene, which estimates them",
            )
        for measure in measures:
            check_of_labels(measure)


def check_of_labels(measure: Measure) -> None:
    """Raise for a measure that cannot be scored under other grades of the same pairs."""
    if isinstance(measure, Semantic):
        raise InputError(f"{measure} looks at similarities, not at labels", fix="choose R@1, RP, mAP@R, …")
    if measure.of_pool:
        raise InputError(
            f"{measure} looks at pairs that nobody judged too, whose labels cannot be drawn",
            fix="choose R@1, RP, mAP@R, …",
        )


def as_list(names: Iterable[Any] | str | Named | None) -> list[Any] | None:
    """Return one name, or several, as a list; a text may have several between commas, as on the command line.

    >>> as_list("R@1,SR(cider, m=10)@5"), as_list(("i2t", "t2i")), as_list(None)
    (['R@1', 'SR(cider, m=10)@5'], ['i2t', 't2i'], None)
    """
    if names is None:
        return None
    if isinstance(names, str):
        return split_names(names) or [names]
    return [names] if isinstance(names, Named) else list(names)


def with_made_truths(benchmark: Benchmark, truths: list[str] | None) -> tuple[Benchmark, list[str] | None]:
    """Return the benchmark with the truths that are made on request, and the names of all to be scored."""
    if truths is None:
        return benchmark, None
    names = list(truths)
    for k, name in enumerate(truths):
        kind, parenthesis, _ = name.partition("(")
        if parenthesis and name not in benchmark.truths and kind in TRUTH_MAKERS:
            benchmark, names[k] = TRUTH_MAKERS[kind](benchmark, name)
    return benchmark, names


def check_directions(benchmark: Benchmark, directions: list[str] | None) -> tuple[Direction, ...]:
    """Return the directions in their usual order; by default those that have queries."""
    known = benchmark.directions
    if directions is None:
        return tuple(benchmark.asked_directions)
    if not directions:
        raise InputError("no direction was given", fix=f"choose {' or '.join(known)}, or leave it out")
    chosen = [benchmark.direction(direction) for direction in directions]
    return tuple(direction for direction in known if direction in chosen)


def measures_by_truth(
    benchmark: Benchmark, measures: list[str | Named] | None, truths: list[str] | None
) -> dict[str, list[Named]]:
    """Return the measures of each truth that is scored."""
    by_truth = {}
    for name in dict.fromkeys(benchmark.truths if truths is None else truths):
        benchmark.truth(name)
        default = benchmark.defaults.get(name, DEFAULT_MEASURES)
        if truths is not None and not default:
            default = DEFAULT_MEASURES
        if parsed := parse_measures(default if measures is None else measures):
            by_truth[name] = parsed
        for named in parsed:
            if isinstance(named, ChoiceMeasure | Macro):
                raise InputError(
                    f"{named} is a measure of choices, and {benchmark.name} has a gallery to rank",
                    fix="choose R@1, RP, mAP@R, …",
                )
    if not by_truth:
        raise InputError("nothing to compute", fix="name at least one truth and one measure")
    return by_truth
