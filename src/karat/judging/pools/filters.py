"""Filters of a pool: rules that drop suggested pairs before annotators see them.

A filter saves judgments and may lose relevant pairs. `make_pool` with `fill` keeps some of what it dropped,
so that the answers show how many.
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
from karat.forms import Pool

Keep = Callable[[Pool, Benchmark], np.ndarray]
"""Takes a pool before any filter, and the benchmark; returns which of its pairs are kept, as booleans."""
RULE = re.compile(
    r"(?P<name>[\w-]+)\s*(\((?P<argument>[^()]+)\))?\s*>=\s*(?P<threshold>-?(\d+\.?\d*|\.\d+)(e-?\d+)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FilterKind:
    """A kind of filter; a rule adds the threshold.

    Parameters
    ----------
    name, about
        Its name in rules, and a line on what the threshold is compared with.
    make
        Takes the argument in parentheses ("" for none) and the threshold; returns the filter.
    """

    name: str
    about: str
    make: Callable[[str, float], Keep]


def add_metrics() -> None:
    """Register the similarity of captions by each caption metric."""
    from karat.captions import CAPTION_METRICS

    CAPTION_METRICS.copy_to(POOL_FILTERS, of_metric)


def of_metric(name: str) -> FilterKind:
    """Return the filter by a caption metric."""
    about = f"the caption's {name} with those written for the image"
    return FilterKind(name, about, partial(similar_captions, name))


POOL_FILTERS: Registry[FilterKind] = Registry("filter", fill=add_metrics, group="karat.caption_metrics")
"""Filters by name: ``bleu-pre>=0.25`` (Hodosh et al. 2013) and other caption metrics, ``score(clip)>=0.3``,
``systems>=2``; add one with ``POOL_FILTERS.add``."""


def parse_filter(text: str) -> Keep:
    """Return the filter of a rule such as ``bleu-pre>=0.25``.

    Examples
    --------
    >>> keep = parse_filter("systems>=2")
    >>> places = [np.array(column) for column in ([0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 2, 1])]
    >>> pool = Pool(np.array([4, 5]), np.array([6, 6]), np.zeros(2), ("a", "b"), *places, np.zeros(3))
    >>> keep(pool, None).tolist()
    [True, False]
    """
    rule = RULE.fullmatch(text.strip())
    if rule is None:
        raise InputError(
            f"{text!r} is not a filter",
            fix="write a rule such as bleu-pre>=0.25, score(clip)>=0.3 or systems>=2",
        )
    return POOL_FILTERS[rule["name"]].make((rule["argument"] or "").strip(), float(rule["threshold"]))


def kept_by(filters: list[Keep], pool: Pool, benchmark: Benchmark) -> np.ndarray:
    """Return which pairs every filter keeps."""
    kept = np.ones(len(pool), bool)
    for keep in filters:
        passed = np.asarray(keep(pool, benchmark))
        if passed.dtype != bool or passed.shape != kept.shape:
            raise InputError(
                f"a filter returned {passed.dtype} of shape {passed.shape}",
                fix=f"return a boolean for each of the {len(pool):,} pairs",
            )
        kept &= passed
    return kept


def similar_captions(metric: str, argument: str, threshold: float) -> Keep:
    """Keep pairs whose caption is similar to those written for the image."""
    refuse_argument(metric, argument)

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        from karat.captions import caption_filter

        if not len(pool):
            return np.zeros(0, bool)
        plausible = caption_filter(benchmark, threshold, metric, np.unique(pool.caption))
        return plausible.keeps(pool.image, pool.caption)

    return keep


def high_scores(run: str, threshold: float) -> Keep:
    """Keep pairs with a high enough score in the named run, or in any."""

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        if run and run not in pool.systems:
            raise InputError(f"there is no run {run!r} to filter by", fix=f"use {' or '.join(pool.systems)}")
        rows = pool.place_system == pool.systems.index(run) if run else np.ones(pool.suggestions, bool)
        if rows.any() and np.isnan(pool.place_score[rows]).all():
            raise InputError("ranked lists have no scores to filter by", fix="give a table of scores")
        kept = np.zeros(len(pool), bool)
        kept[pool.place_pair[rows & (pool.place_score >= threshold)]] = True
        return kept

    return keep


def several_runs(argument: str, threshold: float) -> Keep:
    """Keep pairs that several runs suggest."""
    refuse_argument("systems", argument)

    def keep(pool: Pool, benchmark: Benchmark) -> np.ndarray:
        # A run that suggests a pair in both directions counts once.
        both = np.unique(pool.place_pair.astype(np.int64) * len(pool.systems) + pool.place_system)
        return np.bincount(both // len(pool.systems), minlength=len(pool)) >= threshold

    return keep


def refuse_argument(name: str, argument: str) -> None:
    """Raise when a rule has an argument in parentheses that its filter does not take."""
    if argument:
        raise InputError(f"the filter {name!r} takes no argument in parentheses", fix=f"write {name}>=…")


POOL_FILTERS.add("score", FilterKind("score", "the score in one run, or the highest of any", high_scores))
POOL_FILTERS.add("systems", FilterKind("systems", "how many runs suggest the pair", several_runs))
