"""Tasks: pooled pairs in packs that an annotator finishes at once, with gold pairs hidden among them.

Gold is dealt so that no annotator sees a pair twice. A gold positive may also be in the pool, and then some
other task asks about it: an annotator who does one of the two tasks may not do the other. Left to chance,
such links would chain all tasks together, and a small team would run out of tasks that anyone may still do.
So tasks are linked in twos, and a pair that is hidden in one of them is asked about in the other: twice as
many annotators as answer each task are then always enough. (If the number of tasks is odd, the last three are
linked in a ring.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from karat._util import plural, track, word_for
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.forms import (
    DRAWN,
    GOLD_NO,
    GOLD_YES,
    NOT_GOLD,
    Form,
    Pool,
    TaskPlan,
    find,
    key_of,
    split_key,
    without,
)
from karat.judging.pools import more_gold, overlap_notes
from karat.judging.tasks.task_needs import gold_overlap

NO_TWIN = -1
Rows = np.ndarray


def make_tasks(
    pool: Pool,
    form: Form,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    planned: TaskPlan | None = None,
    chosen: tuple[np.ndarray, np.ndarray] | None = None,
    benchmark: Benchmark | Callable[[], Benchmark] | None = None,
    seed: int = 0,
) -> TaskPlan:
    """Return a plan in which every pooled pair is in exactly one task, among hidden gold pairs.

    The sizes of tasks differ by one pair at most: seventeen pairs with sixteen per task make nine and eight.
    Gold pairs are at random places, half of them positive and half negative; all are negative where the stock
    has no positive. None is used twice before all have been used, and none is in the task that asks about it.
    The tasks of a grid contain whole images.

    Twice as many annotators as `overlap` can do all tasks without seeing a pair twice, as long as no gold
    pair had to be used again; `annotators_needed` counts.

    Parameters
    ----------
    pool
        The pairs to judge, and the stock of gold pairs.
    form
        Sets the layout, and the sizes where they are not given.
    task_size, gold
        The largest number of pairs to judge in a task, and the number of gold pairs. ECCV Caption: 16 and 2.
    overlap
        How many annotators answer each task, without seeing each other's answers.
    planned
        Tasks that exist: the pairs that they ask about are left out, and their gold is used last.
    chosen
        Images and captions of the pairs to ask about, instead of all of the pool; they need not be in it.
        They are in order of priority: the first tasks ask about the first pairs. Gold pairs are left out,
        since their answers are known, and a note says how many were.
    benchmark
        Of the pool, or a function that loads it. With it, further gold is drawn where the stock is too small
        for these sizes. Its ranks cannot be checked without the runs; a note says so.
    seed
        Decides which pairs are together, and where.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> make_tasks(pool, load_form("pair"))
    TaskPlan(44 tasks, 783 items, 88 of them gold, 3 annotators per task)
    """
    pairs = form.pairs if task_size is None else task_size
    gold = form.gold if gold is None else gold
    if pairs < 1 or gold < 0 or overlap < 1:
        raise InputError(
            f"a task has {plural(pairs, 'pair')} and {gold} gold pairs, for {plural(overlap, 'annotator')}",
            fix="give at least 1 pair, 0 gold pairs and 1 annotator",
        )
    if not len(pool) and chosen is None:
        raise InputError("the pool is empty", fix="pool deeper, filter less, or leave out fewer judged pairs")
    notes: tuple[str, ...] = ()
    keys = None if chosen is None else key_of(*chosen)
    if benchmark is not None:
        pool, notes = with_enough_gold(pool, form, pairs, gold, planned, keys, benchmark, seed)
    pool, wanted = to_ask(pool, planned, keys), len(pool) if keys is None else len(keys)
    if not len(pool):
        also = "" if keys is None else " or gold"
        raise InputError(f"every pair is already in a task{also}", fix="pool more pairs first")
    if keys is not None and len(pool) < wanted:
        left_out = f"{wanted - len(pool):,} of {plural(wanted, 'pair')} need no question"
        notes = (*notes, f"{left_out}: they are in a task already, or gold")
    rank = None if keys is None else rank_of(key_of(pool.image, pool.caption), keys)
    rng = np.random.default_rng([seed, 4])
    if form.layout == "grid":
        plan = make_grid_tasks(pool, form.columns, pairs, gold, overlap, rng, rank)
    else:
        plan = make_pair_tasks(pool, pairs, gold, overlap, rng, rank)
    places, distinct = int((plan.gold != NOT_GOLD).sum()), gold_overlap(plan)[0]
    if distinct < places:
        again = "some are used several times, but only once per annotator"
        notes = (*notes, f"{plural(distinct, 'gold pair')} for {places:,} places: {again}")
    both = overlap_notes(*gold_overlap(plan, *(() if planned is None else (planned,))))
    return replace(plan, notes=(*notes, *both))


def make_pair_tasks(
    pool: Pool,
    pairs: int,
    gold: int,
    overlap: int,
    rng: np.random.Generator,
    rank: np.ndarray | None = None,
) -> TaskPlan:
    """Return a plan whose tasks show one pair at a time; those of low `rank` come first."""
    tasks = -(-len(pool) // pairs)
    task, chosen = deal(pool, tasks, gold, rng, rank)
    task = np.concatenate([task, np.repeat(np.arange(tasks), gold)])
    image = np.concatenate([pool.image, pool.gold_image[chosen]])
    caption = np.concatenate([pool.caption, pool.gold_caption[chosen]])
    right = np.concatenate([np.full(len(pool), NOT_GOLD), pool.gold_right[chosen]])
    order = np.lexsort((rng.random(len(task)), task))
    task = task[order]
    position = np.arange(len(task)) - np.searchsorted(task, task)
    return TaskPlan(task, position, position, image[order], caption[order], right[order], overlap)


def with_enough_gold(
    pool: Pool,
    form: Form,
    pairs: int,
    gold: int,
    planned: TaskPlan | None,
    chosen: np.ndarray | None,
    benchmark: Benchmark | Callable[[], Benchmark],
    seed: int,
) -> tuple[Pool, tuple[str, ...]]:
    """Return a pool with enough gold to use none twice, as far as the benchmark has it; and notes."""
    rest = to_ask(pool, planned, chosen)
    used = np.zeros(0, np.int64) if planned is None else key_of(planned.image, planned.caption)
    new = len(rest)
    if chosen is not None:
        used = np.union1d(used, chosen)
    elif new <= pairs:
        # A single task cannot hide what it asks about.
        used = np.union1d(used, key_of(rest.image, rest.caption))
    fresh = ~np.isin(key_of(pool.gold_image, pool.gold_caption), used)
    if form.layout == "grid":
        grids = int((-(-np.bincount(rest.image) // form.columns)).sum())
        tasks = -(-grids // max(1, pairs // form.columns))
        wanted = tasks * (gold // form.columns), 0
        available = len(np.unique(pool.gold_image[fresh])), 0
    else:
        tasks = -(-new // pairs)
        positives = tasks // 2 * gold + (tasks % 2) * (gold // 2)
        wanted = positives, tasks * gold - positives
        of_kind = [int((fresh & (pool.gold_right == right)).sum()) for right in (GOLD_YES, GOLD_NO)]
        available = of_kind[0], of_kind[1]
    yes, no = (max(0, number - there) for number, there in zip(wanted, available))
    if not yes and not no:
        return pool, ()
    loaded = benchmark() if callable(benchmark) else benchmark
    pool, drawn = more_gold(pool, loaded, form, yes, no, used, seed)
    if not drawn:
        return pool, ()
    return pool, (
        f"{plural(drawn, 'gold pair')} {word_for(drawn, 'was', 'were')} drawn without the runs, since the "
        "pool was made for less gold: the negatives among them are not in the pool, but a run may rank them "
        "high; to have that checked, give karat project pool these sizes",
    )


def to_ask(pool: Pool, planned: TaskPlan | None, chosen: np.ndarray | None) -> Pool:
    """Return the pairs that need a question, with the stock of gold in the order of its use.

    Parameters
    ----------
    pool
        The pairs to judge, and the stock.
    planned
        Tasks that exist.
    chosen
        Keys of pairs to ask about instead of those of the pool. Gold is left out: its answer is known, and
        what is asked about in one task must not be given away by another.
    """
    pool = pool if planned is None else unplanned(pool, planned)
    if chosen is None:
        return pool
    known = key_of(pool.gold_image, pool.gold_caption)
    if planned is not None:
        known = np.concatenate([known, key_of(planned.image, planned.caption)])
    image, caption = split_key(np.setdiff1d(chosen, known))
    return replace(
        without(pool, np.zeros(len(pool), bool)), image=image, caption=caption,
        why=np.full(len(image), DRAWN, np.int8),
    )  # fmt: skip


def rank_of(keys: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the place of each of some sorted keys among `chosen`.

    >>> rank_of(np.array([2, 5, 9]), np.array([5, 7, 9, 2])).tolist()
    [3, 0, 2]
    """
    rank = np.empty(len(keys), np.int64)
    at = find(keys, chosen)
    rank[at[at >= 0]] = np.flatnonzero(at >= 0)
    return rank


