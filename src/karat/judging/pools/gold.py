"""Gold: pairs whose right answer is known, hidden among the others to see which annotators are careful.

After ECCV Caption (§3.2): gold positives come from the original labels, gold negatives are random pairs
that no run ranks among its first 25. Hodosh et al. (2013, §4.3.2) use gold images ("control images"): one
to three own captions of an image among random ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools.pairs import find, key_of, listed_pairs, original_pairs, positive_keys, split_key
from karat.judging.pools.pool import GOLD_NO, GOLD_YES, Pool
from karat.runs import Run, pairs_to_place

GOLD_DEPTH = 25
"""As in ECCV Caption."""
MOST_OWN = 3
"""The largest number of own captions of a gold image (Hodosh et al. 2013)."""
SMALL, CHUNK, ROUNDS = 1 << 20, 1 << 16, 40
"""Galleries of up to a million pairs are searched completely; from others, chunks of pairs are drawn."""

GoldPairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Images, captions, and GOLD_YES or GOLD_NO."""


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
) -> GoldPairs:
    """Return gold pairs: images, captions, and GOLD_YES or GOLD_NO; fewer where there are no more.

    A gold positive may also be in the pool. Pairs that cannot be in the pool, since neither their image nor
    their caption is a pooled query, come first. Among the others it does not matter whether they were pooled:
    an original pair that no run ranks high often has a bad caption and would make unfair gold.

    Parameters
    ----------
    runs
        Aligned with the benchmark.
    benchmark, pool
        A gold negative is not positive in any truth, and not in the pool.
    form
        Decides how many gold pairs a task needs; a grid gets gold images.
    number
        How many pairs; by default as many as the form's tasks need without using one twice.
    truth
        Its pairs of grade 1 are the gold positives; the original pairing by default.
    depth
        A gold negative is not among the first so many items of any run, in either direction.
    seed
        The seed of the draws.
    """
    pairs, per_task, columns = (16, 2, 1) if form is None else (form.pairs, form.gold, form.columns)
    if number is None:
        number = -(-len(pool) // pairs) * per_task
    if number < 0 or depth < 0:
        raise InputError(f"gold is {number} and its depth {depth}", fix="give whole numbers from 0")
    rng = np.random.default_rng([seed, 3])
    own = sure_positives(benchmark, truth)
    if columns > 1:
        return gold_images(runs, benchmark, pool, own, -(-number // columns), columns, depth, rng)
    yes = shuffled_positives(own, pool, rng)[: -(-number // 2)]
    unlikely = Unlikely(runs, benchmark, pool, depth)
    wanted = number // 2
    negatives = [np.zeros(0, np.int64)]
    for keys in random_pairs(benchmark.images.size, benchmark.captions.size, wanted, rng):
        negatives.append(unlikely(keys))
        if sum(map(len, negatives)) >= wanted:
            break
    no = first_of_each(np.concatenate(negatives))[:wanted]
    return as_stock(yes, no, rng)


def shuffled_positives(
    own: tuple[np.ndarray, np.ndarray], pool: Pool, rng: np.random.Generator
) -> np.ndarray:
    """Return keys of gold positives in random order, those that could not be pooled first."""
    image, caption = own
    order = rng.permutation(len(image))
    is_query = np.isin(image, pool.queries.get("i2t", ())) | np.isin(caption, pool.queries.get("t2i", ()))
    return key_of(image, caption)[order[np.argsort(is_query[order], kind="stable")]]


def sure_positives(benchmark: Benchmark, truth: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that are certainly relevant: grade 1 in a truth, by default the original pairing.

    For a benchmark that does not say which image a caption was written for, these come from the first truth
    that was not made by a machine and lists its pairs.
    """
    if truth is None and benchmark.caption_image is None:
        listed = (
            candidate.name
            for candidate in benchmark.truths.values()
            if candidate.judgments is not None and not candidate.machine
        )
        truth = next(listed, None)
        if truth is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
    pairs = original_pairs(benchmark) if truth is None else listed_pairs(benchmark, truth)
    sure = pairs.grade >= 1
    return pairs.image[sure].astype(np.int64), pairs.caption[sure].astype(np.int64)


def random_pairs(images: int, captions: int, wanted: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield keys of random pairs, a chunk at a time: all pairs of a small gallery, draws from a large one."""
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
    """Keeps those pairs, by their keys, that can be gold negatives; see `draw_gold`."""

    def __init__(self, runs: Sequence[Run], benchmark: Benchmark, pool: Pool, depth: int) -> None:
        self.runs, self.benchmark, self.depth = runs, benchmark, depth
        self.taken = np.union1d(positive_keys(benchmark), key_of(pool.image, pool.caption))

    def __call__(self, keys: np.ndarray) -> np.ndarray:
        """Return the pairs that are not positive, not pooled, and not among any run's first items."""
        keys = keys[find(self.taken, keys) < 0]
        keys = keys[~relevant_by_rule(self.benchmark, *split_key(keys))]
        return keys[~ranked_high(self.runs, keys, self.depth)]


def relevant_by_rule(benchmark: Benchmark, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return which pairs are relevant in any truth that is a rule."""
    relevant = np.zeros(len(image), bool)
    for truth in benchmark.truths.values():
        if truth.rule is not None and len(image):
            relevant |= truth.rule.relevant("i2t", image, caption)
    return relevant


def ranked_high(runs: Sequence[Run], keys: np.ndarray, depth: int) -> np.ndarray:
    """Return which pairs any run ranks among its first `depth` items, in either direction.

    A tie with the last of them counts as among them.
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
            # −1: the list ends before the item.
            high[order] |= (placed.above >= 0) & (placed.above < depth)
    return high


def gold_images(
    runs: Sequence[Run],
    benchmark: Benchmark,
    pool: Pool,
    own: tuple[np.ndarray, np.ndarray],
    number: int,
    columns: int,
    depth: int,
    rng: np.random.Generator,
) -> GoldPairs:
    """Return one to three own captions of each of `number` images, with gold negatives up to `columns`."""
    own_keys = shuffled_positives(own, pool, rng)
    image = split_key(own_keys)[0]
    # Images that are judged anyway come last: no annotator should see an image twice.
    order = np.argsort(np.isin(image, pool.image), kind="stable")
    chosen = first_of_each(image[order])
    by_image = np.argsort(image, kind="stable")
    edges = np.searchsorted(image[by_image], np.stack([chosen, chosen + 1], axis=1))
    unlikely = Unlikely(runs, benchmark, pool, depth)
    captions = benchmark.captions.size
    # Some of the random captions cannot be gold negatives.
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
            right = own_keys[by_image[first:last]][: int(rng.integers(1, min(MOST_OWN, columns - 1) + 1))]
            wrong = keys[low:high][: columns - len(right)]
            if len(yes) <= number and len(right) + len(wrong) == columns:
                yes.append(right)
                no.append(wrong)
        if len(yes) > number:
            break
    return as_stock(np.concatenate(yes), np.concatenate(no), rng)


def as_stock(yes: np.ndarray, no: np.ndarray, rng: np.random.Generator) -> GoldPairs:
    """Return gold positives and negatives in one random order."""
    keys = np.concatenate([yes, no])
    right = np.repeat(np.array([GOLD_YES, GOLD_NO], np.int8), [len(yes), len(no)])
    order = rng.permutation(len(keys))
    return *split_key(keys[order]), right[order]


def first_of_each(keys: np.ndarray) -> np.ndarray:
    """Return keys without duplicates, in their first order."""
    return keys[np.sort(np.unique(keys, return_index=True)[1])]
