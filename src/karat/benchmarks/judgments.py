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
from karat.benchmarks.pool_design import PoolDesign, pair_key, pair_named, pairs_of
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
PROBABILITIES = ("probability", "grade_if_relevant")
"""The columns that uncertain ratings have."""
RESOLVERS = {"max": np.maximum, "mean": np.add, "min": np.minimum}


@dataclass(frozen=True)
class Pairs:
    """Judged pairs, each once, sorted by image, then caption, with one grade each."""

    image: np.ndarray
    caption: np.ndarray
    grade: np.ndarray

    def __len__(self) -> int:
        return len(self.image)


@dataclass(frozen=True, eq=False)
class UncertainRatings:
    """The ratings of a table that have probabilities, to draw other versions of the grades.

    Parameters
    ----------
    pair
        Per rating, the number of its pair, in the order of `Judgments.pairs`.
    probability, grade
        Per rating, the probability that the pair is relevant, and the grade that it then has.
    free
        Whether the outcome is open: neither certain, nor settled by a certain rating of another source.
    certain_grade
        Per pair, its grade by the ratings that are certain; 0 where there are none.

    Examples
    --------
    >>> shares = Provenance("people", "0 to 1", Share(top=1))
    >>> rated = Judgments([0, 0, 0], [0, 1, 2], rating=[1, 0.5, 0], sources=[shares],
    ...                   probability=[np.nan, 0.9, 0.2], grade_if_relevant=[np.nan, np.nan, 1])
    >>> drawn = rated.uncertain.draw(rated.uncertain.luck(1000, np.random.default_rng(1)))
    >>> np.unique(drawn[:, 1]).tolist(), (drawn > 0).mean(axis=0).round(1).tolist()
    ([0.0, 0.5], [1.0, 0.9, 0.2])
    """

    pair: np.ndarray
    probability: np.ndarray
    grade: np.ndarray
    free: np.ndarray
    certain_grade: np.ndarray

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs that have such a rating, the first one of each, and the place of each rating's pair."""
        return np.unique(self.pair, return_index=True, return_inverse=True)

    @property
    def n_pairs(self) -> int:
        """How many pairs differ from version to version."""
        return len(np.unique(self.pair[self.free]))

    def luck(self, versions: int, rng: np.random.Generator) -> np.ndarray:
        """Return random numbers for some versions, one for each pair that has such a rating.

        Drawn at once or one version after the other from one generator, they are the same.
        """
        return rng.random((versions, len(self._drawn[0])))

    def draw(self, luck: np.ndarray, probability: np.ndarray | None = None) -> np.ndarray:
        """Return versions of the grades of all pairs, [versions, pairs].

        A rating says relevant where the random number of its pair lies below its probability, and then has
        its grade, else 0. The highest grade counts where several sources rated a pair, as in
        `Judgments.pairs`. All ratings of one pair share the random number, so that two sources which both
        call it improbable do not make it probable together.

        Parameters
        ----------
        luck
            Random numbers from `luck`.
        probability
            Other probabilities, per rating or per version and rating.
        """
        versions = np.tile(self.certain_grade, (len(luck), 1))
        if len(self.pair):
            pairs, first, place = self._drawn
            below = luck[:, place] < (self.probability if probability is None else probability)
            drawn = np.maximum.reduceat(np.where(below, self.grade, 0.0), first, axis=1)
            versions[:, pairs] = np.maximum(versions[:, pairs], drawn)
        return versions