def unplanned(pool: Pool, plan: TaskPlan) -> Pool:
    """Return the pairs of a pool that are in no task yet; gold that a task already shows comes last.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> len(unplanned(pool, make_tasks(pool, load_form("pair"))))
    0
    """
    keys = key_of(plan.image, plan.caption)
    new = ~np.isin(key_of(pool.image, pool.caption), keys[plan.gold == NOT_GOLD])
    used = np.isin(key_of(pool.gold_image, pool.gold_caption), keys)
    order = np.argsort(used, kind="stable")
    stock = {name: getattr(pool, name)[order] for name in ("gold_image", "gold_caption", "gold_right")}
    return replace(without(pool, new), **stock)


def deal(
    pool: Pool, tasks: int, gold: int, rng: np.random.Generator, rank: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the task of each pooled pair, and the gold pairs of all tasks, as rows of the stock.

    Pairs are dealt at random, or in the order of `rank`.
    """
    twin = find(key_of(pool.image, pool.caption), key_of(pool.gold_image, pool.gold_caption))
    sizes = np.diff(np.arange(tasks + 1) * len(pool) // tasks)
    dealer = Dealer(sizes.tolist(), twin.tolist())
    stocks = {right: Stock(np.flatnonzero(pool.gold_right == right)) for right in (GOLD_YES, GOLD_NO)}
    chosen: list[int] = []
    # Without gold positives all gold is negative: a form that shows the caption's own image may have none.
    only_negative = not len(stocks[GOLD_YES])
    for number in track(range(tasks), "making tasks"):
        # If the number is odd, every second task has one positive more.
        yes = 0 if only_negative else (gold + number % 2) // 2
        for right, wanted in ((GOLD_YES, yes), (GOLD_NO, gold - yes)):
            hidden = dealer.choose(number, stocks[right], wanted)
            if len(hidden) < wanted:
                raise too_little_gold(right, wanted, len(stocks[right]))
            chosen += hidden
    task = np.full(len(pool), -1)
    task[list(dealer.pinned)] = list(dealer.pinned.values())
    free, rooms = np.flatnonzero(task < 0), np.repeat(np.arange(tasks), dealer.room)
    if rank is None:
        task[free] = rng.permutation(rooms)
    else:
        task[free[np.argsort(rank[free])]] = rooms
    return task, np.array(chosen, np.int64)


def too_little_gold(right: int, wanted: int, available: int) -> InputError:
    """Return the error for a stock that has too few gold pairs for a task."""
    kind = "positive" if right == GOLD_YES else "negative"
    fix = "reduce the gold per task"
    if right == GOLD_NO:
        fix += ", or pool again with a lower --gold-depth"
    what = f"a task needs {plural(wanted, f'gold {kind}')}, but the pool has {available}"
    if available >= wanted:
        what += ", most of them among the pairs that the task itself asks about"
    return InputError(what, fix=fix)


class Stock:
    """Entries that are taken in turn: each comes again only when all others have been taken.

    >>> stock = Stock([1, 2, 3])
    >>> stock.take(lambda entry: entry != 1), stock.take(), stock.take(), stock.take()
    (2, 1, 3, 2)
    """

    def __init__(self, entries: Iterable[int]) -> None:
        self.left = deque(int(entry) for entry in entries)

    def __len__(self) -> int:
        return len(self.left)

    def take(self, fits: Callable[[int], bool] = lambda entry: True) -> int | None:
        """Return the next entry that fits, None if there is none; those skipped keep their turn."""
        skipped = []
        taken = None
        while self.left and taken is None:
            entry = self.left.popleft()
            if fits(entry):
                taken = entry
            else:
                skipped.append(entry)
        self.left.extendleft(reversed(skipped))
        if taken is not None:
            self.left.append(taken)
        return taken


def partner(task: int, tasks: int) -> int:
    """Return the task that asks about the gold that is hidden in this one.

    >>> [partner(task, 5) for task in range(5)], partner(0, 1)
    ([1, 0, 3, 4, 2], 0)
    """
    if tasks % 2 and task >= tasks - 3:
        return task + 1 if task + 1 < tasks else max(0, tasks - 3)
    return task ^ 1


class Dealer:
    """Chooses the gold of each task, and so fixes which task asks about the twins of gold.

    Gold entries are pairs, or whole images of a grid; so are the entries to judge.

    Parameters
    ----------
    room
        How many entries to judge each task has.
    twin
        For each gold entry, the entry to judge that is the same or contains the same pair; NO_TWIN if
        there is none.

    Attributes
    ----------
    pinned
        The tasks of those entries to judge that are already decided.
    room
        How many more entries to judge each task can take.
    """

    def __init__(self, room: Sequence[int], twin: Sequence[int]) -> None:
        self.room, self.twin = list(room), list(twin)
        self.pinned: dict[int, int] = {}

    def choose(self, task: int, stock: Stock, number: int) -> list[int]:
        """Return different gold entries for a task; fewer if no more fit."""
        chosen: list[int] = []
        other = partner(task, len(self.room))

        def fits(entry: int) -> bool:
            twin = self.twin[entry]
            if entry in chosen:
                return False
            if twin in self.pinned:
                return self.pinned[twin] != task
            return twin == NO_TWIN or (other != task and self.room[other] > 0)

        while len(chosen) < number:
            entry = stock.take(fits)
            if entry is None:
                break
            chosen.append(entry)
            twin = self.twin[entry]
            if twin != NO_TWIN and twin not in self.pinned:
                self.pinned[twin] = other
                self.room[other] -= 1
        return chosen


def make_grid_tasks(
    pool: Pool,
    columns: int,
    pairs: int,
    gold: int,
    overlap: int,
    rng: np.random.Generator,
    rank: np.ndarray | None = None,
) -> TaskPlan:
    """Return a plan whose tasks contain whole images, each beside `columns` captions; some images are gold.

    Hodosh et al. (2013, §4.3.2): six images with ten captions each, one of the six gold. A task shows an
    image only once wherever possible: not when an image has more grids than there are tasks. With `rank`,
    images come in the order of their first pair.
    """
    for name, value in (("pairs", pairs), ("gold", gold)):
        if value % columns:
            raise InputError(
                f"{name} is {value}, but a grid has {columns} captions",
                fix=f"give a multiple of {columns}: whole images",
            )
    gold_rows = gold_grids(pool, columns)
    grids, twin = cut_into_grids(pool, columns, gold_rows, rng, rank)
    gold_rows = cut_alike(gold_rows, [len(rows) for rows in grids], columns, rng)
    tasks = -(-len(grids) // (pairs // columns))
    sizes = np.diff(np.arange(tasks + 1) * len(grids) // tasks)
    dealer, stock = Dealer(sizes.tolist(), twin), Stock(range(len(gold_rows)))
    hidden = [dealer.choose(number, stock, gold // columns) for number in range(tasks)]
    if min(map(len, hidden)) < gold // columns:
        raise InputError(
            f"a task needs {plural(gold // columns, 'gold image')}, but the pool has {len(gold_rows)}",
            fix="pool again with --form grid, more gold or a lower --gold-depth",
        )
    shown = [{int(pool.gold_image[gold_rows[number][0]]) for number in chosen} for chosen in hidden]
    members = place_grids(pool, grids, dealer, shown, in_order=rank is not None)
    parts = []
    for number, (to_judge, chosen) in enumerate(zip(members, hidden)):
        parts += lay_out(pool, number, [grids[k] for k in to_judge], [gold_rows[k] for k in chosen], rng)
    task, group, image, caption, right = (np.concatenate(column) for column in zip(*parts))
    position = np.arange(len(task)) - np.searchsorted(task, task)
    return TaskPlan(task, position, group, image, caption, right, overlap)


def gold_grids(pool: Pool, columns: int) -> list[Rows]:
    """Return rows of the stock that make gold images, in its order: own captions among gold negatives."""
    grids = []
    order = np.argsort(pool.gold_image, kind="stable")
    by_image = np.split(order, np.flatnonzero(np.diff(pool.gold_image[order])) + 1)
    for rows in sorted(by_image, key=lambda rows: rows.min(initial=0)):
        yes, no = (rows[pool.gold_right[rows] == right] for right in (GOLD_YES, GOLD_NO))
        yes = yes[: max(1, columns - len(no))]
        if 0 < len(yes) < columns <= len(yes) + len(no):
            grids.append(np.concatenate([yes, no[: columns - len(yes)]]))
    return grids


def cut_alike(gold_rows: list[Rows], sizes: list[int], columns: int, rng: np.random.Generator) -> list[Rows]:
    """Return gold images with as few captions as the images to judge, where these have less than `columns`.

    If all images to judge are short of captions, a full grid would be gold.
    """
    if min(sizes) == columns:
        return gold_rows
    # The own captions come first: one of them stays, and at least one other if there is room.
    return [
        rows[:1] if size == 1 else np.r_[rows[:1], rows[1 - size :]]
        for rows, size in zip(gold_rows, rng.choice(sizes, len(gold_rows)).tolist())
    ]


def cut_into_grids(
    pool: Pool,
    columns: int,
    gold_rows: list[Rows],
    rng: np.random.Generator,
    rank: np.ndarray | None = None,
) -> tuple[list[Rows], list[int]]:
    """Return rows of the pool in grids of one image each, and the twin of each gold image among them.

    Images and their captions come in random order, except that captions which a gold image shows too are in
    one grid: only that one is then linked to another task. With `rank`, images come in the order of their
    first pair.
    """
    gold = np.concatenate([np.zeros(0, np.int64), *gold_rows]).astype(np.int64)
    keys = key_of(pool.image, pool.caption)
    also_gold = np.isin(keys, key_of(pool.gold_image[gold], pool.gold_caption[gold]))
    turn = rng.permutation(int(pool.image.max()) + 1)
    if rank is not None:
        turn[:] = len(rank)
        np.minimum.at(turn, pool.image, rank)
    order = np.lexsort((rng.random(len(pool)), ~also_gold, turn[pool.image]))
    image = pool.image[order]
    first = np.flatnonzero(np.r_[True, np.diff(image) != 0])
    within = np.arange(len(image)) - np.repeat(first, np.diff(np.r_[first, len(image)]))
    begins = np.flatnonzero(within % columns == 0)
    grid_of = np.empty(len(pool), np.int64)
    grid_of[order] = np.searchsorted(begins, np.arange(len(pool)), side="right") - 1
    twin = []
    for rows in gold_rows:
        at = find(keys, key_of(pool.gold_image[rows], pool.gold_caption[rows]))
        twin.append(int(grid_of[at[at >= 0][0]]) if (at >= 0).any() else NO_TWIN)
    return np.split(order, begins[1:]), twin


def place_grids(
    pool: Pool, grids: list[Rows], dealer: Dealer, shown: list[set[int]], in_order: bool = False
) -> list[list[int]]:
    """Return the grids of each task: pinned ones first, the others in turn where their image is not shown.

    `in_order` fills the first task before the next one, so that the first grids are in the first tasks.
    """
    members: list[list[int]] = [[] for _ in shown]
    images = [int(pool.image[rows[0]]) for rows in grids]
    for grid, task in dealer.pinned.items():
        members[task].append(grid)
        shown[task].add(images[grid])
    turn = deque(task for task, room in enumerate(dealer.room) if room)
    for grid in (grid for grid in range(len(grids)) if grid not in dealer.pinned):
        at = next((at for at, task in enumerate(turn) if images[grid] not in shown[task]), 0)
        turn.rotate(-at)
        task = turn.popleft()
        members[task].append(grid)
        shown[task].add(images[grid])
        dealer.room[task] -= 1
        if dealer.room[task]:
            turn.insert(0 if in_order else len(turn), task)
        if in_order:
            turn.rotate(at)
    return members


def lay_out(
    pool: Pool, task: int, to_judge: list[Rows], gold_rows: list[Rows], rng: np.random.Generator
) -> list[tuple[np.ndarray, ...]]:
    """Return the items of one task, grid by grid in random order: task, group, image, caption, gold."""
    grids = [(pool.image[rows], pool.caption[rows], np.full(len(rows), NOT_GOLD)) for rows in to_judge]
    grids += [(pool.gold_image[rows], pool.gold_caption[rows], pool.gold_right[rows]) for rows in gold_rows]
    items: list[tuple[np.ndarray, ...]] = []
    for group, number in enumerate(rng.permutation(len(grids))):
        image, caption, right = grids[number]
        order = rng.permutation(len(image))
        same = np.full(len(image), task), np.full(len(image), group)
        items.append((*same, image[order], caption[order], right[order]))
    return items
