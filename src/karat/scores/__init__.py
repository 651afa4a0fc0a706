"""Scores: evaluate runs, and the Scorecard that everything else is computed from."""

from karat.scores.evaluate import evaluate
from karat.scores.scorecard import RECORD, Column, Scorecard, TieReport

__all__ = ["RECORD", "Column", "Scorecard", "TieReport", "evaluate"]
