"""Expected values of measures under independent label probabilities.

Each row of a `Ranked` is relevant with the probability that its grade holds, independently of the others.
Items without a row are not relevant and only take up places. A query without a relevant item counts as 0.

Many measures have one of four closed forms, written with labels z:

- `Linear`: Σ w_k z_k (P@K, eq. 8 of Active testing, Nguyen et al., ICML 2018);
- `Quotient`: Σ z_k (u_k + v_k Σ_{i<k} z_i) / N, with N = Σ z_k (AP, AP@K, Recall@K);
- `FirstHit`: g of the first relevant row (R@K, MRR);
- `CutAtR`: like `Quotient`, over the first N places alone (RP, mAP@R).

Every other measure is averaged over draws of the labels. `register_form` gives a measure its form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from karat._util import threads
from karat.errors import InputError
from karat.measures import Measure, Ranked, Semantic, parse_measure

BLOCK = 1 << 22
"""How many labels are drawn at a time: 32 MB of random numbers."""
TAIL = 1e-13
"""How much an expectation may be off because the integral has too few nodes."""

Array = np.ndarray
Seed = np.random.Generator | int


class ClosedForm(ABC):
    """A measure whose expectation is a formula of the probabilities."""

    @property
    @abstractmethod
    def used(self) -> Array:
        """Per row, whether the value depends on it."""

    @abstractmethod
    def expect(self, ranked: Ranked, change: bool = False) -> tuple[Array, Array]:
        """Return E[Q] per query and, where `change` asks for it, E[Q | z = 1] − E[Q | z = 0] per row.

        The differences are meant for rows whose label is open; for others they may be anything.
        """


@dataclass(frozen=True, eq=False)
class Linear(ClosedForm):
    """Q = Σ w_k z_k."""

    weight: Array

    @property
    def used(self) -> Array:
        """Rows with a weight."""
        return self.weight > 0

    def expect(self, ranked: Ranked, change: bool = False) -> tuple[Array, Array]:
        """Return Σ w_k p_k, and the weights."""
        return ranked.sum(ranked.grade * self.weight), self.weight


@dataclass(frozen=True, eq=False)
class Quotient(ClosedForm):
    """Q = Σ z_k (own_k + pair_k Σ_{i<k} z_i) / N.

    Where N = Σ z_k is random, 1/N = ∫₀¹ t^{N−1} dt makes the expectation an integral of products over rows, a
    polynomial in t that Gauss–Legendre nodes integrate. Where N is known (`Ranked.total`), the one node t = 1
    with the weight 1/N gives E = Σ p_k (own_k + pair_k Σ_{i<k} p_i) / N, in the same loop.
    """

    own: Array
    pair: Array

    @property
    def used(self) -> Array:
        """Every row: all count in N."""
        return np.ones(len(self.own), bool)

    def expect(self, ranked: Ranked, change: bool = False) -> tuple[Array, Array]:
        """Return the sums over the nodes."""
        from karat.estimation.expectation_kernels import integrate

        values = np.empty(ranked.n_queries)
        differences = np.zeros(len(ranked.grade) if change else 0)
        rows = (ranked.ptr, ranked.grade, self.own, self.pair, *quadrature(ranked))
        with threads() as loop:
            loop(lambda b, e: integrate(*rows, b, e, values, differences), 0, ranked.n_queries)
        return values, differences


@dataclass(frozen=True, eq=False)
class FirstHit(ClosedForm):
    """Q = the gain of the first relevant row, 0 without one; gains do not rise with the place."""

    gain: Array

    @property
    def used(self) -> Array:
        """Rows with a gain: those without come last."""
        return self.gain > 0

    def expect(self, ranked: Ranked, change: bool = False) -> tuple[Array, Array]:
        """Return Σ_k g_k p_k Π_{i<k} (1 − p_i), and the same from each row on."""
        from karat.estimation.expectation_kernels import first_found

        values, differences = np.empty(ranked.n_queries), np.empty(len(ranked.grade))
        rows = (ranked.ptr, ranked.grade, self.gain)
        with threads() as loop:
            loop(lambda b, e: first_found(*rows, b, e, values, differences), 0, ranked.n_queries)
        return values, differences


@dataclass(frozen=True, eq=False)
class CutAtR(ClosedForm):
    """Q = Σ_k z_k c_k(r) (own_k + pair_k Σ_{i<k} z_i) / r.

    r is the number of relevant items N, at most `most`, and c_k(r) the chance that row k is among the
    first r.
    """

    own: Array
    pair: Array
    most: float = np.inf

    @property
    def used(self) -> Array:
        """Every row: all count in N."""
        return np.ones(len(self.own), bool)

    def expect(self, ranked: Ranked, change: bool = False) -> tuple[Array, Array]:
        """Return the sums over N, each a coefficient of a polynomial."""
        from karat.estimation.expectation_kernels import transform

        values = np.empty(ranked.n_queries)
        differences = np.zeros(len(ranked.grade) if change else 0)
        rows = (ranked.ptr, ranked.grade, ranked.start, ranked.width, self.own, self.pair, self.most)
        largest = np.ceil(most_relevant(ranked)).astype(np.int64)
        with threads() as loop:
            loop(lambda b, e: transform(*rows, largest, b, e, values, differences), 0, ranked.n_queries)
        return values, differences


FORMS: dict[str, Callable[[Ranked, Any], ClosedForm | None]] = {}
"""By the name of a measure, what returns its form; None where these places have none (ties)."""

F = TypeVar("F", bound=Callable[[Ranked, Any], ClosedForm | None])


def register_form(measure: str) -> Callable[[F], F]:
    """Register how the measure of this name is written as a form.

    >>> from karat.measures import Ranked, parse_measure
    >>> form_of(Ranked.from_places([[1, 2, 9]], [[0.5, 0.2, 0.9]], size=10), parse_measure("P@2"))
    Linear(weight=array([0.5, 0.5, 0. ]))
    """

    def register(function: F) -> F:
        if measure in FORMS:
            raise ValueError(f"{measure} has a form already")
        FORMS[measure] = function
        return function

    return register


def form_of(ranked: Ranked, measure: Measure) -> ClosedForm | None:
    """Return the form of a measure on these places; None where values can only be drawn."""
    return FORMS[measure.name](ranked, measure) if measure.name in FORMS else None


@register_form("P")
def _precision(ranked: Ranked, measure: Any) -> ClosedForm:
    return Linear(ranked.within(measure.k) / measure.k)


@register_form("Recall")
def _recall(ranked: Ranked, measure: Any) -> ClosedForm:
    return Quotient(ranked.within(measure.k), np.zeros(len(ranked.start)))


@register_form("AP")
def _average_precision(ranked: Ranked, measure: Any) -> ClosedForm | None:
    if ranked.tied:
        return None
    inverse = np.where(ranked.start < measure.depth(ranked), 1 / (ranked.start + 1), 0.0)
    return Quotient(inverse, inverse)


@register_form("R")
def _hit_rate(ranked: Ranked, measure: Any) -> ClosedForm | None:
    inside = ranked.within(measure.k)
    # Where K cuts through a tied group, the order of the group matters.
    return FirstHit(inside) if np.isin(inside, (0, 1)).all() else None


@register_form("MRR")
def _reciprocal_rank(ranked: Ranked, measure: Any) -> ClosedForm | None:
    if ranked.tied:
        return None
    return FirstHit(np.where(ranked.start < measure.depth(ranked), 1 / (ranked.start + 1), 0.0))


@register_form("RP")
def _r_precision(ranked: Ranked, measure: Any) -> ClosedForm | None:
    if ranked.total is not None:
        return None
    rows = len(ranked.start)
    return CutAtR(np.ones(rows), np.zeros(rows), np.inf if measure.cut is None else float(measure.cut))


@register_form("mAP@R")
def _map_at_r(ranked: Ranked, measure: Any) -> ClosedForm | None:
    if ranked.tied or ranked.total is not None:
        return None
    inverse = 1 / (ranked.start + 1)
    return CutAtR(inverse, inverse)


def expected_values(ranked: Ranked, measure: Measure, *, draws: int = 256, rng: Seed = 0) -> Array:
    """Return the expected value of a measure per query, its labels being independent.

    Parameters
    ----------
    ranked
        Its `grade` is the probability that the row is relevant; NaN where that is unknown. With `total`, the
        number of relevant items is known and the same for all labels.
    measure
        Its `rel` is ignored: the labels are what it would decide.
    draws, rng
        How many labels are drawn for measures without a closed form, and from which generator or seed.

    Returns
    -------
    numpy.ndarray
        One value per query; NaN where it depends on a row whose probability is unknown.

    Examples
    --------
    >>> from karat.measures import Ranked, parse_measure
    >>> ranked = Ranked.from_places([[1, 2]], [[0.5, 0.5]], size=10)
    >>> expected_values(ranked, parse_measure("P@2")).tolist()
    [0.5]

    AP is 1 if the first item is relevant, 1/2 if only the second is, and 0 if none is:

    >>> expected_values(ranked, parse_measure("AP")).round(12).tolist()
    [0.625]
    """
    form = form_of(ranked, measure)
    if form is None:
        return value_draws(ranked, measure, draws, rng).mean(axis=0)
    known, unknown = without_unknown(ranked, form.used)
    return np.where(unknown, np.nan, form.expect(known)[0])


def average_precision() -> Measure:
    """Return AP."""
    measure = parse_measure("AP")
    assert isinstance(measure, Measure)
    return measure


def without_unknown(ranked: Ranked, used: Array) -> tuple[Ranked, Array]:
    """Return the same with unknown probabilities as 0, and the queries that depend on one."""
    unknown = np.isnan(ranked.grade)
    if not unknown.any():
        return ranked, np.zeros(ranked.n_queries, bool)
    return replace(ranked, grade=np.where(unknown, 0.0, ranked.grade)), ranked.max(unknown & used) > 0


def value_draws(ranked: Ranked, measure: Measure, draws: int, rng: Seed) -> Array:
    """Return the values under labels that are drawn from the probabilities, [draws, Q].

    The same seed takes the same random numbers for the same rows, so that values change little when
    probabilities do. Queries with a row of unknown probability (NaN) are NaN.

    Examples
    --------
    >>> from karat.measures import Ranked, parse_measure
    >>> ranked = Ranked.from_places([[1, 2]], [[0.5, 1.0]], size=10)
    >>> value_draws(ranked, parse_measure("RP"), 4, rng=0).tolist()
    [[0.0], [1.0], [0.0], [0.0]]
    """
    check_drawable(measure)
    known, unknown = without_unknown(ranked, np.ones(len(ranked.grade), bool))
    blocks = [score_labels(known, measure, labels) for labels in label_draws(known.grade, draws, rng)]
    return np.where(unknown, np.nan, np.concatenate(blocks))


def check_drawable(measure: Measure) -> None:
    """Raise unless a measure's value follows from labels and is 0 where nothing is relevant."""
    if isinstance(measure, Semantic):
        raise InputError(f"{measure} looks at similarities, not at labels", fix="choose P@10, RP, AP, …")
    if measure.unit == "rank":
        raise InputError(
            f"{measure} has no expected value: without a relevant item there is no rank",
            fix="choose MRR instead",
        )


