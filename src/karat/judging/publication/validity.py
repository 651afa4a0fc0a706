"""Invalid images and captions: how they are found in the answers, marked from a file, and removed.

ECCV Caption removed 18 captions that describe nothing ("I am unable to see an image above"), 14 that
annotators found wrong, and one image (appendix C.1). Nothing is removed here without a decision.

An item that is marked invalid is not a query and is not ranked, and its pairs do not count. ECCV Caption's
package instead keeps its 32 invalid captions in the gallery: they are not queries, nine original pairs with
them are removed, five positives with them remain, and a model that ranks "I am unable to see an image
above" first has missed. Here the gallery of the benchmark stays the same, so that runs made for it fit, and
one fold restricts what is ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from karat._util import parsing, unguard_table
from karat.benchmarks import Benchmark, Direction, Fold, Truth, in_order, same_side
from karat.errors import InputError
from karat.forms import AnswerTable, Form, distinct, find, key_of, keys_of_truth, lookup, split_key
from karat.judging.publication.evidence import Evidence, Marked

SIDES = ("image", "caption")
"""What marks call the sides of any benchmark; a collection searched with its own items is "image"."""
FOLD = "valid"
T = TypeVar("T")
LEAST_PAIRS = 3
"""How many pairs of an item must be judged before "none is relevant" is evidence against it."""
FIX = "write a csv file with the columns kind, id, status and why"
REMOVE, KEEP, UNDECIDED = ("remove", "removed"), ("keep", "valid"), ("candidate", "")
REASON = "by a list"
Mark = tuple[str, int, bool, str]
"""The kind, the index, whether the item is invalid, and the reason."""


def valid_items(benchmark: Benchmark, marked: Marked) -> dict[str, np.ndarray]:
    """Return, for every item of each side, whether it is valid; those outside the gallery included."""
    valid = {kind: np.ones(len(ids), bool) for kind, ids in zip(SIDES, benchmark.ids)}
    if benchmark.one_collection:
        valid = dict.fromkeys(SIDES, valid[SIDES[0]])
    for kind, items in marked.items():
        if kind not in valid:
            raise InputError(
                f"{kind!r} is marked invalid", fix=f"only {both_sides(benchmark)} can be marked invalid"
            )
        word = benchmark.sides[SIDES.index(kind)].one
        index = np.array(list(items), np.int64)
        if ((index < 0) | (index >= len(valid[kind]))).any():
            raise InputError(
                f"{word} {index.max()} is marked invalid, but the benchmark has only {len(valid[kind]):,}",
                fix="mark it valid",
            )
        valid[kind][index] = False
    return valid


def valid_queries(evidence: Evidence, valid: Mapping[str, np.ndarray]) -> dict[Direction, np.ndarray]:
    """Return the valid queries that were pooled; if the pool does not list queries, those of its pairs."""
    pool, benchmark = evidence.pool, evidence.benchmark
    pooled = {d: np.asarray(pool.queries.get(d, np.zeros(0)), np.int64) for d in benchmark.directions}
    if not any(map(len, pooled.values())):
        source = pool if len(pool) else evidence.counted.asked
        pooled = {d: np.concatenate(asking(d, source.image, source.caption)) for d in benchmark.directions}
    out: dict[Direction, np.ndarray] = {}
    for direction, queries in pooled.items():
        known = distinct(np.asarray(queries, np.int64))
        known = known[known < benchmark.queries(direction).size]
        out[direction] = known[valid[in_order(direction, *SIDES)[0]][known]]
    if not any(map(len, out.values())):
        either = both_sides(benchmark, " or ")
        raise InputError("no valid query is left", fix=f"mark some {either} valid again")
    return out


def asking(direction: Direction, first: T, second: T) -> tuple[T, ...]:
    """Return the side of pairs that asks; both where each of two items of one collection asks for the other.

    >>> asking("t2i", "images", "captions"), asking("i2i", "images", "others")
    (('captions',), ('images', 'others'))
    """
    return (first, second) if same_side(direction) else in_order(direction, first, second)[:1]


def both_sides(benchmark: Benchmark, between: str = " and ") -> str:
    """Return what the items of a benchmark are: "images and captions"."""
    return between.join(dict.fromkeys(side.many for side in benchmark.sides))


def valid_pairs(key: np.ndarray, valid: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return whether both sides of each pair are valid."""
    image, caption = split_key(key)
    return valid["image"][image] & valid["caption"][caption]


