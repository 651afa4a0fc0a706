"""Gold: pairs whose right answer is known, hidden among the others to see who looks.

After ECCV Caption (§3.2): known positives come from the original labels, known negatives are random pairs
that no system ranks within its first 25. Hodosh et al. (2013, §4.3.2) show control images: one to three own
captions among random ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools.known_pairs import positive_keys, relevant_by_rule, sure_positives
from karat.judging.pools.pair_keys import find, key_of, split_key
from karat.judging.pools.pool import Pool
from karat.judging.tasks import KNOWN_NO, KNOWN_YES
from karat.runs import Run, pairs_to_place

GOLD_DEPTH = 25
"""ECCV Caption's."""
MOST_OWN = 3
"""Of a control image, this many own captions at most (Hodosh)."""
SMALL, CHUNK, ROUNDS = 1 << 20, 1 << 16, 40
"""Galleries of up to a million pairs are looked through; others are drawn from, so many pairs at a time."""

Stock = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw_gold(
    runs: Sequence[Run],
    benchmark: Benchmark,
    pool: Pool,
    form: Form | None = None,
    *,
    number: int | None = None,
    truth: str | None = None,
    depth: int = GOLD_DEPTH,
    seed: int = 0,
) -> Stock:
    """Return known pairs: images, captions, and KNOWN_YES or KNOWN_NO; fewer where there are no more.

    A known positive may itself be in the pool. Those that could not be, since neither their image nor their
    caption is a pooled query, come first. Among the others it does not matter whether they were pooled: an
    original pair that no system finds is often a bad caption, and gold of such pairs would be unfair.

    Parameters
    ----------
    runs
        Aligned with the benchmark.
    benchmark, pool
        A known negative is in no truth a positive, and not in the pool.
    form
        Decides how many a task needs; a grid gets control images.
    number
        How many pairs; by default as many as the form's tasks need for none to come twice.
    truth
        Its pairs of grade 1 are the known positives; the original pairing by default.
    depth
        A known negative is not among the first so many of any system, in either direction.
    seed
        Of the draws.
    """
    pairs, per_task, columns = (16, 2, 1) if form is None else (form.pairs, form.gold, form.columns)
    if number is None:
        number = -(-len(pool) // pairs) * per_task
    if number < 0 or depth < 0:
        raise InputError(f"gold is {number} and its depth {depth}", fix="give numbers from 0")
    rng = np.random.default_rng([seed, 3])
    own = sure_positives(benchmark, truth)
    if columns > 1:
        return control_images(runs, benchmark, pool, own, -(-number // columns), columns, depth, rng)
    yes = shuffled_positives(own, pool, rng)[: -(-number // 2)]
    unlikely = Unlikely(runs, benchmark, pool, depth)
    wanted = number // 2
    found = [np.zeros(0, np.int64)]
    for keys in candidates(benchmark.images.size, benchmark.captions.size, wanted, rng):
        found.append(unlikely(keys))
        if sum(map(len, found)) >= wanted:
            break
    no = first_of_each(np.concatenate(found))[:wanted]
    return as_stock(yes, no, rng)


def shuffled_positives(
    own: tuple[np.ndarray, np.ndarray], pool: Pool, rng: np.random.Generator
) -> np.ndarray:
    """Return keys of known positives in random order, those that could not be pooled first."""
    image, caption = own
    order = rng.permutation(len(image))
    asked = np.isin(image, pool.queries.get("i2t", ())) | np.isin(caption, pool.queries.get("t2i", ()))
    return key_of(image, caption)[order[np.argsort(asked[order], kind="stable")]]


def candidates(images: int, captions: int, wanted: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield random pairs' keys, a chunk at a time: all pairs of a small gallery, draws from a large one."""
    if not wanted:
        return
    chunk = max(1024, min(CHUNK, 2 * wanted))
    if images * captions <= SMALL:
        everything = rng.permutation(images * captions)
        for begin in range(0, len(everything), chunk):
            part = everything[begin : begin + chunk]
            yield key_of(part // captions, part % captions)
        return
    for _ in range(max(ROUNDS, 4 * wanted // chunk)):
        yield key_of(rng.integers(images, size=chunk), rng.integers(captions, size=chunk))


class Unlikely:
    """Keeps of given pairs, by their keys, those that can be known negatives; see `draw_gold`."""

    def __init__(self, runs: Sequence[Run], benchmark: Benchmark, pool: Pool, depth: int) -> None:
        self.runs, self.benchmark, self.depth = runs, benchmark, depth
        self.taken = np.union1d(positive_keys(benchmark), key_of(pool.image, pool.caption))

    def __call__(self, keys: np.ndarray) -> np.ndarray:
        """Return the pairs that are no positive, not pooled, and in no system's first places."""
        keys = keys[find(self.taken, keys) < 0]
        keys = keys[~relevant_by_rule(self.benchmark, *split_key(keys))]
        return keys[~ranked_high(self.runs, keys, self.depth)]


def ranked_high(runs: Sequence[Run], keys: np.ndarray, depth: int) -> np.ndarray:
    """Return which pairs any system ranks within its first `depth`, in either direction.

    A tie with the last of them counts as within.
    """
    image, caption = split_key(keys)
    high = np.zeros(len(keys), bool)
    if not len(keys) or not depth:
        return high
    for run in runs:
        pairs, orders = [], []
        for direction in run.directions:
            query, item = (image, caption) if direction == "i2t" else (caption, image)
            orders.append(np.argsort(query, kind="stable"))
            pairs.append(pairs_to_place(direction, query[orders[-1]], item[orders[-1]]))
        for order, placed in zip(orders, run.place(pairs)):
            # −1: a list that was cut off before the item.
            high[order] |= (placed.above >= 0) & (placed.above < depth)
    return high


def control_images(
    runs: Sequence[Run],
    benchmark: Benchmark,
    pool: Pool,
    own: tuple[np.ndarray, np.ndarray],
    number: int,
    columns: int,
    depth: int,
    rng: np.random.Generator,
) -> Stock:
    """Return one to three own captions of so many images, filled up to `columns` with known negatives."""
    own_keys = shuffled_positives(own, pool, rng)
    image = split_key(own_keys)[0]
    # Images that are judged anyway come last: nobody should meet one twice.
    order = np.argsort(np.isin(image, pool.image), kind="stable")
    chosen = first_of_each(image[order])
    by_image = np.argsort(image, kind="stable")
    edges = np.searchsorted(image[by_image], np.stack([chosen, chosen + 1], axis=1))
    unlikely = Unlikely(runs, benchmark, pool, depth)
    captions = benchmark.captions.size
    # Some of the random captions fall away.
    tries = min(captions, 4 * columns)
    yes, no = [own_keys[:0]], [own_keys[:0]]
    step = max(1, number)
    for begin in range(0, len(chosen), step):
        part = chosen[begin : begin + step]
        drawn = [key_of(np.full(tries, k), rng.choice(captions, tries, replace=False)) for k in part]
        keys = unlikely(np.concatenate(drawn))
        keys = keys[np.argsort(split_key(keys)[0], kind="stable")]
        spans = np.searchsorted(split_key(keys)[0], np.stack([part, part + 1], axis=1))
        for (first, last), (low, high) in zip(edges[begin : begin + step].tolist(), spans.tolist()):
            mine = own_keys[by_image[first:last]][: int(rng.integers(1, min(MOST_OWN, columns - 1) + 1))]
            others = keys[low:high][: columns - len(mine)]
            if len(yes) <= number and len(mine) + len(others) == columns:
                yes.append(mine)
                no.append(others)
        if len(yes) > number:
            break
    return as_stock(np.concatenate(yes), np.concatenate(no), rng)


def as_stock(yes: np.ndarray, no: np.ndarray, rng: np.random.Generator) -> Stock:
    """Return known positives and negatives in one random order."""
    keys = np.concatenate([yes, no])
    right = np.repeat(np.array([KNOWN_YES, KNOWN_NO], np.int8), [len(yes), len(no)])
    order = rng.permutation(len(keys))
    return *split_key(keys[order]), right[order]


def first_of_each(keys: np.ndarray) -> np.ndarray:
    """Return keys without repetition, in the order in which they came."""
    return keys[np.sort(np.unique(keys, return_index=True)[1])]
