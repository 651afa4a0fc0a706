"""Small random benchmarks and runs for property tests."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Share, Truth


@dataclass
class Small:
    """A benchmark with its grades as plain tables: None is unjudged, the last columns are off-gallery."""

    benchmark: Benchmark
    grades: list[list[float | None]]
    scores: np.ndarray
    folds: list[tuple[list[int], list[int]]]

    def case(self, direction: str, query: int, fold: int | None = None):
        """Scores, grades and lost grades of one query, as the reference takes them."""
        n_images, n_captions = self.scores.shape
        if direction == "i2t":
            scores, grades = self.scores[query].tolist(), list(self.grades[query])
            lost = [g for g in grades[n_captions:] if g is not None]
        else:
            scores, grades = self.scores[:, query].tolist(), [row[query] for row in self.grades]
            lost = []
        items = range(n_captions if direction == "i2t" else n_images)
        if fold is not None:
            items = self.folds[fold][1 if direction == "i2t" else 0]
        return [scores[i] for i in items], [grades[i] for i in items], lost


def build(grades: list[list[float | None]], n_captions: int, scores: np.ndarray, halves: bool) -> Small:
    n_images, extra = len(grades), len(grades[0]) - n_captions
    image, caption, rating = [], [], []
    for i, row in enumerate(grades):
        for c, grade in enumerate(row):
            if grade is not None:
                image.append(i)
                caption.append(c)
                rating.append(grade)
    judgments = Judgments(image, caption, rating=rating, sources=[Provenance("test", "0 to 1", Share(top=1))])
    queries = {"i2t": np.arange(n_images), "t2i": np.arange(n_captions)}
    folds = [(list(range(n_images)), list(range(n_captions)))]
    if halves:
        folds = [
            (list(range(part, n_images, 2)), list(range(part, n_captions, 2)))
            for part in (0, 1)
            if part < n_images and part < n_captions
        ]
    truths = {
        "whole": Truth("whole", judgments, queries),
        "folds": Truth(
            "folds",
            judgments,
            queries,
            folds=[Fold(str(k), np.array(i), np.array(c)) for k, (i, c) in enumerate(folds)],
        ),
    }
    benchmark = Benchmark(
        "small",
        Ids([f"img{i}" for i in range(n_images)], kind="image"),
        Ids(range(100, 100 + n_captions), extra=range(900, 900 + extra), kind="caption"),
        truths,
    )
    return Small(benchmark, grades, scores, folds)


@st.composite
def smalls(draw, max_images: int = 4, max_captions: int = 4, levels: int = 3) -> Small:
    n_images = draw(st.integers(1, max_images))
    n_captions = draw(st.integers(1, max_captions))
    extra = draw(st.integers(0, 1))
    cell = st.sampled_from([None, None, 0.0, 0.5, 1.0])
    grades = draw(
        st.lists(
            st.lists(cell, min_size=n_captions + extra, max_size=n_captions + extra),
            min_size=n_images,
            max_size=n_images,
        )
    )
    values = draw(
        st.lists(st.integers(0, levels), min_size=n_images * n_captions, max_size=n_images * n_captions)
    )
    scores = np.array(values, dtype=np.float32).reshape(n_images, n_captions)
    return build(grades, n_captions, scores, halves=draw(st.booleans()))
