"""The sparse table of judgments: who rated which image and caption, and how.

A rating keeps its own scale and its provenance; a mapping turns it into a grade in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from karat._util import check_choice
from karat.errors import InputError, unknown_name


class Mapping(Protocol):
    """Turns raw ratings into grades: 0 is judged not relevant, (0, 1] is relevant."""

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return the grades of `rating`."""
        ...


@dataclass(frozen=True)
class Steps:
    """A grade for each threshold that a rating reaches; 0 below the first.

    Examples
    --------
    CxC counts a rating of 3 or more, on a scale from 0 to 5, as relevant:

    >>> Steps([(3, 1.0)])(np.array([2.9, 3.0, 5.0])).tolist()
    [0.0, 1.0, 1.0]

    ECCV Caption's answers, eq. E.4: "100% yes" (4) is 1, "partially yes" (3) is 0.5:

    >>> answers = Steps([(3, 0.5), (4, 1.0)])
    >>> answers(np.array([1, 2, 3, 4])).tolist(), str(answers)
    ([0.0, 0.0, 0.5, 1.0], 'from 3: 0.5, from 4: 1')
    """

    steps: Sequence[tuple[float, float]]

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return the grade of the highest threshold that each rating reaches."""
        steps = sorted(self.steps)
        reached = np.searchsorted([threshold for threshold, _ in steps], rating, side="right")
        return np.where(np.isnan(rating), np.nan, np.array([0.0, *(grade for _, grade in steps)])[reached])

    def __str__(self) -> str:
        return ", ".join(f"from {threshold:g}: {grade:g}" for threshold, grade in sorted(self.steps))


@dataclass(frozen=True)
class Share:
    """The rating as a share of the scale's top, 0 below a threshold.

    >>> Share(top=5, least=3)(np.array([2.9, 3.0, 5.0])).tolist()
    [0.0, 0.6, 1.0]
    """

    top: float
    least: float = 0.0

    def __call__(self, rating: np.ndarray) -> np.ndarray:
        """Return rating / top where the rating reaches `least`, else 0."""
        rating = np.asarray(rating, dtype=np.float64)
        return np.where(rating >= self.least, rating / self.top, 0.0)

    def __str__(self) -> str:
        return f"rating / {self.top:g}" + (f" from {self.least:g}" if self.least else "")


RELEVANT = Steps([(1, 1.0)])
"""The mapping of sources that only say yes (1) or no (0)."""


@dataclass(frozen=True)
class Provenance:
    """Who rated, on which scale, and how a rating becomes a grade.

    Parameters
    ----------
    name
        Short and unique among the sources of one table: "original", "cxc", an annotator's id.
    scale
        The raw scale in words.
    mapping
        From rating to grade.
    """

    name: str
    scale: str = "1 relevant, 0 not"
    mapping: Mapping = RELEVANT


Resolve = Literal["max", "mean", "min"]
RESOLVERS = {"max": np.maximum, "mean": np.add, "min": np.minimum}


@dataclass(frozen=True)
class Pairs:
    """Judged pairs, each once, sorted by image, then caption, with one grade each."""

    image: np.ndarray
    caption: np.ndarray
    grade: np.ndarray

    def __len__(self) -> int:
        return len(self.image)


class Judgments:
    """Ratings of undirected pairs (image, caption); a pair without a row is *unjudged*.

    The pair has no direction, so image-to-text and text-to-image can never disagree. Rows are
    sorted by image, caption and source, and immutable; `merge` yields a new table.

    Parameters
    ----------
    image, caption
        Indices into the benchmark's ids.
    rating
        Raw ratings on the source's own scale; 1 when left out.
    source
        Which of `sources` each row came from; the only one when left out.
    sources
        Where ratings come from and how each becomes a grade.

    Examples
    --------
    Image 0 was captioned with 0 and 1, and someone found that caption 1 does not fit image 1:

    >>> own = Judgments([0, 0, 1], [0, 1, 2], sources=[Provenance("original")])
    >>> seen = Judgments([1], [1], rating=[0], sources=[Provenance("check")])
    >>> both = own.merge(seen)
    >>> both
    Judgments(4 ratings of 4 pairs: 3 relevant, 1 judged not relevant; original, check)
    """

    def __init__(
        self,
        image: Sequence[int] | np.ndarray,
        caption: Sequence[int] | np.ndarray,
        *,
        rating: Sequence[float] | np.ndarray | None = None,
        source: Sequence[int] | np.ndarray | None = None,
        sources: Sequence[Provenance],
    ) -> None:
        columns: list[np.ndarray] = [
            np.asarray(image, dtype=np.int32),
            np.asarray(caption, dtype=np.int32),
            np.zeros(len(image), np.uint16) if source is None else np.asarray(source, dtype=np.uint16),
            np.ones(len(image)) if rating is None else np.asarray(rating, dtype=np.float64),
        ]
        order = np.lexsort((columns[2], columns[1], columns[0]))
        self.image, self.caption, self.source, self.rating = (column[order] for column in columns)
        self.sources = tuple(sources)
        for column in (self.image, self.caption, self.source, self.rating):
            column.setflags(write=False)
        self._check()

    def _check(self) -> None:
        out_of_range = (self.image < 0) | (self.caption < 0) | (self.source >= len(self.sources))
        if out_of_range.any():
            raise InputError("an index of an image, caption or source is out of range")
        wrong = np.flatnonzero(~((self.grade >= 0) & (self.grade <= 1)))
        if len(wrong):
            row = wrong[0]
            raise InputError(
                f"source {self.sources[self.source[row]].name!r} maps the rating {self.rating[row]:g} "
                f"to the grade {self.grade[row]:g}",
                fix="a mapping gives grades from 0 to 1",
            )
        same = (np.diff(self.image) == 0) & (np.diff(self.caption) == 0) & (np.diff(self.source) == 0)
        if same.any():
            row = int(np.flatnonzero(same)[0])
            raise InputError(
                f"source {self.sources[self.source[row]].name!r} rates the pair (image {self.image[row]}, "
                f"caption {self.caption[row]}) twice",
                fix="give each source one rating per pair",
            )

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        pairs = self.pairs()
        good = int((pairs.grade > 0).sum())
        names = ", ".join(source.name for source in self.sources)
        return (
            f"Judgments({len(self):,} ratings of {len(pairs):,} pairs: {good:,} relevant, "
            f"{len(pairs) - good:,} judged not relevant; {names})"
        )

    @cached_property
    def grade(self) -> np.ndarray:
        """The grade of each row, by its source's mapping."""
        grade = np.zeros(len(self))
        for number, source in enumerate(self.sources):
            rows = self.source == number
            grade[rows] = source.mapping(self.rating[rows])
        grade.setflags(write=False)
        return grade

    def pairs(self, resolve: Resolve = "max") -> Pairs:
        """Return each judged pair once.

        Parameters
        ----------
        resolve
            The grade where several sources rated a pair: the highest (one yes suffices), the
            mean, or the lowest.
        """
        resolve = check_choice(resolve, list(RESOLVERS), "resolve")  # type: ignore[assignment]
        how = RESOLVERS[resolve]
        if not len(self):
            return Pairs(self.image, self.caption, self.grade)
        new = np.r_[True, (np.diff(self.image) != 0) | (np.diff(self.caption) != 0)]
        first = np.flatnonzero(new)
        grade = how.reduceat(self.grade, first)
        if resolve == "mean":
            grade = grade / np.diff(np.r_[first, len(self)])
        return Pairs(self.image[first], self.caption[first], grade)

    def merge(self, other: Judgments) -> Judgments:
        """Return the table with the rows of both; sources of the same name must be equal."""
        sources = list(self.sources)
        names = [source.name for source in sources]
        renumber = np.zeros(len(other.sources), np.uint16)
        for number, source in enumerate(other.sources):
            if source.name not in names:
                names.append(source.name)
                sources.append(source)
            elif sources[names.index(source.name)] != source:
                raise InputError(f"two different sources are both called {source.name!r}", fix="rename one")
            renumber[number] = names.index(source.name)
        return Judgments(
            np.r_[self.image, other.image],
            np.r_[self.caption, other.caption],
            rating=np.r_[self.rating, other.rating],
            source=np.r_[self.source, renumber[other.source]],
            sources=sources,
        )

    def remap(self, source: str, mapping: Mapping) -> Judgments:
        """Return the same ratings with another mapping for `source`."""
        names = [known.name for known in self.sources]
        if source not in names:
            raise unknown_name("source of ratings", source, names)
        sources = [replace(s, mapping=mapping) if s.name == source else s for s in self.sources]
        return Judgments(self.image, self.caption, rating=self.rating, source=self.source, sources=sources)
