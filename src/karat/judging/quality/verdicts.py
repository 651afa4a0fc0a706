"""From several answers about a pair to one verdict: aggregations, and what they have in common.

An adjudicator may decide a pair; the decision replaces the aggregated verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat._util import Param, Registry, import_all, one_of, plural, whole
from karat.errors import unknown_name
from karat.forms import (
    NOT_GOLD,
    AnswerTable,
    Form,
    Grouped,
    distinct,
    find,
    group,
    key_of,
    split_adjudicated,
    split_key,
)
from karat.judging.quality.gold_calibration import MIN_GOLD, GoldCalibration


@dataclass(frozen=True, eq=False)
class Aggregated:
    """One verdict for each pair that has an answer.

    Parameters
    ----------
    image, caption
        The pairs, as indices into the benchmark, each once, sorted by image, then caption.
    grade
        What is published: 0 for judged not relevant, (0, 1] for relevant.
    rating
        On the form's scale; an aggregation may return a value between two ratings, as "mean" does.
    relevance
        What was compared with the threshold: for example the share of relevant answers ("majority"), or the
        probability that the right rating is a relevant one ("dawid-skene").
    posterior
        Pairs by ratings: the probability of each rating, or its share of the answers where the aggregation
        does not estimate probabilities.
    answers
        How many answers each pair has.
    disagreement
        The share of pairs of answers that differ; NaN where there is one answer.
    gold
        NOT_GOLD, GOLD_NO or GOLD_YES.
    to_judge
        Whether the pair was to be judged; `asked` leaves out pairs that only served as gold.
    adjudicated
        Whether an adjudicator decided; the decision replaces the aggregated verdict.
    ratings
        The form's scale, sorted: the columns of `posterior`.
    method, settings
        The aggregation and its settings.
    fit
        What the aggregation learned about annotators, if it does: Dawid–Skene's confusion matrices.
    """

    image: np.ndarray
    caption: np.ndarray
    grade: np.ndarray
    rating: np.ndarray
    relevance: np.ndarray
    posterior: np.ndarray
    answers: np.ndarray
    disagreement: np.ndarray
    gold: np.ndarray
    to_judge: np.ndarray
    adjudicated: np.ndarray
    ratings: np.ndarray
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    fit: Fit | None = None

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"Aggregated({len(self):,} pairs, {int(self.relevant.sum()):,} relevant, by {self.method})"

    @property
    def relevant(self) -> np.ndarray:
        """Whether each pair is relevant, that is, its grade is above 0."""
        return self.grade > 0

    def where(self, rows: np.ndarray) -> Aggregated:
        """Return only some pairs, chosen by booleans."""
        rows = np.asarray(rows, dtype=bool)
        return replace(self, **{name: getattr(self, name)[rows] for name in PER_PAIR})

    @property
    def probabilistic(self) -> bool:
        """Whether relevance and posterior are probabilities."""
        return AGGREGATIONS[self.method].probabilistic

    @property
    def asked(self) -> Aggregated:
        """The verdicts without pairs that were only hidden gold."""
        return self.where(self.to_judge)


PER_PAIR = (
    "image", "caption", "grade", "rating", "relevance", "posterior", "answers", "disagreement", "gold",
    "to_judge", "adjudicated",
)  # fmt: skip
"""The columns of `Aggregated`."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What Dawid–Skene's EM estimates besides the verdicts.

    Parameters
    ----------
    confusion
        Per annotator, the probability of each answer (columns) for each right rating (rows). An annotator
        without answers has the prior's.
    prior
        How often each rating is the right one.
    log_likelihood
        Of all answers, at the end.
    objective
        The log likelihood plus the log prior density up to a constant, at each step: it never falls.
    iterations, converged
        How many steps were made, and whether the last one gained less than the tolerance.
    answers
        How many answers each annotator gave.
    calibration
        What gold says about the probabilities; None where there is too little gold.
    """

    confusion: np.ndarray
    prior: np.ndarray
    log_likelihood: float
    objective: np.ndarray
    iterations: int
    converged: bool
    answers: np.ndarray
    calibration: GoldCalibration | None = None

    def __repr__(self) -> str:
        end = "converged" if self.converged else "did not converge"
        return (
            f"Fit({plural(len(self.confusion), 'annotator')}, log likelihood {self.log_likelihood:,.2f}, "
            f"{end} after {plural(self.iterations, 'step')})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the verdicts should know."""
        unfinished = () if self.converged else (f"{self}: allow more steps",)
        if self.calibration is None:
            return (
                *unfinished,
                f"the probabilities of relevance are not calibrated, which needs {MIN_GOLD} hidden gold "
                "pairs or more, of both sides; they are too extreme if answers about a pair are related",
            )
        return (*unfinished, *self.calibration.notes)

    @property
    def right(self) -> np.ndarray:
        """How often each annotator is expected to answer with the right rating."""
        return np.einsum("c,wcc->w", self.prior, self.confusion)


