"""The names that options take, read from the registries when a help text or a shell needs them.

A help text holds a placeholder, such as ``{ties}``; it is filled when the help is shown, so that nothing is
imported for commands whose help is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from operator import attrgetter

CHOICES = {
    "aggregations": "karat.judging.quality:AGGREGATIONS",
    "answer_formats": "karat.judging.exchange:FORMATS",
    "coefficients": "karat.stats:COEFFICIENTS",
    "comparison_files": "karat.scores:Comparison.formats",
    "content_kinds": "karat.runs:CONTENT_KINDS",
    "conventions": "karat.captions.graphs:CONVENTIONS",
    "corrections": "karat.scores:CORRECTIONS",
    "correlation_files": "karat.scores:CorrelationTable.formats",
    "designs": "karat.estimation:DESIGNS",
    "devices": "karat.models:DEVICES",
    "directions": "karat.cli.choices:directions",
    "estimate_files": "karat.estimation:ScoreEstimate.formats",
    "estimators": "karat.estimation:ESTIMATORS",
    "exchange_files": "karat.scores:EXCHANGES",
    "explanation_files": "karat.explanations:Explanation.formats",
    "failure_ties": "karat.explanations:FAILURE_TIES",
    "faults": "karat.explanations:FAULTS",
    "fixed_ties": "karat.estimation:TIES",
    "forms": "karat.forms:FORMS",
    "fusions": "karat.baselines:FUSIONS",
    "image_kernels": "karat.baselines:IMAGE_KERNELS",
    "inspection_files": "karat.scores:Inspection.formats",
    "interval_kinds": "karat.estimation:INTERVAL_KINDS",
    "interval_methods": "karat.stats:INTERVAL_METHODS",
    "judges": "karat.judging.machine_judges:JUDGES",
    "likes": "karat.scores:LIKES",
    "list_files": "karat.cli.choices:list_files",
    "measures": "karat.measures:MEASURES",
    "metrics": "karat.captions:CAPTION_METRICS",
    "missing_pairs": "karat.scores:MISSING_PAIRS",
    "normalisations": "karat.runs:NORMALISATIONS",
    "plan_files": "karat.estimation:Plan.formats",
    "perturbations": "karat.perturbations:PERTURBATIONS",
    "policies": "karat.judging.publication:POLICIES",
    "precisions": "karat.models:PRECISIONS",
    "query_files": "karat.perturbations:PerturbedCaptions.formats",
    "readings": "karat.measures:READINGS",
    "resampled": "karat.scores:RESAMPLED",
    "robustness_files": "karat.perturbations:Robustness.formats",
    "robustness_units": "karat.perturbations:ROBUSTNESS_UNITS",
    "rule_files": "karat.explanations:RuleReport.formats",
    "run_files": "karat.runs:READERS",
    "run_targets": "karat.runs:WRITERS",
    "scorecard_files": "karat.scores:Scorecard.formats",
    "similarities": "karat.runs:SIMILARITIES",
    "simulation_files": "karat.estimation:Simulation.formats",
    "sources": "karat.cli.choices:benchmark_names",
    "strategies": "karat.estimation:STRATEGIES",
    "targets": "karat.estimation:TARGETS",
    "tests": "karat.scores:TESTS",
    "text_kernels": "karat.baselines.text:TEXT_KERNELS",
    "ties": "karat.measures:TIE_POLICIES",
    "unlisted": "karat.estimation:UNLISTED",
    "vector_files": "karat.models:vector_files",
}
"""For each placeholder, the package and the registry, tuple or function that has its names."""


def choice_names(placeholder: str) -> list[str]:
    """Return the names behind a placeholder, spelled as on the command line.

    >>> choice_names("readings")
    ['misses', 'left-out', 'bounds']
    """
    package, _, attribute = CHOICES[placeholder].partition(":")
    holder: Iterable[str] | Callable[[], Iterable[str]] = attrgetter(attribute)(import_module(package))
    return [name.replace("_", "-") for name in (holder() if callable(holder) else holder)]


def filled(text: str) -> str:
    """Return a help text with the names in place of its placeholders; other braces stay.

    >>> filled("Equal scores: {ties}; {id} is an id.")
    'Equal scores: pessimistic, optimistic, expected, stable or trec-eval; {id} is an id.'
    """
    return re.sub(r"\{(\w+)\}", lambda match: in_words(match[1]) if match[1] in CHOICES else match[0], text)


def in_words(placeholder: str) -> str:
    """Return the names behind a placeholder as part of a sentence."""
    *first, last = choice_names(placeholder)
    return f"{', '.join(first)} or {last}" if first else last


def unfilled(text: str) -> str:
    """Return a help text with dots in place of its placeholders, where reading the names takes too long.

    >>> unfilled("Equal scores: {ties}.")
    'Equal scores: ….'
    """
    return re.sub(r"\{(\w+)\}", lambda match: "…" if match[1] in CHOICES else match[0], text)


def completion(placeholder: str) -> Callable[[str], list[str]]:
    """Return what completes a value in the shell; after a comma, the next one."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in choice_names(placeholder)]

    return complete


def benchmark_names() -> list[str]:
    """Return the sources of benchmarks, and what the user has added."""
    from karat.benchmarks import SOURCES, registered

    return [*SOURCES, *registered()]


def directions() -> list[str]:
    """Return the directions between any kinds of sides, those of images and captions first."""
    from karat.benchmarks import DIRECTIONS, KINDS

    return list(dict.fromkeys([*DIRECTIONS, *(f"{asks}2{ranked}" for asks in KINDS for ranked in KINDS)]))


def list_files() -> list[str]:
    """Return the extensions of files that hold ranked lists."""
    from karat.runs import WRITERS

    return [name for name in WRITERS if "lists" in WRITERS[name].holds]
