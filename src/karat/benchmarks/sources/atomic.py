"""AToMiC (Yang et al., SIGIR 2023): judged pairs of texts and images, for both directions at once.

The sparse judgments are lines of ``text_id Q0 image_id relevance``, or a Parquet file with these columns. A
pair is the same in both directions, so that one file asks with its texts (image suggestion) and with its
images (image promotion). The judgments of a TREC track belong to one direction, whose query comes first in
each line. Relevance is read as in all qrels.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import Param, check_choice
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sides import DIRECTIONS, Direction, in_order
from karat.benchmarks.sources.beir import column, judged_rows, read_parquet
from karat.benchmarks.sources.trec import MINUS_ONE, from_judged, read_ids, read_judged

BOTH = "both"


def load(
    qrels: Path,
    direction: str = BOTH,
    texts: Path | None = None,
    images: Path | None = None,
    minus_one: str = "pooled",
) -> Benchmark:
    """Build the benchmark."""
    chosen = check_choice(direction, (BOTH, *DIRECTIONS), "direction")
    side = "t2i" if chosen == BOTH else chosen
    rows = read_columns(qrels, side) if qrels.suffix == ".parquet" else read_judged(qrels)
    queries, items = (read_ids(path) for path in in_order(side, images, texts))
    bench = from_judged(rows, qrels, queries, items, side, "atomic", "AToMiC's judgments", minus_one)
    truth = bench.truths["qrels"]
    if chosen == BOTH and truth.judgments is not None:
        asking = np.unique(truth.judgments.image).astype(np.int64)
        # A judged image outside the gallery has no place from which it could ask.
        both = {DIRECTIONS[0]: asking[asking < bench.images.size], **truth.queries}
        bench = replace(bench, truths={truth.name: replace(truth, queries=both)})
    return bench


def read_columns(path: Path, side: Direction) -> list[tuple[str, str, int]]:
    """Return the judgments of a Parquet file."""
    table = read_parquet(path)
    sides = in_order(side, "image_id", "text_id")
    return judged_rows([column(table, [name], path) for name in (*sides, "rel")], path)


register(
    Source(
        "atomic",
        "AToMiC's qrels: lines of `text_id Q0 image_id relevance`, or Parquet",
        load,
        (
            Param("qrels", Path, "the file of judgments"),
            Param(
                "direction",
                str,
                "what asks: both (lines begin with the text), t2i, or i2t (lines begin with the image)",
                BOTH,
            ),
            Param("texts", Path, "all text ids, one per line; by default those of the qrels", None),
            Param("images", Path, "all image ids, one per line; by default those of the qrels", None),
            MINUS_ONE,
        ),
    )
)
