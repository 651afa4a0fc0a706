"""Runs: what a system returned, as scores, embeddings or ranked lists."""

from karat.runs.embeddings import EmbeddingRun
from karat.runs.files import READERS, group_sources, load_run, read_ids
from karat.runs.matrix import MatrixRun
from karat.runs.rankings import RankingsRun
from karat.runs.run import Answer, Question, Run, Top

__all__ = [
    "READERS",
    "Answer",
    "EmbeddingRun",
    "MatrixRun",
    "Question",
    "RankingsRun",
    "Run",
    "Top",
    "group_sources",
    "load_run",
    "read_ids",
]
