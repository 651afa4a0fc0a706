"""From several answers about a pair to one: what is published, and the ways to get there.

Where people disagree, an adjudicator may decide; the decision stands instead of the vote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat._util import Param, Registry, import_all, plural
from karat.errors import unknown_name
from karat.judging.checking.answers import AnswerTable, split_adjudicated
from karat.judging.checking.deciding import disagreement
from karat.judging.checking.grouped import group
from karat.judging.forms import Form
from karat.judging.pools import distinct, find, key_of, split_key
from karat.judging.tasks import UNKNOWN


@dataclass(frozen=True, eq=False)
class Aggregated:
    """One verdict for each pair that somebody answered about.

    Parameters
    ----------
    image, caption
        The pairs, as indices into the benchmark, each once, sorted by image, then caption.
    grade
        What is published: 0 judged not relevant, (0, 1] relevant.
    rating
        On the form's scale: one of its ratings for "majority" and "dawid-skene", the mean for "mean".
    relevance
        What was held against the threshold: the share of relevant answers ("majority"), their mean grade
        ("mean"), or the probability that the right rating is a relevant one ("dawid-skene").
    posterior
        Pairs by ratings: the probability of each rating ("dawid-skene"), or its share of the answers.
    answers
        How many there are.
    disagreement
        The share of a pair's pairs of answers that differ; NaN where there is one answer.
    gold
        UNKNOWN, KNOWN_NO or KNOWN_YES.
    to_judge
        Whether somebody was asked to judge the pair; `asked` leaves out those that only served as checks.
    adjudicated
        Whether an adjudicator decided, whose word stands instead of the aggregate.
    ratings
        The form's scale, sorted: the columns of `posterior`.
    method, settings
        How it was done.
    fit
        Of Dawid–Skene, the workers' confusion matrices and more.
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
        """Whether each pair is relevant: its grade is above 0."""
        return self.grade > 0

    def where(self, rows: np.ndarray) -> Aggregated:
        """Return only some pairs, given as booleans."""
        rows = np.asarray(rows, dtype=bool)
        return replace(self, **{name: getattr(self, name)[rows] for name in PER_PAIR})

    @property
    def asked(self) -> Aggregated:
        """Without the hidden known pairs that were asked about only to check people."""
        return self.where(self.to_judge)


PER_PAIR = (
    "image", "caption", "grade", "rating", "relevance", "posterior", "answers", "disagreement", "gold",
    "to_judge", "adjudicated",
)  # fmt: skip
"""The columns of `Aggregated`."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What Dawid–Skene's EM found besides the verdicts.

    Parameters
    ----------
    confusion
        Per worker, the probability of each answer (columns) for each right rating (rows). A worker
        without answers has what the prior says.
    prior
        How often each rating is the right one.
    log_likelihood
        Of all answers, at the end.
    objective
        The log likelihood plus the log prior density up to a constant, at each step: it never falls.
    iterations, converged
        How many steps there were, and whether the last one changed next to nothing.
    answers
        How many answers each worker gave.
    """

    confusion: np.ndarray
    prior: np.ndarray
    log_likelihood: float
    objective: np.ndarray
    iterations: int
    converged: bool
    answers: np.ndarray

    def __repr__(self) -> str:
        end = "converged" if self.converged else "did not converge"
        return (
            f"Fit({plural(len(self.confusion), 'worker')}, log likelihood {self.log_likelihood:,.2f}, "
            f"{end} after {plural(self.iterations, 'step')})"
        )

    @property
    def right(self) -> np.ndarray:
        """How often each worker is expected to answer with the right rating."""
        return np.einsum("c,wcc->w", self.prior, self.confusion)


@dataclass(frozen=True)
class Aggregation:
    """A way to aggregate.

    Parameters
    ----------
    about
        A line on what it does.
    run
        From grouped answers and the parameters to the columns of `Aggregated` that differ between ways:
        grade, rating, relevance and, where they have them, posterior and fit.
    params
        Its parameters, as data.
    weighs_people
        Whether it learns itself how far each person can be trusted, so that nobody need be excluded.
    """

    about: str
    run: Callable[..., dict[str, Any]]
    params: tuple[Param, ...] = ()
    weighs_people: bool = False


