"""Bias and diversity as their definitions read, query by query, pair by pair."""

from itertools import combinations

import numpy as np

from karat.benchmarks import DIRECTIONS
from karat.forms import Pool


def ranking(scores, query, direction):
    """All items, best first, equal scores in the benchmark's order."""
    row = scores[query] if direction == "i2t" else scores[:, query]
    return sorted(range(len(row)), key=lambda item: (-row[item], item))


def pool_of(tables, names, top, queries):
    """Return a pool of score tables, made one query at a time."""
    places = []
    for system, scores in enumerate(tables):
        for side, direction in enumerate(DIRECTIONS):
            for query in queries[direction]:
                for rank, item in enumerate(ranking(scores, query, direction)[:top], 1):
                    pair = (query, item) if direction == "i2t" else (item, query)
                    places.append((pair, system, side, rank))
    pairs = sorted({pair for pair, *_ in places})
    columns = [np.array(column) for column in zip(*places)][1:]
    at = np.array([pairs.index(pair) for pair, *_ in places])
    image, caption = np.array(pairs).T
    return Pool(
        image, caption, np.zeros(len(pairs), int), tuple(names), at, *columns, np.full(len(at), np.nan),
        {direction: np.array(asked) for direction, asked in queries.items()}, top,
    )  # fmt: skip


def labels_of(pool, judged, original, subset):
    """The grades of pairs that a subset of systems would have labelled: a dictionary."""
    labels = dict(original)
    for pair, system in zip(pool.place_pair, pool.place_system):
        key = (int(pool.image[pair]), int(pool.caption[pair]))
        if system in subset and key in judged:
            labels[key] = max(judged[key], labels.get(key, 0.0))
    return labels


def score(table, labels, everything, queries, direction, measure):
    """Graded R@1 (E.2) or R-Precision (E.3) with E.4, over the queries that all labels together answer."""
    found = list(query_values(table, labels, everything, queries, direction, measure).values())
    return sum(found) / len(found)


def query_values(table, labels, everything, queries, direction, measure):
    """The same for each query: a dictionary."""
    found = {}
    for query in queries:

        def m(item, table=labels, query=query):
            return table.get((query, item) if direction == "i2t" else (item, query), 0.0)

        items = ranking(table, query, direction)
        if not any(m(item, everything) > 0 for item in items):
            continue
        if measure == "R@1":
            found[query] = m(items[0])
        else:
            r = sum(m(item) > 0 for item in items)
            found[query] = sum(m(item) for item in items[:r]) / r if r else 0.0
    return found


def subset_scores(tables, pool, judged, original, queries, direction, measure):
    """s_Θ(φ) of every subset, as a dictionary."""
    n = len(tables)
    everything = labels_of(pool, judged, original, range(n))
    return {
        subset: [
            score(table, labels_of(pool, judged, original, subset), everything, queries, direction, measure)
            for table in tables
        ]
        for size in range(n + 1)
        for subset in combinations(range(n), size)
    }


def tau(first, second):
    """τ over the union of two lists; what a list lacks comes after its end, tied."""
    union = sorted(set(first) | set(second))

    def place(listed, item):
        return listed.index(item) if item in listed else len(listed)

    agreed = 0
    pairs = list(combinations(union, 2))
    for a, b in pairs:
        x, y = (place(listed, a) - place(listed, b) for listed in (first, second))
        agreed += (x * y > 0) - (x * y < 0)
    return agreed / len(pairs) if pairs else float("nan")
