"""Systems that see an image through its captions: caption metrics and their fusion.

A caption is never compared with itself: where it was written for the image, the image's other captions stand
for it.
"""

from collections.abc import Mapping

import numpy as np

import karat
from karat.benchmarks import Benchmark, Direction, Ids, Judgments, Provenance, Truth
from karat.captions import CAPTION_METRICS, CaptionMetric, own_references, references_of
from karat.runs import MatrixRun, Run

SYSTEMS = ("bow", "cider", "spice", "rouge-l")
NOTE = "ROUGE-L in place of a sentence model"


def text_metrics() -> tuple[dict[str, CaptionMetric], str]:
    """Return the systems, and what a reader should know of them."""
    return {name: CAPTION_METRICS[name] for name in SYSTEMS}, NOTE


def query_table(
    bench: Benchmark, metric: CaptionMetric, direction: Direction, queries: np.ndarray
) -> np.ndarray:
    """Return φ of some queries with the whole gallery, images by captions, without comparing with itself.

    Document frequencies come from all images, whichever are asked about.
    """
    references, texts = references_of(bench), bench.needed_texts
    owner, number = own_references(bench, np.arange(bench.captions.size))
    if direction == "t2i":
        return metric.matrix(
            references, [texts[k] for k in queries.tolist()], own=(owner[queries], number[queries])
        )
    order = np.r_[queries, np.setdiff1d(np.arange(bench.images.size), queries)]
    place = np.argsort(order)
    prepared = metric.prepare([references[k] for k in order.tolist()], texts)
    table = prepared.block(0, len(queries))
    own = np.flatnonzero(place[owner] < len(queries))
    table[place[owner[own]], own] = prepared.at(place[owner[own]], own, number[own])
    return table


def only_queries(
    bench: Benchmark, truths: Mapping[str, Truth], direction: Direction, queries: np.ndarray
) -> Benchmark:
    """Return a benchmark in which only some queries ask: tables for it are small.

    Pairs with items outside of the gallery are left out.
    """
    ids = {"i2t": bench.images, "t2i": bench.captions}
    asking = Ids(ids[direction].gallery[queries], kind=ids[direction].kind)
    images, captions = (asking, bench.captions) if direction == "i2t" else (bench.images, asking)
    own = {}
    for name, truth in truths.items():
        judged = truth.judged(direction)
        keep = np.isin(judged.query_of_row, queries) & (judged.item < bench.items(direction).size)
        query, item = np.searchsorted(queries, judged.query_of_row[keep]), judged.item[keep]
        pair = (query, item) if direction == "i2t" else (item, query)
        labels = Judgments(*pair, rating=judged.grade[keep], sources=[Provenance(name)])
        own[name] = Truth(name, labels, {direction: np.arange(len(queries))})
    return Benchmark(bench.name, images, captions, own)


def text_runs(tables: Mapping[str, np.ndarray], bench: Benchmark, direction: Direction) -> list[Run]:
    """Return tables of `only_queries` as runs, and their fusion by Borda's count."""
    runs: list[Run] = [MatrixRun(table, name) for name, table in tables.items()]
    return [*runs, karat.fuse(runs, bench, "borda", direction=[direction], name="fusion")]
