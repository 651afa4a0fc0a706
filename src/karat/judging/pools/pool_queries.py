"""Which queries are pooled: all, those of a truth, given ones, or a random part of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from karat._util import check_choice
from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError

Queries = str | Mapping[Direction, np.ndarray | Sequence[int]] | None
Sample = int | Mapping[Direction, int] | None


def choose_queries(
    benchmark: Benchmark,
    directions: Sequence[Direction] = DIRECTIONS,
    queries: Queries = None,
    sample: Sample = None,
    seed: int = 0,
) -> dict[Direction, np.ndarray]:
    """Return the queries of each direction, as sorted indices.

    Parameters
    ----------
    benchmark
        What is asked.
    directions
        Which sides ask.
    queries
        A truth's name, for those that it covers; or indices for each direction. All when None.
    sample
        How many of them are drawn at random, in each direction or for each.
    seed
        The draw of one direction does not depend on the other.

    Examples
    --------
    >>> from karat.world import make_world
    >>> bench = make_world(images=100, captions=5, seed=1).benchmark()
    >>> found = choose_queries(bench, sample={"i2t": 4}, seed=2)
    >>> found["i2t"].tolist(), len(found["t2i"])
    ([10, 25, 29, 81], 500)
    """
    asked = [check_choice(one, DIRECTIONS, "directions") for one in directions]
    if not asked or len(set(asked)) < len(asked):
        raise InputError("directions names none, or one twice", fix="give i2t, t2i or both")
    found: dict[Direction, np.ndarray] = {}
    for direction in (one for one in DIRECTIONS if one in asked):
        chosen = covered(benchmark, direction, queries)
        number = sample.get(direction) if isinstance(sample, Mapping) else sample
        if number is not None:
            if not 1 <= number <= len(chosen):
                raise InputError(
                    f"a sample of {number:,} was asked for, and {direction} has {len(chosen):,} queries",
                    fix=f"give a number from 1 to {len(chosen):,}",
                )
            rng = np.random.default_rng([seed, DIRECTIONS.index(direction)])
            chosen = np.sort(rng.choice(chosen, number, replace=False))
        if len(chosen):
            found[direction] = chosen
    if not found:
        raise InputError("there is no query to pool", fix="name a truth or queries that there are")
    return found


def covered(benchmark: Benchmark, direction: Direction, queries: Queries) -> np.ndarray:
    """Return the queries of one direction before any draw."""
    size = benchmark.queries(direction).size
    if queries is None:
        return np.arange(size)
    given = benchmark.truth(queries).queries if isinstance(queries, str) else queries
    listed = np.unique(np.asarray(given.get(direction, ()), dtype=np.int64))
    if isinstance(queries, str):
        # A truth may cover captions outside the gallery, which no run ranks.
        return listed[listed < size]
    if len(listed) and (listed[0] < 0 or listed[-1] >= size):
        raise InputError(
            f"the {direction} query {listed[0] if listed[0] < 0 else listed[-1]} is outside the gallery",
            fix=f"give indices from 0 to {size - 1}",
        )
    return listed
