"""Marks of people on failures: which meanings a found image misreads, how often, and which go together.

The crowd experiment of Lymperaiou et al. (2023), section 4.2: table 2, figures 9 and 10, and the rules of
section 6.3 with real confidences. In karat the answers come from the form "misread":
`karat.judging.answer_marks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, plural
from karat.errors import InputError
from karat.explanations.failure_rules import (
    FEWEST_ROWS,
    RuleReport,
    as_booleans,
    clustered_error,
    ends_in_percent,
    rules,
    score_interval,
)
from karat.explanations.slice_columns import slice_texts
from karat.scores import read_cells
from karat.stats import check_level

NOTHING = "alternative"
"""The mark of an image that misreads nothing: another good answer."""
RATING, PAIR, CLUSTER, CAPTION = "rating", "pair", "cluster", "caption"
"""The columns of a file of marks that are not marks."""
BETWEEN, FROM_SLICES = "Rules between classes", "Rules from slices of the captions"


@dataclass(frozen=True, eq=False)
class Marks:
    """What people marked, one row per answer.

    Parameters
    ----------
    classes
        Per class of meaning, whether it was marked: booleans per answer.
    rating
        Per answer, on the scale; None without ratings.
    pair
        Per answer, which pair it is about; every answer its own pair by default.
    cluster
        Per answer, what its pair belongs to, such as the query's image: pairs of one cluster are not
        independent. Every pair its own by default.
    caption
        Per answer, the text of the query, for slices; None without.
    scale
        The lowest and the highest rating.
    notes
        What a reader should know, such as which answers were left out.
    """

    classes: Mapping[str, Any]
    rating: Any = None
    pair: Any = None
    cluster: Any = None
    caption: Any = None
    scale: tuple[int, int] = (1, 10)
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        columns = {str(name): as_booleans(str(name), column, None) for name, column in self.classes.items()}
        sizes = {len(column) for column in columns.values()}
        if not columns or sizes == {0}:
            raise InputError("there are no marks", fix="give a boolean per answer for every class")
        if len(sizes) != 1:
            raise InputError(
                "the classes have different numbers of answers",
                fix="give a boolean per answer for every class",
            )
        (size,) = sizes
        object.__setattr__(self, "classes", columns)
        pair = (
            np.arange(size) if self.pair is None else np.unique(np.asarray(self.pair), return_inverse=True)[1]
        )
        rating = None if self.rating is None else np.asarray(self.rating, np.float64)
        cluster = pair if self.cluster is None else np.asarray(self.cluster)
        caption = None if self.caption is None else np.asarray(self.caption)
        columns_by_name = (("pair", pair), ("rating", rating), ("cluster", cluster), ("caption", caption))
        for name, array in columns_by_name:
            if array is not None and array.shape != (size,):
                raise InputError(
                    f"{name} has shape {array.shape}", fix=f"give one for each of the {size:,} answers"
                )
        if rating is not None and not np.isfinite(rating).all():
            raise InputError("a rating is missing", fix="leave out answers without a rating")
        for name, array in columns_by_name:
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.pair)

    def by_pair(self, share: float) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
        """Return the classes that at least a share of the answers to a pair mark, and the mean rating."""
        number = np.bincount(self.pair)
        marked = {
            name: np.bincount(self.pair, column, len(number)) >= share * number - 1e-9
            for name, column in self.classes.items()
        }
        rating = None if self.rating is None else np.bincount(self.pair, self.rating) / number
        return marked, rating

    @property
    def first(self) -> np.ndarray:
        """Per pair, the row of its first answer."""
        return np.unique(self.pair, return_index=True)[1]


@dataclass(frozen=True, eq=False)
class MarkSummary(Result):
    """How often each class is misread, how many at once, how pairs are rated, and which classes go together.

    Parameters
    ----------
    shares
        Per class, how many pairs, the share of all pairs, and its interval.
    counts
        How many pairs have 0, 1, 2 … classes marked, "alternative" among them as in the paper.
    ratings
        How many pairs have a mean rating that rounds to each of the scale; empty without ratings.
    mean_rating
        Over pairs; None without ratings.
    rules
        Which classes go together, without "alternative".
    pairs, answers
        How many.
    level
        Of the intervals.
    notes
        What a reader should know.
    slice_rules
        From slices of the captions to classes; None where none were asked for.
    """

    shares: tuple[tuple[str, int, float, float, float], ...]
    counts: tuple[int, ...]
    ratings: Mapping[int, int]
    mean_rating: float | None
    rules: RuleReport | None
    pairs: int
    answers: int
    level: float
    notes: Sequence[str] = ()
    slice_rules: RuleReport | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return one record per class, per number of classes, per rating and per rule."""
        out: list[dict[str, Any]] = [
            {"what": "class", "name": name, "n": n, "share": share, "low": low, "high": high}
            for name, n, share, low, high in self.shares
        ]
        out += [
            {"what": "classes per pair", "name": str(k), "n": n, "share": n / self.pairs}
            for k, n in enumerate(self.counts)
        ]
        out += [
            {"what": "rating", "name": str(rating), "n": n, "share": n / self.pairs}
            for rating, n in self.ratings.items()
        ]
        return out + [
            {
                "what": what, "name": f"{rule['given']} → {rule['then']}", "n": rule["n"],
                "share": rule["confidence"], "low": rule["confidence_low"], "high": rule["confidence_high"],
            }
            for what, report in (("rule", self.rules), ("rule from a slice", self.slice_rules))
            if report is not None
            for rule in report.records()
        ]  # fmt: skip

    def parts(self) -> list[Part]:
        """Return the paper's table and figures, and the rules."""
        rows = [
            [name, f"{n:,}", f"{100 * share:.2f}", ends_in_percent((low, high))]
            for name, n, share, low, high in self.shares
        ]
        shown: list[Part] = [
            f"{plural(self.pairs, 'pair')} in {plural(self.answers, 'answer')}.",
            Layout(["misread", "pairs", "share %", f"{100 * self.level:g}% interval"], rows),
            self._distribution("classes marked", dict(enumerate(self.counts))),
        ]
        if self.ratings:
            shown.append(self._distribution("rating", self.ratings))
            shown.append(f"The mean rating is {self.mean_rating:.2f}.")
        for heading, report in ((BETWEEN, self.rules), (FROM_SLICES, self.slice_rules)):
            if report is not None:
                first, *others = report.parts()
                titled = replace(first, title=heading) if isinstance(first, Layout) else f"{heading}: {first}"
                shown += [titled, *others]
        return shown

    def _distribution(self, what: str, numbers: Mapping[int, int]) -> Layout:
        shares = [n / self.pairs for n in numbers.values()]
        rows = [[str(k), f"{n:,}", f"{100 * n / self.pairs:.2f}"] for k, n in numbers.items()]
        return Layout([what, "pairs", "share %"], rows, shares=shares)


