"""Scores: evaluate runs, compare them, and the Scorecard that everything else is computed from."""

from karat.scores.compare import compare
from karat.scores.comparison import Comparison, Difference, Standing
from karat.scores.evaluate import evaluate
from karat.scores.findings import Finding, Inspection
from karat.scores.inspection import inspect_run
from karat.scores.intervals import with_intervals
from karat.scores.scorecard import RECORD, Column, Scorecard, TieReport

__all__ = [
    "RECORD",
    "Column",
    "Comparison",
    "Difference",
    "Finding",
    "Inspection",
    "Scorecard",
    "Standing",
    "TieReport",
    "compare",
    "evaluate",
    "inspect_run",
    "with_intervals",
]