@dataclass(frozen=True)
class Aggregation:
    """A way to turn the answers about each pair into one verdict.

    Parameters
    ----------
    about
        One line on what it does, for help and pages.
    run
        A function of the grouped answers and the parameters. It returns columns of `Aggregated`, one row
        per pair: grade, rating and relevance, and, where it has them, posterior and fit.
    params
        Its parameters, as data: ``--aggregate-set`` and `aggregate` take them by name.
    weighs_annotators
        Whether it estimates how reliable each annotator is, so that none needs to be excluded.
    probabilistic
        Whether relevance and posterior are probabilities, which are then published with the labels. A share
        of the answers is not one.
    """

    about: str
    run: Callable[..., dict[str, Any]]
    params: tuple[Param, ...] = ()
    weighs_annotators: bool = False
    probabilistic: bool = False


AGGREGATIONS: Registry[Aggregation] = Registry(
    "aggregation",
    fill=lambda: import_all("karat.judging.quality.aggregation"),
    group="karat.aggregations",
)
"""The aggregations, by name."""

ROUNDING = 1e-9
"""Shares are compared with thresholds up to rounding: two thirds reach 2 / 3."""


def disagreement(counts: np.ndarray) -> np.ndarray:
    """Return the share of each row's pairs of answers that differ; NaN with fewer than two answers.

    >>> disagreement(np.array([[3, 0], [2, 1], [1, 0]])).round(3).tolist()
    [0.0, 0.667, nan]
    """
    counts = counts.astype(np.float64)
    total = counts.sum(axis=1)
    same, pairs = (counts * (counts - 1)).sum(axis=1), total * (total - 1)
    return np.where(total > 1, 1 - same / np.maximum(pairs, 1), np.nan)


def decide(shares: np.ndarray, grouped: Grouped, threshold: float, even: str = "no") -> dict[str, Any]:
    """Return the verdicts from shares or probabilities of the ratings: first the side, then the rating.

    A pair is relevant when the shares of all relevant ratings together reach the threshold; an even split is
    not a yes, unless `even` says so. Its rating is
    the one of that side with the largest share; of equal ones, the nearest to the mean rating of the
    shares, then the lower. So two kinds of "yes" never lose against one "no" by splitting their votes.

    Parameters
    ----------
    shares
        Pairs by ratings.
    grouped
        The answers, for the form's ratings and grades.
    threshold
        From which relevance on a pair is relevant.
    even
        "yes" or "no": what a relevance of exactly one half is at the threshold 0.5.

    Returns
    -------
    The columns grade, rating and relevance of `Aggregated`.
    """
    relevant = grouped.grades > 0
    relevance = shares @ relevant
    side = reaches(relevance, threshold, even) & (relevance > 0)
    on_side = relevant[None] == side[:, None]
    top = np.where(on_side, shares, -1.0)
    best = on_side & (top >= top.max(axis=1, keepdims=True) - ROUNDING)
    away = np.abs(grouped.ratings[None] - (shares @ grouped.ratings)[:, None])
    # argmin takes the first: ratings are sorted, so the lower of two that are equally far away.
    chosen = np.where(best, np.round(away, 9), np.inf).argmin(axis=1)
    return {
        "grade": grouped.grades[chosen],
        "rating": grouped.ratings[chosen],
        "relevance": np.clip(relevance, 0.0, 1.0),
    }


def share(value: Any) -> float:
    """Return a share from 0 to 1; for `Param.type`."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(value)
    return number


def amount(value: Any) -> float:
    """Return a number from 0; for `Param.type`."""
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(value)
    return number


def times(value: Any) -> int:
    """Return a whole number from 1; for `Param.type`."""
    number = whole(value)
    if number < 1:
        raise ValueError(value)
    return number


# As messages call them: "threshold is 7; give a share from 0 to 1".
for _type, _name in ((share, "share from 0 to 1"), (amount, "number from 0"), (times, "whole number from 1")):
    _type.__name__ = _name


def reaches(relevance: np.ndarray, threshold: float, even: str) -> np.ndarray:
    """Return which relevances reach a threshold, up to rounding; one half reaches 0.5 only by `even`.

    >>> reaches(np.array([0.5, 0.6]), 0.5, "no").tolist(), reaches(np.array([2 / 3]), 2 / 3, "no").tolist()
    ([False, True], [True])
    """
    if even == "no" and threshold == 0.5:
        return relevance > threshold + ROUNDING
    return relevance >= threshold - ROUNDING


THRESHOLD = Param("threshold", share, "from which relevance on a pair is relevant", default=0.5)
EVEN = Param(
    "even", one_of("yes", "no"), "what an even split is at the threshold 0.5: yes or no", default="no"
)
"""The parameter that aggregations with a threshold have in common."""


def parse_aggregation(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of an aggregation, each with its type, or raise on one that it does not have."""
    known = {param.name: param for param in AGGREGATIONS[method].params}
    for name in settings:
        if name not in known:
            raise unknown_name("setting", name, known, owner=f"the aggregation {method}")
    return {name: param.parse(settings.get(name, param.default)) for name, param in known.items()}