class Judgments:
    """Ratings of undirected pairs (image, caption); a pair without a row is *unjudged*.

    The pair has no direction, so image-to-text and text-to-image can never disagree. Rows are
    sorted by image, caption and source, and immutable; `merge` yields a new table.

    An unjudged pair may have the mark *pooled*: it was in the pool, and nobody judged it. Scores treat it as
    any other unjudged pair; the mark distinguishes it from pairs that were never in the pool.

    A rating may be uncertain: it then has the *probability* that its pair is relevant. Scores are those of
    the ratings as they are; `uncertain` draws other versions of the grades from the probabilities.

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
    pooled
        Images and captions of the pairs that were pooled and not judged. A pair that has a rating is judged
        and loses the mark. The attribute holds two arrays, sorted by image, then caption, each pair once.
    probability
        Per row, the probability that the pair is relevant, as its source sees it; NaN where the rating is
        certain, as all are when left out.
    grade_if_relevant
        Per row, the grade that the pair has if it is relevant. NaN is the rating's own grade; a rating with
        the grade 0 and a probability above 0 needs another.
    design
        How the judged pairs were sampled from the pool, for measures that need it (xinfAP, infNDCG, statAP).
        A pair of the design without a rating is pooled and not judged.

    Examples
    --------
    Image 0 was captioned with 0 and 1, and someone found that caption 1 does not fit image 1:

    >>> own = Judgments([0, 0, 1], [0, 1, 2], sources=[Provenance("original")])
    >>> seen = Judgments([1], [1], rating=[0], sources=[Provenance("check")])
    >>> both = own.merge(seen)
    >>> both
    Judgments(4 ratings of 4 pairs: 3 relevant, 1 judged not relevant; original, check)

    Two more pairs were pooled, of which one has a rating by now:

    >>> both.merge(Judgments([], [], sources=[], pooled=([1, 1], [0, 1])))
    Judgments(4 ratings of 4 pairs: 3 relevant, 1 judged not relevant, 1 pooled and unjudged; original, check)
    """

    def __init__(
        self,
        image: Sequence[int] | np.ndarray,
        caption: Sequence[int] | np.ndarray,
        *,
        rating: Sequence[float] | np.ndarray | None = None,
        source: Sequence[int] | np.ndarray | None = None,
        sources: Sequence[Provenance],
        pooled: tuple[Sequence[int] | np.ndarray, Sequence[int] | np.ndarray] = ((), ()),
        probability: Sequence[float] | np.ndarray | None = None,
        grade_if_relevant: Sequence[float] | np.ndarray | None = None,
        design: PoolDesign | None = None,
    ) -> None:
        images, captions = np.asarray(image, dtype=np.int32), np.asarray(caption, dtype=np.int32)
        by = np.zeros(len(images), np.uint16) if source is None else np.asarray(source, dtype=np.uint16)
        ratings = np.ones(len(images)) if rating is None else np.asarray(rating, dtype=np.float64)
        order = np.lexsort((by, captions, images))
        self.image, self.caption, self.source, self.rating = (
            column[order] for column in (images, captions, by, ratings)
        )
        self.sources = tuple(sources)
        self.design = design
        if design is not None:
            pooled = (np.r_[pooled[0], design.image], np.r_[pooled[1], design.caption])
        self.pooled = self._unrated(*(np.asarray(column, dtype=np.int64) for column in pooled))
        # A column of NaN takes no memory.
        self.probability, self.grade_if_relevant = (
            np.broadcast_to(np.nan, len(order)) if column is None else per_row(column, len(order))[order]
            for column in (probability, grade_if_relevant)
        )
        for column in (self.image, self.caption, self.source, self.rating, *self.pooled):
            column.setflags(write=False)
        for column in (self.probability, self.grade_if_relevant):
            column.setflags(write=False)
        self._check()
        self._check_probabilities()

    def _unrated(self, image: np.ndarray, caption: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs that have no rating, sorted, each once."""
        if len(image) != len(caption):
            raise InputError(
                f"the pooled pairs have {len(image):,} images and {len(caption):,} captions",
                fix="give one of each per pair",
            )
        if ((image < 0) | (caption < 0)).any():
            raise InputError("an index of an image or caption of the pooled pairs is out of range")
        pairs = np.setdiff1d(pair_key(image, caption), self._key if len(image) else self.image)
        images, captions = pairs_of(pairs)
        return images.astype(np.int32), captions.astype(np.int32)

    def _check(self) -> None:
        out_of_range = (self.image < 0) | (self.caption < 0) | (self.source >= len(self.sources))
        if out_of_range.any():
            raise InputError("an index of an image, caption or source is out of range")
        for row in np.flatnonzero(~((self.grade >= 0) & (self.grade <= 1))).tolist():
            raise InputError(
                f"source {self.sources[self.source[row]].name!r} maps the rating {self.rating[row]:g} "
                f"to the grade {self.grade[row]:g}",
                fix="a mapping gives grades from 0 to 1",
            )
        same = (np.diff(self._key) == 0) & (np.diff(self.source) == 0)
        for row in np.flatnonzero(same).tolist():
            source = self.sources[self.source[row]].name
            what = f"source {source!r} rates {pair_named(self, row)} twice"
            raise InputError(what, fix="give each source one rating per pair")

    def _check_probabilities(self) -> None:
        if not self.has_probabilities:
            return
        known = ~np.isnan(self.probability)
        other = self.grade_if_relevant
        for column, wrong, allowed in (
            ("probability", known & ~((self.probability >= 0) & (self.probability <= 1)), "from 0 to 1"),
            ("grade_if_relevant", ~np.isnan(other) & ~((other > 0) & (other <= 1)), "above 0 and up to 1"),
        ):
            for row in np.flatnonzero(wrong).tolist():
                what = f"{column} of {pair_named(self, row)} is {getattr(self, column)[row]:g}"
                raise InputError(what, fix=f"give numbers {allowed}, or NaN")
        missing = known & (self.probability > 0) & (self.grade == 0) & np.isnan(other)
        for row in np.flatnonzero(missing).tolist():
            what = f"{pair_named(self, row)} is relevant with the probability {self.probability[row]:g}"
            raise InputError(f"{what}, and has the grade 0", fix="give its grade_if_relevant")

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        pairs = self.pairs()
        good = int((pairs.grade > 0).sum())
        names = ", ".join(source.name for source in self.sources)
        pooled = f", {len(self.pooled[0]):,} pooled and unjudged" if len(self.pooled[0]) else ""
        if self.design is not None:
            pooled += f", sampled by {self.design.by}"
        return (
            f"Judgments({len(self):,} ratings of {len(pairs):,} pairs: {good:,} relevant, "
            f"{len(pairs) - good:,} judged not relevant{pooled}; {names})"
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
        first = self._first
        grade = how.reduceat(self.grade, first)
        if resolve == "mean":
            grade = grade / np.diff(np.r_[first, len(self)])
        return Pairs(self.image[first], self.caption[first], grade)

    @cached_property
    def _first(self) -> np.ndarray:
        """The first row of each pair."""
        return np.flatnonzero(np.diff(self._key, prepend=-1))

    @property
    def _key(self) -> np.ndarray:
        """Per row, one number that means its pair."""
        return pair_key(self.image, self.caption)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """What each row says, by column; those of probabilities only where a rating has one."""
        names = ("image", "caption", "source", "rating", *(PROBABILITIES if self.has_probabilities else ()))
        return {name: getattr(self, name) for name in names}

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether any rating has the probability that its pair is relevant."""
        return bool((~np.isnan(self.probability)).any())

    @cached_property
    def uncertain(self) -> UncertainRatings:
        """The ratings that have the probability that their pair is relevant."""
        rows = np.flatnonzero(~np.isnan(self.probability))
        pair = np.searchsorted(self._first, rows, side="right") - 1
        grade = np.where(np.isnan(self.grade_if_relevant), self.grade, self.grade_if_relevant)[rows]
        probability = self.probability[rows]
        certain = np.where(np.isnan(self.probability), self.grade, 0.0)
        certain = np.maximum.reduceat(certain, self._first) if len(self) else certain
        free = (probability > 0) & (probability < 1) & (grade > certain[pair])
        return UncertainRatings(pair, probability, grade, free, certain)

    def merge(self, other: Judgments) -> Judgments:
        """Return the table with the rows of both; sources of the same name must be equal.

        A pair that either has pooled stays pooled, unless the other rates it. Ratings keep their
        probabilities, and pairs the design of their pool.
        """
        designs = [table.design for table in (self, other) if table.design is not None]
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
        filled = {**self.columns, **other.columns}
        columns = {name: np.r_[getattr(self, name), getattr(other, name)] for name in filled}
        columns["source"] = np.r_[self.source, renumber[other.source]]
        return Judgments(
            **columns,
            sources=sources,
            pooled=(np.r_[self.pooled[0], other.pooled[0]], np.r_[self.pooled[1], other.pooled[1]]),
            design=designs[0].merge(designs[1]) if len(designs) == 2 else next(iter(designs), None),
        )

    def remap(self, source: str, mapping: Mapping) -> Judgments:
        """Return the same ratings with another mapping for `source`.

        Its ratings lose their probabilities, which are about what was relevant by the mapping before.
        """
        names = [known.name for known in self.sources]
        if source not in names:
            raise unknown_name("source of ratings", source, names)
        sources = [replace(s, mapping=mapping) if s.name == source else s for s in self.sources]
        remapped = self.source == names.index(source)
        columns = self.columns
        for name in columns.keys() & PROBABILITIES:
            columns[name] = np.where(remapped, np.nan, columns[name])
        return Judgments(**columns, sources=sources, pooled=self.pooled, design=self.design)


def per_row(column: Sequence[float] | np.ndarray, rows: int) -> np.ndarray:
    """Return a column of numbers, or raise where it does not have one for each row."""
    values = np.asarray(column, dtype=np.float64)
    if values.shape != (rows,):
        raise InputError(f"{len(values):,} probabilities or grades of {rows:,} ratings", fix="give one each")
    return values
