"""Scores: evaluate runs, compare them, and the Scorecard that everything else is computed from."""

from karat.scores.agreement import agree
from karat.scores.agreement_table import Agreement
from karat.scores.compare import compare
from karat.scores.comparison import Comparison, Difference, Standing
from karat.scores.correlate import correlate
from karat.scores.correlation_table import CorrelationTable
from karat.scores.evaluate import evaluate
from karat.scores.findings import Finding, Inspection
from karat.scores.inspection import inspect_run
from karat.scores.intervals import with_intervals
from karat.scores.leaderboard import Leaderboard, read_leaderboard
from karat.scores.ratings import Ratings
from karat.scores.ratings_file import read_ratings
from karat.scores.scorecard import RECORD, Column, Scorecard, TieReport

__all__ = [
    "RECORD",
    "Agreement",
    "Column",
    "Comparison",
    "CorrelationTable",
    "Difference",
    "Finding",
    "Inspection",
    "Leaderboard",
    "Ratings",
    "Scorecard",
    "Standing",
    "TieReport",
    "agree",
    "compare",
    "correlate",
    "evaluate",
    "inspect_run",
    "read_leaderboard",
    "read_ratings",
    "with_intervals",
]