def check_share(share: float) -> float:
    """Return the share of a pair's answers that has to mark a class, or raise."""
    if not 0 < share <= 1:
        raise InputError(f"share is {share}", fix="give a share above 0 and up to 1")
    return share


def summarise_marks(
    marks: Marks | str | Path,
    *,
    slices: bool | Iterable[str] = False,
    share: float = 0.5,
    min_support: int = 3,
    level: float = 0.95,
    seed: int = 0,
) -> MarkSummary:
    """Summarise marks on failures: shares of classes, how many at once, ratings, and rules between classes.

    Parameters
    ----------
    marks
        `Marks`, or a file that `read_marks` reads.
    slices
        Also search for rules from slices of the captions to classes: True for all kinds that are read from
        the text alone (`karat.explanations.slice_texts`), or some of them.
    share
        A pair has a class if at least this share of its answers marks it.
    min_support
        The fewest pairs that have both sides of a rule.
    level, seed
        Of the intervals and of the search for rules.

    Examples
    --------
    >>> color = np.tile([True, True, False, False], 10)
    >>> number = np.roll(color, 1)
    >>> marks = Marks({"color": color, "number": number, "alternative": ~color & ~number})
    >>> summary = summarise_marks(marks)
    >>> summary.shares[0][:3], summary.counts
    (('color', 20, 0.5), (0, 30, 10))
    """
    from scipy.special import ndtri

    check_level(level)
    check_share(share)
    if not isinstance(marks, Marks):
        marks = read_marks(marks)
    classes, rating = marks.by_pair(share)
    pairs = int(marks.pair.max()) + 1
    first = marks.first
    cluster = np.unique(marks.cluster[first], return_inverse=True)[1]
    reach = float(ndtri((1 + level) / 2))
    shares = []
    for name, column in classes.items():
        value = float(column.mean())
        error = clustered_error((column - value) / pairs, cluster)
        shares.append((name, int(column.sum()), value, *score_interval(value, error, pairs, reach)))
    number = np.sum(list(classes.values()), axis=0)
    ratings = {} if rating is None else count_ratings(rating, marks.scale)
    notes = list(marks.notes)
    misread = {name: column for name, column in classes.items() if name != NOTHING}
    if NOTHING in classes:
        both = int((classes[NOTHING] & (number > 1)).sum())
        if both:
            notes.append(f"{plural(both, 'pair')} have both {NOTHING!r} and something misread")
    between = from_slices = None
    search = partial(rules, clusters=cluster, min_support=min_support, level=level, seed=seed)
    if pairs < FEWEST_ROWS:
        notes.append(f"rules need {FEWEST_ROWS} pairs or more")
    elif len(misread) > 1:
        between = search(misread)
    if slices is not False:
        if marks.caption is None:
            raise InputError("the marks have no captions", fix="give them, or leave out slices")
        if pairs >= FEWEST_ROWS:
            given = slice_texts(
                marks.caption[first].tolist(),
                None if slices is True else slices,
                min_support=max(2, min_support),
            )
            from_slices = search({**given, **misread}, list(misread), given=list(given))
    for heading, report in ((BETWEEN, between), (FROM_SLICES, from_slices)):
        notes += [f"{heading}: {note}" for note in (report.notes if report is not None else ())]
    mean = None if rating is None else float(rating.mean())
    return MarkSummary(
        tuple(shares), tuple(np.bincount(number).tolist()), ratings, mean, between, pairs, len(marks), level,
        tuple(notes), from_slices,
    )  # fmt: skip