def label_draws(p: Array, draws: int, rng: Seed) -> Iterator[Array]:
    """Yield labels of 0 and 1, type uint8, [some draws, rows], in blocks of bounded memory."""
    if draws < 1:
        raise InputError(f"{draws} draws were requested", fix="give 1 or more")
    generator = np.random.default_rng(rng)
    step = max(1, BLOCK // max(1, len(p)))
    for begin in range(0, draws, step):
        yield (generator.random((min(step, draws - begin), len(p))) < p).view(np.uint8)


def score_labels(ranked: Ranked, measure: Measure, labels: Array) -> Array:
    """Return the values [D, Q] of a measure under labels [D, rows]; 0 where it has none."""
    if ranked.tied:
        # Measures expect the relevant rows of a tied group first.
        group = np.zeros(len(ranked.start), np.int64)
        group[ranked.group_first] = 1
        labels = 1 - np.sort(2 * np.cumsum(group) + 1 - labels, axis=-1) % 2
    drawn = replace(ranked, grade=labels.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.broadcast_to(measure.values(drawn), (len(labels), ranked.n_queries))
    defined = drawn.relevant > 0 if measure.of_relevance else np.isfinite(values)
    return np.where(defined, values, 0.0)


def most_relevant(ranked: Ranked) -> Array:
    """Return what N exceeds with a probability below `TAIL`, also with one label fixed as 1, per query.

    By Bernstein's inequality; at most the number of rows that may be relevant.
    """
    p = ranked.grade
    log = -np.log(TAIL)
    deviation = log / 3 + np.sqrt(log**2 / 9 + 2 * log * ranked.sum(p * (1 - p)))
    return np.minimum(ranked.sum(p) + deviation + 1, np.maximum(ranked.sum(p > 0), 1))


def quadrature(ranked: Ranked) -> tuple[Array, Array, Array]:
    """Return nodes and weights for 1/N, and where those of each query begin.

    The part of the integrand that belongs to N relevant items is t^{N−1}, times at most N. Nodes for degree
    N − 1 integrate it exactly; nodes for degree √((N − 1) ln(4N / TAIL)) to within `TAIL`, since t^{N−1} is
    that close to a polynomial of this degree (Sachdeva and Vishnoi 2014, theorem 3.3, with t = x²). What is
    lost where N exceeds `most_relevant` is at most that probability.
    """
    spread = ranked.sum(ranked.grade * (1 - ranked.grade))
    sure = ranked.sum(ranked.grade == 1) if ranked.total is None else ranked.total
    largest = most_relevant(ranked)
    degree = np.minimum(largest - 1, np.sqrt((largest - 1) * np.log(4 * largest / TAIL)))
    # Few different numbers of nodes: each is a table.
    numbers = 4 * np.ceil((degree + 1) / 8).astype(np.int64)
    known = (spread == 0) if ranked.total is None else np.ones(ranked.n_queries, bool)
    numbers[known] = 1
    first = np.r_[0, np.cumsum(numbers)]
    node, weight = np.ones(first[-1]), np.ones(first[-1])
    for number in np.unique(numbers[~known]):
        queries = np.flatnonzero((numbers == number) & ~known)
        at = first[queries][:, None] + np.arange(number)
        node[at], weight[at] = gauss_legendre(int(number))
    weight[first[:-1][known]] = np.where(sure[known] > 0, 1 / np.maximum(sure[known], 1), 0.0)
    return node, weight, first


@lru_cache(maxsize=64)
def gauss_legendre(number: int) -> tuple[Array, Array]:
    """Return an even number of nodes and weights on [0, 1], exact for polynomials of degree 2 · number − 1.

    Newton's method for the angles θ with P(cos θ) = 0. The recurrence runs over differences of polynomials
    and 1 − cos θ, which keeps the weights near the ends accurate, where t^{N−1} is large. Those of numpy are
    off by 2e-12 with 100 nodes.
    """
    angle = np.pi * (np.arange(1, number // 2 + 1) - 0.25) / (number + 0.5)
    for _ in range(6):
        short = 2 * np.sin(angle / 2) ** 2
        polynomial, step = np.ones(len(angle)), np.zeros(len(angle))
        for k in range(number):
            step = (k * step - (2 * k + 1) * short * polynomial) / (k + 1)
            polynomial = polynomial + step
        slope = number * (step - short * polynomial) / np.sin(angle)
        angle = angle - polynomial / slope
    node, weight = np.sin(angle / 2) ** 2, slope**-2
    return np.r_[node, 1 - node], np.r_[weight, weight]