AGGREGATIONS: Registry[Aggregation] = Registry(
    "aggregation", fill=lambda: import_all("karat.judging.checking.aggregation")
)
"""By name: the ways to aggregate."""


def aggregate(answers: AnswerTable, form: Form, method: str = "majority", **settings: Any) -> Aggregated:
    """Return one verdict for each pair.

    Every answer of the table counts; `karat.judging.checking.accepting.accepted_answers` leaves out those of
    rejected hand-ins and of people who fail the control rule. An adjudicator's answer is no vote: it stands
    instead of the verdict.

    Parameters
    ----------
    answers
        What was answered; hidden known pairs may be among them (Dawid–Skene learns from them).
    form
        What was asked: its scale and grades.
    method
        "majority", "mean" or "dawid-skene"; see `AGGREGATIONS`.
    settings
        Parameters of the method, such as ``threshold=0.5``.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> four = make_answers([0, 0, 0, 1], [7, 7, 7, 7], [0, 1, 2, 0], [4, 3, 1, 2], ("ann", "bob", "eve"))
    >>> found = aggregate(four, load_form("pair"))
    >>> found, found.rating.tolist(), found.grade.tolist()
    (Aggregated(2 pairs, 1 relevant, by majority), [3.0, 2.0], [0.5, 0.0])
    >>> aggregate(four, load_form("pair"), "mean").grade.tolist()
    [0.5, 0.0]
    """
    chosen = AGGREGATIONS[method]
    known = {param.name: param for param in chosen.params}
    for name in settings:
        if name not in known:
            raise unknown_name("setting", name, known, owner=f"the aggregation {method}")
    given = {name: param.parse(settings.get(name, param.default)) for name, param in known.items()}
    name = next(one for one in AGGREGATIONS if AGGREGATIONS[one] is chosen)
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
        "settings": given,
    }
    return overrule(Aggregated(**{**shared, **chosen.run(grouped, **given)}), decided, form)


def overrule(found: Aggregated, decided: AnswerTable, form: Form) -> Aggregated:
    """Return verdicts in which the last decision about a pair stands instead of what was aggregated.

    How many answers a pair has, and how far they disagree, stays as it was.

    Parameters
    ----------
    found
        The verdicts of everybody else.
    decided
        What adjudicators answered, in the order in which they did.
    form
        Its scale.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> said = make_answers([0, 0, 0, 5], [7, 7, 7, 1], [0, 1, 2, 2], [4, 4, 1, 3], ("ann", "bob", "boss"),
    ...                     kinds=("person", "person", "adjudicator"))
    >>> found = aggregate(said, load_form("pair"))
    >>> found.grade.tolist(), found.answers.tolist(), found.adjudicated.tolist()
    ([0.0, 0.5], [2, 0], [True, True])
    """
    if not len(decided):
        return found
    own = key_of(decided.image, decided.caption)
    key = distinct(np.concatenate([key_of(found.image, found.caption), own]))
    at = find(key_of(found.image, found.caption), key)
    # The last of each: rows stand in the order in which they were written.
    pair, back = np.unique(own[::-1], return_index=True)
    rating = decided.rating[::-1][back]
    place = find(key, pair)
    code = np.searchsorted(found.ratings, rating)
    grade = form.grades(rating)

    def widened(values: np.ndarray, missing: float | bool) -> np.ndarray:
        out = np.full((len(key), *values.shape[1:]), missing, dtype=values.dtype)
        out[at >= 0] = values[at[at >= 0]]
        return out

    columns: dict[str, Any] = {
        "grade": widened(found.grade, 0.0), "rating": widened(found.rating, 0.0),
        "relevance": widened(found.relevance, 0.0), "posterior": widened(found.posterior, 0.0),
        "answers": widened(found.answers, 0), "disagreement": widened(found.disagreement, np.nan),
        "gold": widened(found.gold, UNKNOWN), "to_judge": widened(found.to_judge, True),
        "adjudicated": widened(found.adjudicated, False),
    }  # fmt: skip
    columns["grade"][place], columns["rating"][place] = grade, rating
    columns["relevance"][place] = grade > 0
    columns["posterior"][place] = np.eye(len(found.ratings))[code]
    columns["adjudicated"][place] = True
    columns["to_judge"][place] = True
    image, caption = split_key(key)
    return replace(found, image=image, caption=caption, **columns)
