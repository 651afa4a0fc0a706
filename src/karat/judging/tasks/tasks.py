"""Tasks: pooled pairs in packs that somebody finishes at once, with known pairs hidden among them."""

from __future__ import annotations

import numpy as np

from karat._util import plural, renamed_keywords
from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools import Pool, find, key_of
from karat.judging.tasks.dealing import Dealer, Stock
from karat.judging.tasks.grids import make_grid_tasks
from karat.judging.tasks.plan import KNOWN_NO, KNOWN_YES, UNKNOWN, TaskPlan


@renamed_keywords(pairs="task_size")
def make_tasks(
    pool: Pool,
    form: Form,
    *,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    seed: int = 0,
) -> TaskPlan:
    """Return a plan in which every pooled pair is in exactly one task, among hidden known pairs.

    Tasks are of equal size, up to one pair: seventeen pairs at sixteen a task make nine and eight. Known
    pairs stand at random places, half of them right and half wrong; none comes twice while the stock lasts,
    and none is in the task that asks about it. A grid's tasks hold whole images: see `grids`.

    Twice as many people as `overlap` can do all tasks without meeting a pair twice, as long as no known pair
    had to be used again; `karat.judging.tasks.dealing` says how.

    Parameters
    ----------
    pool
        With its stock of known pairs.
    form
        Its layout, and the sizes when none are given.
    task_size, gold
        How many pairs to judge a task has at most, and how many known ones. ECCV Caption: 16 and 2.
    overlap
        How many people answer each task, without seeing each other's answers.
    seed
        Decides which pairs are together, and where.

    Examples
    --------
    >>> from karat.judging import load_form, make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> make_tasks(pool, load_form("pair"))
    TaskPlan(44 tasks of 783 pairs, 88 of them gold, for 3 people each)
    """
    pairs = form.pairs if task_size is None else task_size
    gold = form.gold if gold is None else gold
    if pairs < 1 or gold < 0 or overlap < 1:
        raise InputError(
            f"a task of {plural(pairs, 'pair')} and {gold} gold ones, for {overlap} people",
            fix="give at least 1 pair, 0 gold ones and 1 person",
        )
    if not len(pool):
        raise InputError("the pool is empty", fix="pool deeper, filter less, or leave out fewer judged pairs")
    rng = np.random.default_rng([seed, 4])
    if form.layout == "grid":
        return make_grid_tasks(pool, form.columns, pairs, gold, overlap, rng)
    tasks = -(-len(pool) // pairs)
    task, chosen = deal(pool, tasks, gold, rng)
    task = np.concatenate([task, np.repeat(np.arange(tasks), gold)])
    image = np.concatenate([pool.image, pool.gold_image[chosen]])
    caption = np.concatenate([pool.caption, pool.gold_caption[chosen]])
    known = np.concatenate([np.full(len(pool), UNKNOWN), pool.gold_right[chosen]])
    order = np.lexsort((rng.random(len(task)), task))
    task = task[order]
    position = np.arange(len(task)) - np.searchsorted(task, task)
    return TaskPlan(task, position, position, image[order], caption[order], known[order], overlap)


def deal(pool: Pool, tasks: int, gold: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the task of each pooled pair, and the known pairs of all tasks, as rows of the stock."""
    twin = find(key_of(pool.image, pool.caption), key_of(pool.gold_image, pool.gold_caption))
    sizes = np.diff(np.arange(tasks + 1) * len(pool) // tasks)
    dealer = Dealer(sizes.tolist(), twin.tolist())
    stocks = {right: Stock(np.flatnonzero(pool.gold_right == right)) for right in (KNOWN_YES, KNOWN_NO)}
    chosen: list[int] = []
    for number in range(tasks):
        # An odd one is a yes in every second task.
        yes = (gold + number % 2) // 2
        for right, wanted in ((KNOWN_YES, yes), (KNOWN_NO, gold - yes)):
            got = dealer.choose(number, stocks[right], wanted)
            if len(got) < wanted:
                raise too_few(right, wanted, len(stocks[right]))
            chosen += got
    task = np.full(len(pool), -1)
    task[list(dealer.pinned)] = list(dealer.pinned.values())
    task[task < 0] = rng.permutation(np.repeat(np.arange(tasks), dealer.room))
    return task, np.array(chosen, np.int64)


def too_few(right: int, wanted: int, there: int) -> InputError:
    """Return the error for a stock that cannot serve a task."""
    kind = "positive" if right == KNOWN_YES else "negative"
    fix = "ask for less gold in a task"
    if right == KNOWN_NO:
        fix += ", or pool again with a lower --gold-depth"
    said = f"a task needs {plural(wanted, f'known {kind}')}, and the pool has {there}"
    if there >= wanted:
        said += ", most of them among the pairs that it asks about"
    return InputError(said, fix=fix)
