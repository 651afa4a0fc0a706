"""A run whose two directions have different scores."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.runs import Answer, MatrixRun, Question, Run, Top
from karat.validation import InputError


class DirectedRun(Run):
    """Two score tables, one per direction, each queries by items.

    Parameters
    ----------
    image_scores
        For image queries: images by captions.
    caption_scores
        For caption queries: captions by images.
    name, ids, where
        See `karat.load_run`.

    Examples
    --------
    >>> run = DirectedRun(np.array([[0.9, 0.1]]), np.array([[0.2], [0.3]]))
    >>> run.top("i2t", 1).score.tolist(), run.top("t2i", 1).score.tolist()
    ([0.9], [0.2, 0.3])
    """

    def __init__(
        self,
        image_scores: Any,
        caption_scores: Any,
        name: str = "run",
        ids: dict[str, Any] | None = None,
        where: str | None = None,
    ) -> None:
        super().__init__(name, where)
        self.tables: dict[Direction, MatrixRun] = {
            "i2t": MatrixRun(np.asarray(image_scores), name, ids, where),
            "t2i": MatrixRun(np.asarray(caption_scores).T, name, ids, where),
        }
        shapes = [table.images_by_captions for table in self.tables.values()]
        if shapes[0] != shapes[1]:
            raise InputError(
                f"image queries have {shapes[0][0]:,} by {shapes[0][1]:,} scores, caption queries "
                f"{shapes[1][1]:,} by {shapes[1][0]:,}",
                where=where or name,
                fix="score every image with every caption in both directions",
            )

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Both."""
        return DIRECTIONS

    def align(self, benchmark: Benchmark) -> DirectedRun:
        """Return the run with its rows and columns matched to the benchmark's ids."""
        if self.benchmark is benchmark:
            return self
        aligned = copy(self)
        aligned.benchmark = benchmark
        aligned.tables = {direction: table.align(benchmark) for direction, table in self.tables.items()}  # type: ignore[misc]
        return aligned

    def place(self, questions: Sequence[Question], threads: int | None = None) -> list[Answer]:
        """Ask each question of its direction's table, in one pass over each."""
        answers: dict[int, Answer] = {}
        for direction, table in self.tables.items():
            asked = [k for k, question in enumerate(questions) if question.direction == direction]
            if asked:
                answers.update(zip(asked, table.place([questions[k] for k in asked], threads)))
        return [answers[k] for k in range(len(questions))]

    def top(
        self,
        direction: Direction,
        k: int,
        queries: np.ndarray | None = None,
        gallery: np.ndarray | None = None,
        whole_ties: bool = False,
    ) -> Top:
        """Return the first `k` items of each query, ties in the benchmark's order."""
        return self.tables[direction].top(direction, k, queries, gallery, whole_ties)
