"""A pool in words: what was pooled, what was left out, and whether there is enough gold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from karat._util import plural
from karat.judging.forms import Form
from karat.judging.pools.cost import Cost, estimate_cost
from karat.judging.pools.pool import FILLED, Pool
from karat.judging.tasks import KNOWN_NO, KNOWN_YES


def pool_sentences(pool: Pool) -> list[str]:
    """Return what was pooled, in words.

    >>> from karat.judging import make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool_sentences(make_pool(simulate_systems(world), world.benchmark(), top=2))
    ['The first 2 of 6 systems for 60 i2t and 120 t2i queries: 2,160 suggestions, 695 pairs.']
    """
    asked = " and ".join(f"{len(listed):,} {side}" for side, listed in pool.queries.items())
    filled = int((pool.why == FILLED).sum())
    # Suggestions of pairs that were left out are not kept, and so not counted.
    whole = not (pool.judged or pool.filtered or filled)
    said = [
        f"The first {pool.top} of {plural(len(pool.systems), 'system')} for {asked} queries: "
        f"{f'{pool.suggestions:,} suggestions, ' if whole else ''}{plural(len(pool) - filled, 'pair')}."
    ]
    if pool.judged:
        said.append(f"Left out as judged already: {plural(pool.judged, 'pair')}.")
    if pool.filtered or filled:
        audit = f" {plural(filled, 'further pair')} fill up the images' captions." if filled else ""
        said.append(f"Filtered out: {plural(pool.filtered, 'pair')}.{audit}")
    return said


def pool_cost(pool: Pool, form: Form, **options: Any) -> Cost:
    """Return what a pool is and what it costs to have it judged; `karat pool` prints it.

    Parameters
    ----------
    pool, form
        What is judged, and how it is asked.
    **options
        What `estimate_cost` takes by name.

    Examples
    --------
    >>> from karat.judging import load_form, make_pool
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> print(pool_cost(make_pool(simulate_systems(world), world.benchmark(), top=2), load_form("pair")))
    The first 2 of 6 systems for 60 i2t and 120 t2i queries: 2,160 suggestions, 695 pairs.
    695 pairs to judge in 44 tasks of up to 16, with 88 known pairs hidden among them.
    3 people each: 2,349 answers, about 11.7 hours at 18 seconds an answer.
    Pay 176.17, with a fee of 20% 211.41.
    """
    cost = estimate_cost(len(pool), form, **options)
    return replace(cost, about=tuple(pool_sentences(pool)), notes=tuple(gold_notes(pool, form, cost)))


def gold_notes(pool: Pool, form: Form, cost: Cost) -> list[str]:
    """Return what to know when known pairs are too few."""
    notes = []
    for right, kind in ((KNOWN_YES, "positives"), (KNOWN_NO, "negatives")):
        there = int((pool.gold_right == right).sum())
        if form.layout == "pair" and there < cost.gold // 2:
            notes.append(
                f"{there:,} known {kind} for {plural(cost.tasks, 'task')}: "
                + (
                    "each comes several times, and to a person only once"
                    if there
                    else "there are none to hide"
                )
            )
    images = len(pool.gold_right) // form.columns
    if form.layout == "grid" and images * form.columns < cost.gold:
        notes.append(f"{plural(images, 'control image')} for {plural(cost.tasks, 'task')}")
    return notes