def count_ratings(rating: np.ndarray, scale: tuple[int, int]) -> dict[int, int]:
    """Return how many ratings round to each of the scale, and to what lies beyond it.

    >>> count_ratings(np.array([1.0, 2.7, 5.0]), (1, 4))
    {1: 1, 2: 0, 3: 1, 4: 0, 5: 1}
    """
    rounded = np.rint(rating).astype(int)
    low, high = min(scale[0], int(rounded.min())), max(scale[1], int(rounded.max()))
    return dict(enumerate(np.bincount(rounded - low, minlength=high - low + 1).tolist(), start=low))


def read_marks(path: str | Path) -> Marks:
    """Read marks from a csv, tsv or Parquet file: a row per answer, a column of 0 and 1 per class.

    Columns called "rating", "pair", "cluster" and "caption" are what `Marks` calls so; all may be missing.
    """
    cells = read_cells(Path(path), answers=True)
    names = cells.frame.columns
    further = (RATING, PAIR, CLUSTER, CAPTION)
    classes = {name: as_booleans(name, cells.numbers(name), path) for name in names if name not in further}
    pair, cluster, caption = (cells.text(name) if name in names else None for name in further[1:])
    return Marks(classes, cells.numbers(RATING) if RATING in names else None, pair, cluster, caption)
