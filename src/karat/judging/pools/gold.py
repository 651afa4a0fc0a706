"""Gold: pairs whose right answer is known, hidden among the others to see which annotators are careful.

After ECCV Caption (§3.2): gold positives come from the original labels, gold negatives are random pairs
that no run ranks among its first 25. Hodosh et al. (2013, §4.3.2) use gold images ("control images"): one
to three own captions of an image among random ones.

Three demands on gold compete:

- A gold positive must be right. An original pair that no run ranks high is often a wrong label: in a world
  where 20% of the original pairs are wrong, 1% to 3% of those that a run ranks among its first five are
  wrong, but 92% to 100% of the others. So a gold positive is *confirmed* by at least one run. Where there
  are too few of these, it is better to use them several times than to test annotators with wrong pairs.
- Gold should not be a pair that annotators are asked about. Of the confirmed pairs, those outside the pool
  come first. Where all queries are pooled there are none, since a run that confirms a pair has pooled it:
  gold then overlaps with the pairs to judge, and this is counted and stated.
- Gold must look like the pairs to judge. Its images and captions are drawn from those of the pool. A form
  that shows the caption's own image gets no original pairs, which would show the same image twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.benchmarks import Benchmark, Direction, in_order, same_side
from karat.errors import InputError
from karat.forms import (
    GOLD_NO,
    GOLD_YES,
    Form,
    Pool,
    are_pairs,
    find,
    key_of,
    listed_pairs,
    original_pairs,
    positive_keys,
    split_key,
)
from karat.runs import Run, TableRun, Top, pairs_to_place

KnownFirst = Mapping[Run, Mapping[Direction, Top]]
"""Of tables of scores, the first items of every query in each direction."""

GOLD_DEPTH = 25
"""As in ECCV Caption."""
MOST_OWN = 3
"""The largest number of own captions of a gold image (Hodosh et al. 2013)."""
SPARE = 4
"""The stock is for so many times the gold of the form's tasks: tasks may be made smaller, or with more gold,
when the runs are no longer at hand."""
MOST_USES = 3
"""Only if confirmed gold positives would have to be used more often than this, others are drawn as well."""
REPEATS = 0.25
"""From so many expected repetitions of an image or caption within a task on, a pair is conspicuous if its
image and its caption are shown less than half as often as those of the pairs to judge."""
SMALL, CHUNK, ROUNDS = 1 << 20, 1 << 16, 40
"""Galleries of up to a million pairs are searched completely; from others, chunks of pairs are drawn."""
ROUNDS_LIKE_THE_POOL = 8
"""How many chunks of pairs are drawn from the images and captions of the pool before any others."""

GoldPairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Images, captions, and GOLD_YES or GOLD_NO."""


@dataclass(frozen=True)
class GoldChoice:
    """Which gold pairs are drawn for a pool, and how many.

    Parameters
    ----------
    number
        How many pairs. By default four times as many as the form's tasks need without using one twice, so
        that smaller tasks or tasks with more gold find enough; but positives that no run ranks high only
        where the others would be used more than three times.
    truth
        Its pairs of grade 1 are the gold positives; the original pairing by default or, for a form that shows
        the caption's own image, all truths that were not made by a machine, without original pairs.
    depth
        A gold negative is not among the first so many items of any run, in either direction.
    """

    number: int | None = None
    truth: str | None = None
    depth: int = GOLD_DEPTH

    def __post_init__(self) -> None:
        for what, value in (("gold", self.number), ("the depth of gold", self.depth)):
            if value is not None and value < 0:
                raise InputError(f"{what} is {value}", fix="give a whole number from 0")


