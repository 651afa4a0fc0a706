"""Vetted labels in a file: image, caption and label, as a spreadsheet or a labelling tool exports them.

The columns have these names whatever the sides of the benchmark are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat.benchmarks import Benchmark, Judgments, Provenance, Share, Truth, pair_of
from karat.errors import InputError
from karat.scores import locate, read_ratings


def find_truth(benchmark: Benchmark, truth: str | Path | Truth) -> tuple[Truth, tuple[str, ...]]:
    """Return a truth of a benchmark by its name, one from a file of labels, or the truth itself; and notes.

    A file has the columns image, caption and label (csv, tsv or Parquet), or one column per annotator: 1 is
    relevant, 0 is not. Its truth has the name of the file and covers all queries of the benchmark.
    """
    if isinstance(truth, Truth):
        return truth, ()
    path = Path(truth)
    if str(truth) in benchmark.truths or not path.is_file():
        return benchmark.truth(str(truth)), ()
    located = locate(read_ratings(path), benchmark)
    values = located.ratings.values
    wrong = np.argwhere(~(np.isnan(values) | ((values >= 0) & (values <= 1))))
    if len(wrong):
        row, column = wrong[0]
        names = (f"{side.one} {name}" for side, name in zip(benchmark.sides, located.ratings.pairs()[row]))
        raise InputError(
            f"the label of {' with '.join(names)} is {values[row, column]:g}",
            where=path,
            fix="write 1 for relevant and 0 for not relevant",
        )
    row, rater = np.nonzero(~np.isnan(values))
    pair = located.image, located.caption
    if benchmark.one_collection:
        pair = pair_of(benchmark.directions[0], *pair)
        different, number = np.unique(np.stack(pair), axis=1, return_counts=True)
        if (number > 1).any():
            names = benchmark.images[different[:, number > 1][:, 0]].tolist()
            fix = "give it once: the label is that of both orders"
            raise InputError(f"has the pair {names[0]} and {names[1]} in both orders", where=path, fix=fix)
    judgments = Judgments(
        *(side[row] for side in pair),
        rating=values[row, rater],
        source=rater,
        sources=[Provenance(name, "0 to 1", Share(top=1)) for name in located.ratings.raters],
    )
    queries = {way: np.arange(benchmark.queries(way).size) for way in benchmark.directions}
    return Truth(path.stem, judgments, queries), located.notes
