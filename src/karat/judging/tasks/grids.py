"""Tasks of grids: several images, each beside so many captions; some are control images.

Hodosh et al. (2013, §4.3.2): six images with ten captions each, one of the six a control image.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.judging.pools import Pool, find, key_of
from karat.judging.tasks.dealing import NO_TWIN, Dealer, Stock
from karat.judging.tasks.plan import KNOWN_NO, KNOWN_YES, UNKNOWN, TaskPlan

Rows = np.ndarray


def make_grid_tasks(
    pool: Pool, columns: int, pairs: int, gold: int, overlap: int, rng: np.random.Generator
) -> TaskPlan:
    """Return a plan whose tasks hold whole images; see `karat.judging.make_tasks`.

    A task shows an image once wherever that is possible: not when one image has more grids than there are
    tasks.
    """
    for value, what in ((pairs, "pairs"), (gold, "gold")):
        if value % columns:
            raise InputError(
                f"{what} is {value}, and a grid has {columns} captions",
                fix=f"give a multiple of {columns}: whole images",
            )
    controls = control_grids(pool, columns, rng)
    grids, twin = cut_into_grids(pool, columns, controls, rng)
    tasks = -(-len(grids) // (pairs // columns))
    sizes = np.diff(np.arange(tasks + 1) * len(grids) // tasks)
    dealer, stock = Dealer(sizes.tolist(), twin), Stock(range(len(controls)))
    hidden = [dealer.choose(number, stock, gold // columns) for number in range(tasks)]
    if min(map(len, hidden)) < gold // columns:
        raise InputError(
            f"a task needs {plural(gold // columns, 'control image')}, and the pool has {len(controls)}",
            fix="pool again with --form grid, more gold or a lower --gold-depth",
        )
    shown = [{int(pool.gold_image[controls[one][0]]) for one in chosen} for chosen in hidden]
    members = place_grids(pool, grids, dealer, shown)
    parts = []
    for number, (asked, chosen) in enumerate(zip(members, hidden)):
        parts += lay_out(pool, number, [grids[k] for k in asked], [controls[k] for k in chosen], rng)
    task, group, image, caption, known = (np.concatenate(column) for column in zip(*parts))
    position = np.arange(len(task)) - np.searchsorted(task, task)
    return TaskPlan(task, position, group, image, caption, known, overlap)


def control_grids(pool: Pool, columns: int, rng: np.random.Generator) -> list[Rows]:
    """Return rows of the stock that make control images: own captions among known negatives of an image."""
    found = []
    order = np.argsort(pool.gold_image, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(pool.gold_image[order])) + 1):
        yes, no = (rows[pool.gold_right[rows] == right] for right in (KNOWN_YES, KNOWN_NO))
        yes = yes[: max(1, columns - len(no))]
        if 0 < len(yes) < columns <= len(yes) + len(no):
            found.append(np.concatenate([yes, no[: columns - len(yes)]]))
    return [found[one] for one in rng.permutation(len(found))]


def cut_into_grids(
    pool: Pool, columns: int, controls: list[Rows], rng: np.random.Generator
) -> tuple[list[Rows], list[int]]:
    """Return rows of the pool in grids of one image each, and for each control image the grid it is twin of.

    Images and their captions come in random order, except that captions which a control image shows too
    stand in one grid: only that one is then tied to another task.
    """
    gold = np.concatenate([np.zeros(0, np.int64), *controls]).astype(np.int64)
    keys = key_of(pool.image, pool.caption)
    also_gold = np.isin(keys, key_of(pool.gold_image[gold], pool.gold_caption[gold]))
    turn = rng.permutation(int(pool.image.max()) + 1)
    order = np.lexsort((rng.random(len(pool)), ~also_gold, turn[pool.image]))
    image = pool.image[order]
    first = np.flatnonzero(np.r_[True, np.diff(image) != 0])
    within = np.arange(len(image)) - np.repeat(first, np.diff(np.r_[first, len(image)]))
    begins = np.flatnonzero(within % columns == 0)
    grid_of = np.empty(len(pool), np.int64)
    grid_of[order] = np.searchsorted(begins, np.arange(len(pool)), side="right") - 1
    twin = []
    for rows in controls:
        at = find(keys, key_of(pool.gold_image[rows], pool.gold_caption[rows]))
        twin.append(int(grid_of[at[at >= 0][0]]) if (at >= 0).any() else NO_TWIN)
    return np.split(order, begins[1:]), twin


def place_grids(pool: Pool, grids: list[Rows], dealer: Dealer, shown: list[set[int]]) -> list[list[int]]:
    """Return the grids of each task: pinned ones first, the others in turn where their image is not yet."""
    members: list[list[int]] = [[] for _ in shown]
    images = [int(pool.image[rows[0]]) for rows in grids]
    for grid, task in dealer.pinned.items():
        members[task].append(grid)
        shown[task].add(images[grid])
    turn = deque(task for task, room in enumerate(dealer.room) if room)
    for grid in (one for one in range(len(grids)) if one not in dealer.pinned):
        for _ in range(len(turn)):
            if images[grid] not in shown[turn[0]]:
                break
            turn.rotate(-1)
        task = turn.popleft()
        members[task].append(grid)
        shown[task].add(images[grid])
        dealer.room[task] -= 1
        if dealer.room[task]:
            turn.append(task)
    return members


def lay_out(
    pool: Pool, task: int, asked: list[Rows], controls: list[Rows], rng: np.random.Generator
) -> list[tuple[np.ndarray, ...]]:
    """Return the items of one task, grid by grid in random order: task, group, image, caption, gold."""
    grids = [(pool.image[rows], pool.caption[rows], np.full(len(rows), UNKNOWN)) for rows in asked]
    grids += [(pool.gold_image[rows], pool.gold_caption[rows], pool.gold_right[rows]) for rows in controls]
    items: list[tuple[np.ndarray, ...]] = []
    for group, number in enumerate(rng.permutation(len(grids))):
        image, caption, known = grids[number]
        order = rng.permutation(len(image))
        same = np.full(len(image), task), np.full(len(image), group)
        items.append((*same, image[order], caption[order], known[order]))
    return items