def draw_gold(
    runs: Sequence[Run],
    benchmark: Benchmark,
    pool: Pool,
    form: Form | None = None,
    choice: GoldChoice | None = None,
    *,
    seed: int = 0,
    known: KnownFirst | None = None,
) -> GoldPairs:
    """Return gold pairs: images, captions, and GOLD_YES or GOLD_NO; fewer where there are no more.

    They are returned in the order in which tasks use them. Gold positives that at least one run ranks among
    its first `pool.top` items come before the others, and of these the pairs that are not in the pool.

    Parameters
    ----------
    runs
        Aligned with the benchmark. Without runs, gold is drawn from what the pool knows about them: a pooled
        pair is confirmed, and a gold negative is a pair that was not pooled.
    benchmark, pool
        A gold negative is not positive in any truth, and not in the pool.
    form
        Decides how many gold pairs a task needs; a grid gets gold images, and a form that shows the
        caption's own image gets gold positives with other images.
    choice
        Which gold pairs, and how many.
    seed
        The seed of the draws.
    known
        The first items of runs that are known already, at least `depth` and `pool.top` of every query.
    """
    known, choice = known or {}, choice or GoldChoice()
    pairs, per_task, columns = (16, 2, 1) if form is None else (form.pairs, form.gold, form.columns)
    needed = -(-len(pool) // pairs) * per_task
    unsure = choice.number if choice.number is not None else -(-needed // MOST_USES)
    number = SPARE * needed if choice.number is None else choice.number
    rng = np.random.default_rng([seed, 3])
    sure = key_of(*sure_positives(benchmark, choice.truth, form is not None and form.own_image))
    sure = sure[are_pairs(benchmark.directions[0], sure)]
    unlikely = Unlikely(runs, benchmark, pool, choice.depth, known)
    if columns > 1:
        images = -(-number // columns)
        fair, rest = positives_in_order(runs, sure, pool, MOST_OWN * images, False, rng, known)
        return gold_images(unlikely, fair, rest, images, -(-unsure // columns), columns, rng)
    wanted = -(-number // 2)
    again = repeats_in_a_task(pool, pairs) >= REPEATS
    fair, rest = positives_in_order(runs, sure, pool, wanted, again, rng, known)
    yes = np.concatenate([fair, rest[: max(0, -(-unsure // 2) - len(fair))]])[:wanted]
    return as_stock(yes, draw_negatives(unlikely, number // 2, rng), rng)


def more_gold(
    pool: Pool, benchmark: Benchmark, form: Form, yes: int, no: int, used: np.ndarray, seed: int = 0
) -> tuple[Pool, int]:
    """Return a pool whose stock has further gold at its end, drawn without the runs, and how much it is.

    Parameters
    ----------
    pool, benchmark, form
        As for `draw_gold`; all pairs that were ever pooled must be in the pool.
    yes, no
        How many further gold positives and negatives; for a grid, `yes` gold images. Fewer are added where
        there are no more.
    used
        Keys of pairs that tasks already show.
    seed
        The seed of the draws.
    """
    old = np.union1d(key_of(pool.gold_image, pool.gold_caption), used)
    if form.columns > 1:
        images = np.union1d(pool.gold_image, split_key(used)[0])
        number = (len(images) + yes) * form.columns
        image, caption, right = draw_gold((), benchmark, pool, form, GoldChoice(number), seed=seed)
        # An image that a task shows is better than none, but comes last.
        fresh = first_of_each(image[~np.isin(image, pool.gold_image)])
        fresh = fresh[np.argsort(np.isin(fresh, images), kind="stable")][:yes]
        rows = np.flatnonzero(np.isin(image, fresh))
    else:
        number = 2 * (max(yes, no) + len(old))
        image, caption, right = draw_gold((), benchmark, pool, form, GoldChoice(number), seed=seed)
        key = key_of(image, caption)
        free = find(old, key) < 0
        # Without the runs, only pooled pairs are known to be confirmed.
        sure = find(key_of(pool.image, pool.caption), key) >= 0
        there = int((pool.gold_right == GOLD_YES).sum())
        if there + int((free & sure & (right == GOLD_YES)).sum()) >= -(-(there + yes) // MOST_USES):
            free &= sure | (right == GOLD_NO)
        wanted = ((GOLD_YES, yes), (GOLD_NO, no))
        rows = np.concatenate([np.flatnonzero(free & (right == side))[:count] for side, count in wanted])
    larger = replace(
        pool,
        gold_image=np.concatenate([pool.gold_image, image[rows]]),
        gold_caption=np.concatenate([pool.gold_caption, caption[rows]]),
        gold_right=np.concatenate([pool.gold_right, right[rows]]),
    )
    return larger, len(rows)


def positives_in_order(
    runs: Sequence[Run],
    sure: np.ndarray,
    pool: Pool,
    wanted: int,
    conspicuous: bool,
    rng: np.random.Generator,
    known: KnownFirst,
) -> tuple[np.ndarray, np.ndarray]:
    """Return keys of gold positives that a run confirms, in the order of their use, and all others.

    Parameters
    ----------
    runs, sure, pool
        What ranks the pairs, the keys of the pairs, and the pairs to judge.
    wanted
        The ranks of further pairs are not looked up when so many confirmed ones are found.
    conspicuous
        Whether a pair is conspicuous if its image and its caption are shown much less often than those of
        other pairs. If so, pooled pairs come before such pairs.
    rng
        Decides the order among equals.
    known
        The first items of runs that are known already.
    """
    sure = rng.permutation(sure)
    pooled = find(key_of(pool.image, pool.caption), sure) >= 0
    typical = times_shown(pool, pool.image, pool.caption).mean() if len(pool) else 0.0
    alike = times_shown(pool, *split_key(sure)) >= typical / 2
    outside = np.flatnonzero(~pooled)
    outside = outside[np.argsort(~alike[outside], kind="stable")]
    confirmed = np.zeros(len(sure), bool)
    chunk = max(1024, 2 * wanted)
    for begin in range(0, len(outside), chunk):
        rows = outside[begin : begin + chunk]
        confirmed[rows] = ranked_high(runs, sure[rows], pool.top, known)
        if confirmed.sum() >= wanted:
            break
    groups = [confirmed & alike, pooled, confirmed & ~alike]
    order = (0, 1, 2) if conspicuous else (0, 2, 1)
    fair = np.concatenate([by_turns(sure[groups[number]]) for number in order])
    return fair, by_turns(sure[~(confirmed | pooled)])


def by_turns(keys: np.ndarray) -> np.ndarray:
    """Return one pair of each caption, then the second of each, and so on.

    A truth with many positives lists most of them for captions that describe nearly everything, and gold
    should not consist of these.

    >>> keys = key_of(np.array([1, 2, 3, 4]), np.array([7, 7, 8, 7]))
    >>> split_key(by_turns(keys))[0].tolist()
    [1, 3, 2, 4]
    """
    caption = split_key(keys)[1]
    order = np.argsort(caption, kind="stable")
    turn = np.empty(len(keys), np.int64)
    turn[order] = np.arange(len(keys)) - np.searchsorted(caption[order], caption[order])
    return keys[np.argsort(turn, kind="stable")]


def times_shown(pool: Pool, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return how many pooled pairs have the image, and how many the caption, of each pair, added up."""
    times = np.zeros(len(image), np.int64)
    for pooled, column in ((pool.image, image), (pool.caption, caption)):
        times += np.bincount(pooled, minlength=int(column.max(initial=-1)) + 1)[column]
    return times


def repeats_in_a_task(pool: Pool, pairs: int) -> float:
    """Return how many other pairs of a task, on average, show the image or the caption of a pooled pair."""
    if not len(pool):
        return 0.0
    others = float(times_shown(pool, pool.image, pool.caption).mean()) - 2
    return others * min(1.0, pairs / len(pool))


def sure_positives(
    benchmark: Benchmark, truth: str | None, own_image: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that are certainly relevant: grade 1 in a truth, by default the original pairing.

    For a benchmark that does not say which image a caption was written for, these come from the first truth
    that was not made by a machine and lists its pairs.

    Parameters
    ----------
    benchmark, truth
        Where the pairs come from.
    own_image
        Whether the caption's own image is shown beside the pair. Then all truths that list pairs and were not
        made by a machine are used, and original pairs are left out.
    """
    listed = [
        candidate.name
        for candidate in benchmark.truths.values()
        if candidate.judgments is not None and not candidate.machine
    ]
    owner = benchmark.caption_image
    if own_image and owner is not None:
        keys = [np.zeros(0, np.int64)]
        for name in listed if truth is None else [truth]:
            pairs = listed_pairs(benchmark, name)
            other = (pairs.grade >= 1) & (np.asarray(owner)[pairs.caption] != pairs.image)
            keys.append(key_of(pairs.image[other], pairs.caption[other]))
        return split_key(np.unique(np.concatenate(keys)))
    if truth is None and owner is None:
        if not listed:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        truth = listed[0]
    pairs = original_pairs(benchmark) if truth is None else listed_pairs(benchmark, truth)
    sure = pairs.grade >= 1
    return pairs.image[sure].astype(np.int64), pairs.caption[sure].astype(np.int64)


def draw_negatives(unlikely: Unlikely, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Return keys of gold negatives, in random order: first images and captions that the pool has."""
    chosen = np.zeros(0, np.int64)
    images, captions = unlikely.benchmark.images.size, unlikely.benchmark.captions.size
    for chunks in (pairs_like(unlikely.pool, wanted, rng), random_pairs(images, captions, wanted, rng)):
        for keys in chunks:
            new = first_of_each(keys[~np.isin(keys, chosen)])
            chosen = np.concatenate([chosen, unlikely(new)])
            if len(chosen) >= wanted:
                return chosen[:wanted]
    return chosen


def pairs_like(pool: Pool, wanted: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield keys of pairs whose images and captions occur as often as in the pool, a chunk at a time."""
    if not wanted or not len(pool):
        return
    chunk = max(1024, min(CHUNK, 2 * wanted))
    for _ in range(max(ROUNDS_LIKE_THE_POOL, 4 * wanted // chunk)):
        rows = rng.integers(len(pool), size=(2, chunk))
        yield key_of(pool.image[rows[0]], pool.caption[rows[1]])


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

    def __init__(
        self, runs: Sequence[Run], benchmark: Benchmark, pool: Pool, depth: int, known: KnownFirst
    ) -> None:
        self.runs, self.benchmark, self.pool, self.depth, self.known = runs, benchmark, pool, depth, known
        self.taken = np.union1d(positive_keys(benchmark), key_of(pool.image, pool.caption))

    def __call__(self, keys: np.ndarray) -> np.ndarray:
        """Return the pairs that are not positive, not pooled, and not among any run's first items."""
        keys = keys[are_pairs(self.benchmark.directions[0], keys)]
        keys = keys[find(self.taken, keys) < 0]
        keys = keys[~relevant_by_rule(self.benchmark, *split_key(keys))]
        if self.benchmark.instances is not None:
            keys = keys[self.benchmark.instances.is_elsewhere(*split_key(keys))]
        return keys[~ranked_high(self.runs, keys, self.depth, self.known)]


def relevant_by_rule(benchmark: Benchmark, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return which pairs are relevant in any truth that is a rule."""
    relevant = np.zeros(len(image), bool)
    for truth in benchmark.truths.values():
        if truth.rule is not None and len(image):
            relevant |= truth.rule.relevant(benchmark.directions[0], image, caption)
    return relevant


def ranked_high(
    runs: Sequence[Run], keys: np.ndarray, depth: int, known: KnownFirst | None = None
) -> np.ndarray:
    """Return which pairs any run ranks among its first `depth` items, in either direction.

    A tie with the last of them counts as among them. Where the first items are known, at least `depth` of
    them, the score of the last one decides and no other score is read.
    """
    image, caption = split_key(keys)
    high = np.zeros(len(keys), bool)
    if not len(keys) or not depth:
        return high
    for run in runs:
        pairs, orders = [], []
        ways = [(way, *in_order(way, image, caption)) for way in run.directions]
        # Each of two items of one collection asks for the other.
        ways += [(way, caption, image) for way in run.directions if same_side(way)]
        for direction, query, item in ways:
            if known and run in known and isinstance(run, TableRun):
                top = known[run][direction]
                last = top.ptr[query] + np.minimum(depth, np.diff(top.ptr)[query]) - 1
                high |= run.pairs(direction, query, item) >= top.score[last]
                continue
            orders.append(np.argsort(query, kind="stable"))
            pairs.append(pairs_to_place(direction, query[orders[-1]], item[orders[-1]]))
        for order, placed in zip(orders, run.place(pairs) if pairs else ()):
            # −1: the list ends before the item.
            high[order] |= (placed.above >= 0) & (placed.above < depth)
    return high


def gold_images(
    unlikely: Unlikely,
    fair: np.ndarray,
    rest: np.ndarray,
    number: int,
    unsure: int,
    columns: int,
    rng: np.random.Generator,
) -> GoldPairs:
    """Return one to three own captions of each of `number` images, with gold negatives up to `columns`.

    An image gets own captions that no run confirms (`rest`) only if it has no others, and such images are
    used only until there are `unsure` images.
    """
    pool, captions = unlikely.pool, unlikely.benchmark.captions.size
    own = np.concatenate([fair, rest[~np.isin(split_key(rest)[0], split_key(fair)[0])]])
    image = split_key(own)[0]
    confirmed = np.arange(len(own)) < len(fair)
    # Images that are judged anyway come last: no annotator should see an image twice.
    chosen = first_of_each(image[np.lexsort((np.isin(image, pool.image), ~confirmed))])
    by_image = np.argsort(image, kind="stable")
    edges = np.searchsorted(image[by_image], np.stack([chosen, chosen + 1], axis=1))
    # Some of the random captions cannot be gold negatives.
    tries = min(captions, 4 * columns)
    grids: list[tuple[np.ndarray, np.ndarray]] = []
    sure = set(fair.tolist())
    step = max(1, number)
    for begin in range(0, len(chosen) if number else 0, step):
        part = chosen[begin : begin + step]
        drawn = [key_of(np.full(2 * tries, k), draw_captions(pool, captions, tries, rng)) for k in part]
        keys = unlikely(first_of_each(np.concatenate(drawn)))
        keys = keys[np.argsort(split_key(keys)[0], kind="stable")]
        spans = np.searchsorted(split_key(keys)[0], np.stack([part, part + 1], axis=1))
        for (first, last), (low, high) in zip(edges[begin : begin + step].tolist(), spans.tolist()):
            right = own[by_image[first:last]][: int(rng.integers(1, min(MOST_OWN, columns - 1) + 1))]
            wrong = keys[low:high][: columns - len(right)]
            limit = number if right[0] in sure else unsure
            if len(grids) < limit and len(right) + len(wrong) == columns:
                grids.append((right, wrong))
        if len(grids) >= number:
            break
    parts = [part for grid in grids for part in grid]
    right = np.tile(np.array([GOLD_YES, GOLD_NO], np.int8), len(grids)).repeat([len(part) for part in parts])
    return *split_key(np.concatenate([own[:0], *parts])), right


def draw_captions(pool: Pool, captions: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Return `number` captions that occur as often as in the pool, then as many random ones."""
    from_pool = pool.caption[rng.integers(len(pool), size=number)] if len(pool) else np.zeros(0, np.int64)
    anywhere = rng.choice(captions, 2 * number - len(from_pool), replace=captions < 2 * number)
    return np.concatenate([from_pool, anywhere])


def as_stock(yes: np.ndarray, no: np.ndarray, rng: np.random.Generator) -> GoldPairs:
    """Return gold positives and negatives, each in their order, mixed at random."""
    right = rng.permutation(np.repeat(np.array([GOLD_YES, GOLD_NO], np.int8), [len(yes), len(no)]))
    keys = np.empty(len(right), np.int64)
    keys[right == GOLD_YES], keys[right == GOLD_NO] = yes, no
    return *split_key(keys), right


def first_of_each(keys: np.ndarray) -> np.ndarray:
    """Return keys without duplicates, in their first order."""
    return keys[np.sort(np.unique(keys, return_index=True)[1])]