def pairs_of_queries(
    key: np.ndarray, queries: Mapping[Direction, np.ndarray], valid: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return whether each pair has one of the queries on either side: other pairs are never scored."""
    out = np.zeros(len(key), bool)
    for direction, asked in queries.items():
        is_query = np.zeros(len(valid[in_order(direction, *SIDES)[0]]), bool)
        is_query[asked] = True
        for side in asking(direction, *split_key(key)):
            out |= is_query[side]
    return out


def valid_fold(benchmark: Benchmark, valid: Mapping[str, np.ndarray]) -> tuple[Fold, ...]:
    """Return one fold of all valid items; none where all items are valid."""
    if all(rows.all() for rows in valid.values()):
        return ()
    kept = (np.flatnonzero(valid[kind][: ids.size]) for kind, ids in zip(SIDES, benchmark.ids))
    return (Fold(FOLD, *kept),)


@dataclass(frozen=True)
class Candidate:
    """An item that may be invalid.

    Parameters
    ----------
    kind, index
        One of `SIDES`, and its index.
    own, own_worst
        How many answers its original pairs got, and how many of these were the lowest.
    sets_no
        How many of its original pairs another judged set says no to.
    pairs, pairs_yes
        How many of its pairs were judged, and how many of these are relevant.
    """

    kind: str
    index: int
    own: int
    own_worst: int
    sets_no: int
    pairs: int
    pairs_yes: int

    @property
    def why(self) -> str:
        """The evidence against it, in words."""
        reasons = []
        if self.own_worst:
            reasons.append(f"{self.own_worst} of {self.own} answers to its original pairs are the lowest")
        if self.sets_no:
            reasons.append(f"another judged set says no to {self.sets_no} of its original pairs")
        if self.pairs >= LEAST_PAIRS and not self.pairs_yes:
            reasons.append(f"none of its {self.pairs} judged pairs is relevant")
        return "; ".join(reasons)


def invalid_candidates(
    original: Truth,
    answers: AnswerTable,
    form: Form,
    sets: Sequence[Truth] = (),
    share: float = 0.5,
) -> list[Candidate]:
    """Return items of either side that may be invalid, the most suspicious first.

    A caption is listed when at least `share` of the answers to its original pairs, hidden gold included,
    are the lowest that the form has ("100% no"); when another judged set says no to all of its original
    pairs that the set judges; or when it has original pairs, three or more of its pairs were judged and none
    is relevant. The same rules apply to an image, with all of its original pairs together.

    Parameters
    ----------
    original
        The truth with the original pairs.
    answers, form
        The answers, and the form with their scale.
    sets
        Other judged sets.
    share
        Which share of the answers must be the lowest.

    Examples
    --------
    >>> from karat.benchmarks import Judgments, Provenance
    >>> from karat.forms import load_form, make_answers
    >>> own = Judgments([0, 1], [0, 1], sources=[Provenance("original")])
    >>> original = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    >>> three = make_answers([0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 4], ("ann", "bob"))
    >>> for candidate in invalid_candidates(original, three, load_form("pair")):
    ...     print(candidate.kind, candidate.index, candidate.why)
    caption 0 2 of 2 answers to its original pairs are the lowest
    image 0 2 of 2 answers to its original pairs are the lowest
    """
    own_key, _ = keys_of_truth(original, positives=True)
    answered = key_of(answers.image, answers.caption)
    worst = answers.rating == form.ratings[0]
    about_own = find(own_key, answered) >= 0
    judged, pair = np.unique(answered, return_inverse=True)
    yes = np.bincount(pair, form.grades(answers.rating) > 0, len(judged)) * 2 >= np.bincount(pair)
    sets_no, sets_judged = np.zeros(len(own_key)), np.zeros(len(own_key))
    for truth in sets:
        grade = lookup(*keys_of_truth(truth), own_key, 0.0 if truth.complete else np.nan)
        sets_no += grade == 0
        sets_judged += ~np.isnan(grade)
    columns = {
        "own": (answered[about_own], None),
        "own_worst": (answered[about_own & worst], None),
        "sets_no": (own_key, sets_no),
        "pairs": (judged, None),
        "pairs_yes": (judged, yes),
        "sets": (own_key, sets_judged),
        "listed": (own_key, None),
    }
    out = []
    one_collection = any(map(same_side, original.directions))
    for kind, sides in (("image", (0, 1)),) if one_collection else (("caption", (1,)), ("image", (0,))):
        items = {
            name: np.concatenate([split_key(keys)[side] for side in sides])
            for name, (keys, _) in columns.items()
        }
        size = 1 + max(int(some.max(initial=-1)) for some in items.values())
        table = {
            name: np.bincount(items[name], None if weights is None else np.tile(weights, len(sides)), size)
            for name, (_, weights) in columns.items()
        }
        judged_by_sets, listed = table.pop("sets"), table.pop("listed") > 0
        bad = (table["own_worst"] > 0) & (table["own_worst"] >= share * table["own"])
        bad |= (table["sets_no"] > 0) & (table["sets_no"] == judged_by_sets)
        # A document without an original positive need not be relevant to anything.
        bad |= listed & (table["pairs"] >= LEAST_PAIRS) & (table["pairs_yes"] == 0)
        rows = np.flatnonzero(bad)
        counts = [column[rows].astype(np.int64).tolist() for column in table.values()]
        out += [Candidate(kind, index, *values) for index, *values in zip(rows.tolist(), *counts)]
    return sorted(out, key=suspicion)


def suspicion(candidate: Candidate) -> tuple[Any, ...]:
    """Return what candidates are sorted by: the most suspicious first."""
    worst = candidate.own_worst + candidate.sets_no
    return -worst, candidate.pairs_yes, -candidate.pairs, candidate.kind, candidate.index


def read_marks(path: str | Path, benchmark: Benchmark) -> list[Mark]:
    """Return the decisions of a file, one per row.

    Parameters
    ----------
    path
        A csv file with the columns kind ("caption" or "image", or what else the benchmark calls its items),
        id and status, and optionally why. Status "remove" marks the item invalid, "keep" marks it valid
        again; "candidate" or nothing changes nothing.
    benchmark
        The benchmark of the ids.
    """
    import polars as pl

    path = Path(path)
    if not path.is_file():
        raise InputError("there is no such file", where=path, fix=FIX)
    with parsing(path, "is not a csv file", FIX):
        table = unguard_table(pl.read_csv(path, infer_schema=False).fill_null(""))
    for name in ("kind", "id", "status"):
        if name not in table.columns:
            raise InputError(f"has no column {name!r}", where=path, fix=FIX)
    reasons = table["why"].to_list() if "why" in table.columns else [""] * len(table)
    kinds: dict[str, int] = {}
    for number, each in enumerate(benchmark.sides):
        kinds.setdefault(each.one, number)
    marks: dict[tuple[str, int], Mark] = {}
    rows = zip(table["kind"].to_list(), table["id"].to_list(), table["status"].to_list(), reasons)
    for number, (kind, name, status, why) in enumerate(rows, start=2):
        where = f"{path}, row {number}"
        side = kinds.get(kind)
        if side is None:
            raise InputError(f"the kind is {kind!r}", where=where, fix=f"write {' or '.join(kinds)}")
        index = int(benchmark.ids[side].index([name], where)[0])
        if status in UNDECIDED:
            continue
        if status not in REMOVE + KEEP:
            raise InputError(f"the status is {status!r}", where=where, fix="write remove, keep or candidate")
        if (kind, index) in marks:
            raise InputError(f"the {kind} {name!r} is a duplicate", where=where, fix="keep one of its rows")
        marks[kind, index] = (SIDES[side], index, status in REMOVE, why)
    return list(marks.values())


def mark(project: Any, path: str | Path, by: str) -> int:
    """Apply the decisions of a file and return how many marks changed; a wrong file changes nothing."""
    marked = project.reviews.invalid()
    changed = 0
    for kind, index, invalid, why in read_marks(path, project.benchmark()):
        if invalid == (index in marked.get(kind, {})):
            continue
        change = project.reviews.mark_invalid if invalid else project.reviews.mark_valid
        change(kind, index, why or REASON, by)
        changed += 1
    return changed
