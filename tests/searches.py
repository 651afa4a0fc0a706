"""Searches in TREC files, of any sides: every pair judged, and two runs with other scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import karat
from karat.benchmarks import Benchmark, same_side


@dataclass(frozen=True, eq=False)
class Search:
    """A benchmark, whether each item is relevant to each query, and the scores of runs, by their files."""

    benchmark: Benchmark
    grade: np.ndarray
    scores: dict[Path, np.ndarray]

    @property
    def files(self) -> list[Path]:
        return list(self.scores)

    def runs(self) -> list[karat.Run]:
        return [karat.load_run(path, self.benchmark) for path in self.files]

    def order(self, path: Path, query: int) -> list[int]:
        """Return all items in the order of a run; without the query, where it is an item."""
        own = same_side(self.benchmark.asked_directions[0])
        return [i for i in np.argsort(-self.scores[path][query]).tolist() if not own or i != query]


def make_search(folder: Path, direction: str, queries: int = 8, items: int = 30, seed: int = 1) -> Search:
    """Write qrels.txt, one.run and two.run into a folder; within one side, all items are queries."""
    rng, own = np.random.default_rng(seed), same_side(direction)
    queries = items if own else queries
    asks = [f"x{number}" if own else f"q{number}" for number in range(queries)]
    ranked = asks if own else [f"d{number}" for number in range(items)]
    grade = rng.random((queries, items)) < 0.3
    grade = np.triu(grade, 1) | np.triu(grade, 1).T if own else grade
    pairs = [(q, i) for q in range(queries) for i in range(items) if not own or q != i]
    qrels = folder / "qrels.txt"
    qrels.write_text("".join(f"{asks[q]} 0 {ranked[i]} {int(grade[q, i])}\n" for q, i in pairs))
    scores = {}
    for name, noise in (("one", 0.7), ("two", 1.4)):
        path = folder / f"{name}.run"
        score = scores[path] = np.round(grade + rng.normal(0, noise, grade.shape), 6)
        path.write_text("".join(f"{asks[q]} Q0 {ranked[i]} 1 {score[q, i]:.6f} {name}\n" for q, i in pairs))
    return Search(karat.load_benchmark("trec", qrels=qrels, direction=direction), grade, scores)