def aggregate(answers: AnswerTable, form: Form, method: str = "majority", **settings: Any) -> Aggregated:
    """Return one verdict for each pair.

    Every answer of the table counts; `karat.judging.accepted_answers` leaves out those of rejected
    assignments and of annotators who fail the gold check. An adjudicator's answer is not a vote: it replaces
    the verdict.

    Parameters
    ----------
    answers
        What was answered, with or without hidden gold pairs (Dawid–Skene learns from them).
    form
        What was asked: its scale and grades.
    method
        A name of `AGGREGATIONS`, such as "majority" or "dawid-skene".
    settings
        Parameters of the aggregation, such as ``threshold=0.5``.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> answers = make_answers([0, 0, 0, 1], [7, 7, 7, 7], [0, 1, 2, 0], [4, 3, 1, 2], ("ann", "bob", "eve"))
    >>> verdicts = aggregate(answers, load_form("pair"))
    >>> verdicts, verdicts.rating.tolist(), verdicts.grade.tolist()
    (Aggregated(2 pairs, 1 relevant, by majority), [3.0, 2.0], [0.5, 0.0])
    >>> aggregate(answers, load_form("pair"), "mean").grade.tolist()
    [0.5, 0.0]
    """
    chosen, parsed = AGGREGATIONS[method], parse_aggregation(method, settings)
    # Aliases are reported under the registered name.
    name = AGGREGATIONS.spelled(method)
    voted, decided = split_adjudicated(answers)
    grouped = group(voted, form)
    shared = {
        "image": grouped.image,
        "caption": grouped.caption,
        "posterior": grouped.shares,
        "answers": grouped.answers,
        "disagreement": disagreement(grouped.counts),
        "gold": grouped.gold,
        "to_judge": grouped.asked,
        "adjudicated": np.zeros(len(grouped.image), bool),
        "ratings": grouped.ratings,
        "method": name,
        "settings": parsed,
    }
    return overrule(Aggregated(**{**shared, **chosen.run(grouped, **parsed)}), decided, form)


def overrule(verdicts: Aggregated, decided: AnswerTable, form: Form) -> Aggregated:
    """Return verdicts in which the last decision about a pair replaces the aggregated verdict.

    The number of answers of a pair and their disagreement do not change.

    Parameters
    ----------
    verdicts
        The verdicts from the answers of all other annotators.
    decided
        The adjudicators' answers, in the order in which they were given.
    form
        What was asked.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> answers = make_answers([0, 0, 0, 5], [7, 7, 7, 1], [0, 1, 2, 2], [4, 4, 1, 3], ("ann", "bob", "boss"),
    ...                        kinds=("person", "person", "adjudicator"))
    >>> verdicts = aggregate(answers, load_form("pair"))
    >>> verdicts.grade.tolist(), verdicts.answers.tolist(), verdicts.adjudicated.tolist()
    ([0.0, 0.5], [2, 0], [True, True])
    """
    if not len(decided):
        return verdicts
    own = key_of(decided.image, decided.caption)
    key = distinct(np.concatenate([key_of(verdicts.image, verdicts.caption), own]))
    at = find(key_of(verdicts.image, verdicts.caption), key)
    # The last of each: rows are in the order in which they were written.
    pair, back = np.unique(own[::-1], return_index=True)
    rating = decided.rating[::-1][back]
    place = find(key, pair)
    code = np.searchsorted(verdicts.ratings, rating)
    grade = form.grades(rating)

    def widened(values: np.ndarray, missing: float | bool) -> np.ndarray:
        out = np.full((len(key), *values.shape[1:]), missing, dtype=values.dtype)
        out[at >= 0] = values[at[at >= 0]]
        return out

    columns: dict[str, Any] = {
        "grade": widened(verdicts.grade, 0.0), "rating": widened(verdicts.rating, 0.0),
        "relevance": widened(verdicts.relevance, 0.0), "posterior": widened(verdicts.posterior, 0.0),
        "answers": widened(verdicts.answers, 0), "disagreement": widened(verdicts.disagreement, np.nan),
        "gold": widened(verdicts.gold, NOT_GOLD), "to_judge": widened(verdicts.to_judge, True),
        "adjudicated": widened(verdicts.adjudicated, False),
    }  # fmt: skip
    columns["grade"][place], columns["rating"][place] = grade, rating
    columns["relevance"][place] = grade > 0
    columns["posterior"][place] = np.eye(len(verdicts.ratings))[code]
    columns["adjudicated"][place] = True
    columns["to_judge"][place] = True
    image, caption = split_key(key)
    return replace(verdicts, image=image, caption=caption, **columns)
