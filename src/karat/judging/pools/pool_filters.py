"""Filters of a pool: rules that drop suggested pairs before people see them.

A filter saves judgments and may lose relevant pairs. `make_pool` with `fill` keeps some of what it dropped,
so that people's answers say how many.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from karat._util import Registry
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.judging.pools.pool import Pool

Keep = Callable[[Pool, Benchmark], np.ndarray]
"""Takes a pool before any filter, and the benchmark; returns which of its pairs are kept, as booleans."""
SPEC = re.compile(
    r"(?P<name>[\w-]+)\s*(\((?P<of>[^()]+)\))?\s*>=\s*(?P<least>-?(\d+\.?\d*|\.\d+)(e-?\d+)?)", re.IGNORECASE
)


@dataclass(frozen=True)
class FilterKind:
    """A kind of filter, of which each threshold is one.

    Parameters
    ----------
    name, about
        As it is asked for, and a line on what it keeps.
    make
        Takes what stands in parentheses ("" for nothing) and the threshold; returns the filter.
    """

    name: str
    about: str
    make: Callable[[str, float], Keep]


def add_metrics() -> None:
    """Register the likeness of captions by each caption metric."""
    from karat.captions import CAPTION_METRICS

    for name in CAPTION_METRICS:
        about = f"the caption's {name} with those written for the image"
        POOL_FILTERS.add(name, FilterKind(name, about, partial(likeness, name)))


POOL_FILTERS: Registry[FilterKind] = Registry("filter", fill=add_metrics)
"""Filters by name: ``bleu-pre>=0.25`` (Hodosh et al. 2013) and other caption metrics, ``score(clip)>=0.3``,
``systems>=2``; add one with ``POOL_FILTERS.add``."""


def parse_filter(text: str) -> Keep:
    """Return the filter that a text such as ``bleu-pre>=0.25`` names.

    Examples
    --------
    >>> keep = parse_filter("systems>=2")
    >>> places = [np.array(column) for column in ([0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 2, 1])]
    >>> pool = Pool(np.array([4, 5]), np.array([6, 6]), np.zeros(2), ("a", "b"), *places, np.zeros(3))
    >>> keep(pool, None).tolist()
    [True, False]
    """
    found = SPEC.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text!r} is no filter", fix="write bleu-pre>=0.25, score(clip)>=0.3 or systems>=2")
    return POOL_FILTERS[found["name"]].make((found["of"] or "").strip(), float(found["least"]))


def kept_by(filters: list[Keep], pool: Pool, benchmark: Benchmark) -> np.ndarray:
    """Return which pairs every filter keeps."""
    kept = np.ones(len(pool), bool)
    for one in filters:
        found = np.asarray(one(pool, benchmark))
        if found.dtype != bool or found.shape != kept.shape:
            raise InputError(
                f"a filter returned {found.dtype} of shape {found.shape}",
                fix=f"return a boolean for each of the {len(pool):,} pairs",
            )
        kept &= found
    return kept


def likeness(metric: str, of: str, least: float) -> Keep:
    """Keep pairs whose caption is like those written for the image."""
    refuse_argument(metric, of)

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        from karat.captions import caption_filter

        if not len(pool):
            return np.zeros(0, bool)
        plausible = caption_filter(benchmark, least, metric, np.unique(pool.caption))
        return plausible.keeps(pool.image, pool.caption)

    return keep


def score_reaches(of: str, least: float) -> Keep:
    """Keep pairs that a system scored high enough: the named one, or any."""

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        if of and of not in pool.systems:
            raise InputError(f"there is no run {of!r} to filter by", fix=f"name {' or '.join(pool.systems)}")
        rows = pool.place_system == pool.systems.index(of) if of else np.ones(pool.suggestions, bool)
        if rows.any() and np.isnan(pool.place_score[rows]).all():
            raise InputError("ranked lists have no scores to filter by", fix="give a table of scores")
        kept = np.zeros(len(pool), bool)
        kept[pool.place_pair[rows & (pool.place_score >= least)]] = True
        return kept

    return keep


def named_by(of: str, least: float) -> Keep:
    """Keep pairs that several systems suggest."""
    refuse_argument("systems", of)

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        # A system may name a pair in both directions: it counts once.
        both = np.unique(pool.place_pair.astype(np.int64) * len(pool.systems) + pool.place_system)
        return np.bincount(both // len(pool.systems), minlength=len(pool)) >= least

    return keep


def refuse_argument(name: str, of: str) -> None:
    """Raise when something stands in parentheses where nothing belongs."""
    if of:
        raise InputError(f"the filter {name!r} takes nothing in parentheses", fix=f"write {name}>=…")


POOL_FILTERS.add("score", FilterKind("score", "a system's score, or any system's", score_reaches))
POOL_FILTERS.add("systems", FilterKind("systems", "how many systems suggest the pair", named_by))
