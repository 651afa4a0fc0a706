"""Active testing for image-text retrieval, on collections whose labels were vetted: not in the paper.

The systems see an image through its captions (`_text_systems.py`). R-precision is estimated after random
pairs were vetted, and compared with vetting whole queries only.

- ``eccv``: noisy labels `coco-5k`, vetted labels `eccv`, its queries alone. The candidates are the first 50
  of every system, what the noisy labels call relevant and random items. Those that `eccv` does not list count
  as vetted *no*, and everything outside of the candidates as not relevant: the score is R-precision *within
  the candidates*, which hold the printed share of all that is relevant.
- ``cxc``: noisy labels `coco-5k`, vetted labels by ratings; below 3 is a *no*. Rankings are condensed to the
  rated pairs.
- ``crowd`` and ``expert`` of Flickr8k: the crowd vets the original pairs, and experts vet the crowd. Rankings
  are condensed to what the crowd, or the experts, judged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from _active_curves import print_rows
from _hodosh_store import Told, tell
from _paper import Records, record
from _text_systems import only_queries, query_table, text_metrics, text_runs

import karat
from karat._util import reporting
from karat.benchmarks import Benchmark, Direction
from karat.captions.similarity import pair_scores
from karat.estimation import (
    Candidates,
    Curve,
    Method,
    Simulated,
    covered_queries,
    make_candidates,
    simulate_candidates,
)
from karat.estimation.relevance import labels_of
from karat.estimation.simulation import positives_of
from karat.estimation.vetting import truth_labels
from karat.measures import parse_measure
from karat.runs import RankingsRun

MEASURE = parse_measure("RP")
DEPTH, SAMPLE = 50, 20
"""How many first items of each system are candidates, and how many random ones of each query."""
EFFORT = 0.2
"""The share of vetted pairs. They are vetted at once: a random choice does not depend on earlier labels."""
METHODS = (
    "random+naive",
    "random+sample-mean",
    "random+learned",
    "random+direct",
    "random+mixed",
    "whole-queries+vetted-only",
)
COCO = {
    "captions": Path("coco", "coco_karpathy_test_captions.tsv"),
    "cxc_ratings": Path("cxc", "sits_test.csv"),
}
FLICKR8K = Path("flickr8k")


@dataclass(frozen=True, eq=False)
class Task:
    """Candidates whose labels are all known.

    Parameters
    ----------
    candidates, relevant
        The pairs, and their vetted labels.
    positives
        How many relevant pairs the queries have, candidates or not.
    note
        What a reader should know.
    """

    candidates: Candidates
    relevant: np.ndarray
    positives: int
    note: str


def load_coco(data: Path) -> Benchmark:
    """Return COCO with its captions and CxC's ratings."""
    return karat.load_benchmark("coco", **{name: data / file for name, file in COCO.items()})


def eccv(data: Path, direction: Direction, queries: int | None) -> Task:
    """Return the queries that ECCV Caption covers, against the whole gallery."""
    bench = load_coco(data)
    noisy, vetted = (bench.truth(name) for name in ("coco-5k", "eccv"))
    asked = covered_queries(bench, direction, [noisy, vetted])[:queries]
    metrics, note = text_metrics()
    small = only_queries(bench, {"coco-5k": noisy, "eccv": vetted}, direction, asked)
    tables = {name: query_table(bench, metric, direction, asked) for name, metric in metrics.items()}
    candidates = make_candidates(
        text_runs(tables, small, direction), small, "coco-5k", direction=direction, depth=DEPTH, sample=SAMPLE
    )
    listed = truth_labels(candidates, small.truth("eccv"))
    unlisted = 100 * np.isnan(listed).mean()
    positives = positives_of(vetted, direction, replace(candidates, queries=asked), None)
    about = f"RP within the candidates; {unlisted:.1f}% of them are not listed in eccv and count as vetted no"
    return Task(with_list_scores(candidates), listed > 0, positives, "; ".join(filter(None, [about, note])))


def condensed(bench: Benchmark, noisy: str, vetted: str, direction: Direction, queries: int | None) -> Task:
    """Return the pairs that a truth lists, and these alone."""
    truth = bench.truth(vetted)
    asked = covered_queries(bench, direction, [bench.truth(noisy), truth])[:queries]
    judged = truth.judged(direction)
    keep = np.isin(judged.query_of_row, asked) & (judged.item < bench.items(direction).size)
    order = np.lexsort((judged.item[keep], judged.query_of_row[keep]))
    query, item = judged.query_of_row[keep][order], judged.item[keep][order]
    pair = (query, item) if direction == "i2t" else (item, query)
    metrics, note = text_metrics()
    scores = {name: pair_scores(bench, metric, *pair, leave_out=True) for name, metric in metrics.items()}
    scores["fusion"] = borda(query, scores)
    candidates = make_candidates(
        [listed_run(bench, direction, query, item, own, name) for name, own in scores.items()],
        bench, noisy, direction=direction, queries=asked, listed=truth, condensed=True,
    )  # fmt: skip
    relevant = labels_of(truth, direction, query, item) > 0
    about = f"rankings condensed to the pairs that {vetted} lists"
    positives = positives_of(truth, direction, candidates, None)
    return Task(
        replace(candidates, scores=scores), relevant, positives, "; ".join(filter(None, [about, note]))
    )


