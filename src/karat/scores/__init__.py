"""Scores: evaluate runs, look at them first, and the Scorecard that everything else is computed from."""

from karat.scores.evaluate import evaluate
from karat.scores.findings import Finding, Inspection
from karat.scores.inspection import inspect_run
from karat.scores.scorecard import RECORD, Column, Scorecard, TieReport

__all__ = ["RECORD", "Column", "Finding", "Inspection", "Scorecard", "TieReport", "evaluate", "inspect_run"]
