"""From several answers about a pair to one: what is published, and the ways to get there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.judging.checking.adjudication import overrule, split_adjudicated
from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.deciding import disagreement
from karat.judging.checking.grouped import group
from karat.judging.forms.form import Form
from karat.registry import Param, Registry, import_all
from karat.validation import unknown_name

if TYPE_CHECKING:
    from karat.judging.checking.aggregation.dawid_skene import Fit


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