def borda(query: np.ndarray, scores: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return minus the mean place of each pair in its query's lists; equal scores share their mean place.

    >>> borda(np.array([0, 0, 0]), {"a": np.array([3.0, 2.0, 1.0]), "b": np.array([1.0, 1.0, 0.0])}).tolist()
    [-1.25, -1.75, -3.0]
    """
    from scipy.stats import rankdata

    places = np.zeros(len(query))
    for part in np.split(np.arange(len(query)), np.flatnonzero(np.diff(query)) + 1):
        for own in scores.values():
            places[part] += rankdata(-own[part]) / len(scores)
    return -places


def listed_run(
    bench: Benchmark, direction: Direction, query: np.ndarray, item: np.ndarray, score: np.ndarray, name: str
) -> RankingsRun:
    """Return scored pairs, sorted by query, as ranked lists."""
    asking, items = bench.queries(direction).gallery, bench.items(direction).gallery
    lists, scores = {}, {}
    for part in np.split(np.arange(len(query)), np.flatnonzero(np.diff(query)) + 1):
        best = part[np.argsort(-score[part], kind="stable")]
        lists[asking[query[part[0]]]] = items[item[best]].tolist()
        scores[asking[query[part[0]]]] = score[best].tolist()
    return RankingsRun({direction: lists}, name, scores={direction: scores})


def with_list_scores(candidates: Candidates) -> Candidates:
    """Return the candidates with scores of ranked lists, too: minus the logarithm of the place."""
    made = {run: -np.log1p(place) for run, place in candidates.places.items() if run not in candidates.scores}
    return replace(candidates, scores={**candidates.scores, **made})


def flickr8k(data: Path) -> Benchmark:
    """Return the test images with caption number 2, which was judged."""
    return karat.load_benchmark("flickr8k", folder=data / FLICKR8K, caption=2)


TASKS: dict[str, Callable[[Path, int | None], Task]] = {
    "eccv t2i": lambda data, queries: eccv(data, "t2i", queries),
    "eccv i2t": lambda data, queries: eccv(data, "i2t", queries),
    "cxc i2t": lambda data, queries: condensed(load_coco(data), "coco-5k", "cxc", "i2t", queries),
    "crowd t2i": lambda data, queries: condensed(flickr8k(data), "original", "crowd", "t2i", queries),
    "crowd i2t": lambda data, queries: condensed(flickr8k(data), "original", "crowd", "i2t", queries),
    "expert i2t": lambda data, queries: condensed(flickr8k(data), "crowd", "expert", "i2t", queries),
}


def retrieval(
    data: Path | None, times: int, queries: int | None = None, tasks: tuple[str, ...] = ()
) -> Records:
    """Return bias, errors and wrong orders after a fifth of the candidates was vetted at random."""
    missing = [str(path) for path in (*COCO.values(), FLICKR8K) if data is None or not (data / path).exists()]
    if data is None or missing:
        note = f"needs {', '.join(missing)} under --data"
        return [record("retrieval", name, "R-precision", None, None, note) for name in TASKS]
    out: Records = []
    for name in tasks or TASKS:
        tell(f"{name}: systems and candidates")
        out += task_records(name, TASKS[name](data, queries), times)
    return out


def task_records(name: str, task: Task, times: int) -> Records:
    """Simulate one task; print its curves and return its records."""
    with reporting(Told(name, parts=1)):
        result = simulate_candidates(
            task.candidates, task.relevant, MEASURE, [Method.parse(method) for method in METHODS],
            times=times, batch=EFFORT, budget=EFFORT, before=False, positives=task.positives,
        )  # fmt: skip
    put = partial(record, "retrieval", paper=None, note=task.note)
    out = [
        put(name, "candidates", ours=float(result.candidates)),
        put(name, "queries", ours=float(len(task.candidates.queries))),
        put(name, "recall of the candidates", ours=100 * result.recall),
    ]
    for run, true, noisy in zip(result.runs, result.truth, result.noisy):
        out.append(put(f"{name}: {run}", "true RP", ours=float(100 * true)))
        out.append(put(f"{name}: {run}", "RP by the noisy labels", ours=float(100 * noisy)))
    for curve in result.curves:
        for column, value in outcome(result, curve).items():
            note = task.note if value is not None else "a query has no value until it is vetted in full"
            column = f"{column} at {100 * EFFORT:g}%"
            out.append(record("retrieval", f"{name}: {curve.method}", column, None, value, note))
    print_task(name, task, result)
    return out


def outcome(result: Simulated, curve: Curve) -> dict[str, float | None]:
    """Return how one method does, in points; without an error per query where queries are left out."""
    bias = 100 * (curve.estimate[:, -1] - result.truth)
    squared, wrong = (values[:, -1].mean() for values in result.gaps(curve))
    partial_queries = curve.method.endswith("vetted-only")
    return {
        "largest |bias| of a system": float(np.abs(bias.mean(axis=0)).max()),
        "mean |error| of a score": float(np.abs(bias).mean()),
        "absolute error per query": None if partial_queries else float(100 * curve.error[:, -1].mean()),
        "squared error of gaps": float(1e4 * squared),
        "wrong order": float(100 * wrong),
    }


def print_task(name: str, task: Task, result: Simulated) -> None:
    """Print what a task is and how its methods do."""
    print(
        f"\n{name}: {result.candidates:,} candidates of {len(task.candidates.queries):,} queries hold "
        f"{100 * result.recall:.1f}% of {task.positives:,} relevant pairs.\n{task.note}."
    )
    for run, true, noisy in zip(result.runs, result.truth, result.noisy):
        print(f"  {run}: true RP {100 * true:.2f}, by the noisy labels {100 * noisy:.2f}")
    found = {curve.method: outcome(result, curve) for curve in result.curves}
    head = [f"at {100 * EFFORT:g}% vetted, points", *next(iter(found.values()))]
    cells = (["–" if value is None else f"{value:.2f}" for value in one.values()] for one in found.values())
    print_rows([head, *([method, *row] for method, row in zip(found, cells))])
