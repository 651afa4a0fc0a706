"""What a sampling design is: pairs drawn at random, each with the known probability of being drawn.

Labels that were chosen greedily say nothing about the others. Labels that were drawn do, whatever the model
that chose the probabilities is worth: a label that had the chance π stands for 1/π pairs. So every drawn pair
is kept with its π, and intervals follow from the draws alone (`karat.estimate.intervals`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from karat._util import Registry, check_choice, import_all
from karat.errors import InputError
from karat.estimate.candidates import Candidates, VettedLabels
from karat.estimate.expectation import Linear, form_of
from karat.measures import Measure, Named

UNITS = ("pair", "query")
"""What a design draws as a whole."""
NOWHERE, IN_OTHER_TASKS, IN_OWN_TASKS = -1, 0, 1
"""Where the label of a drawn pair is asked for."""


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """One batch of candidates that a design has drawn.

    Parameters
    ----------
    rows
        The drawn candidates, by number.
    probability
        Of each of them, the probability with which this batch had to hold it: its inclusion probability,
        given what had been drawn before.
    stratum
        The part of the frame in which it was drawn with a fixed number of others; −1 where there are no
        parts.
    query
        The number of the query that was drawn as a whole; −1 where pairs are drawn.
    design
        The name of the design.
    frame
        The version of the candidates from which it was drawn: a pool that grows gets a new number.
    asked
        Where its label is asked for: IN_OWN_TASKS, IN_OTHER_TASKS, or NOWHERE, if it was known without a
        task, as that of gold. Those of one kind are answered in random order, one kind maybe before the
        other. All are in the batch's own tasks by default.

    Examples
    --------
    >>> rows = np.array([4, 7])
    >>> DrawnSample(rows, np.array([0.1, 0.2]), np.array([-1, -1]), np.array([-1, -1]), "uniform")
    DrawnSample(2 pairs by uniform)
    """

    rows: np.ndarray
    probability: np.ndarray
    stratum: np.ndarray
    query: np.ndarray
    design: str
    frame: int = 0
    asked: np.ndarray | None = None

    def __post_init__(self) -> None:
        sizes = {len(values) for values in (self.rows, self.probability, self.stratum, self.query)}
        if len(sizes) > 1:
            raise InputError("the columns of a drawn sample differ in length", fix="give one entry per pair")
        if not ((self.probability > 0) & (self.probability <= 1)).all():
            raise InputError(
                "an inclusion probability is not above 0 and at most 1",
                fix="give the probability with which each pair was drawn",
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"DrawnSample({len(self):,} pairs by {self.design})"

    @property
    def unit(self) -> str:
        """What was drawn as a whole: "pair" or "query"."""
        return UNITS[int(len(self) > 0 and (self.query >= 0).all())]


class SamplingDesign(Named):
    """Draws candidates with known probabilities.

    A subclass is one file in ``karat/estimate/designs`` that registers itself.
    """

    unit: ClassVar[str] = "pair"  # type: ignore[assignment]
    """What is drawn as a whole: "pair" or "query"."""
    least_runs: ClassVar[int] = 1
    """How many runs it needs."""

    @abstractmethod
    def draw(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
        frame: int = 0,
    ) -> DrawnSample:
        """Draw at most `n` different candidates out of `open_rows`.

        Parameters
        ----------
        labels
            What is vetted so far, with the candidates.
        probability
            Per candidate, the probability that it is relevant, as the estimator sees it now. Wrong ones cost
            width, never coverage.
        measure
            What is estimated.
        open_rows
            The candidates that are not drawn yet and that the measure looks at.
        n
            How many pairs; never exceeded.
        rng
            Draws.
        frame
            The number that the sample gets as its frame.
        """

    def chances(
        self, candidates: Candidates, probability: np.ndarray, measure: Measure, rows: np.ndarray, n: int
    ) -> np.ndarray | None:
        """Return the inclusion probabilities of `rows` if `n` are drawn; None where they are not known."""
        return None

    def sample(
        self, rows: np.ndarray, probability: np.ndarray, frame: int, stratum: np.ndarray | None = None
    ) -> DrawnSample:
        """Return drawn pairs as a sample."""
        none = np.full(len(rows), -1)
        return DrawnSample(rows, probability, none if stratum is None else stratum, none, str(self), frame)


DESIGNS: Registry[type[SamplingDesign]] = Registry(
    "design", fill=lambda: import_all("karat.estimate.designs")
)

D = TypeVar("D", bound=type[SamplingDesign])


def register_design(design: D) -> D:
    """Make a design known by its name and aliases; a name that is taken raises."""
    check_choice(design.unit, UNITS, "unit")
    DESIGNS.add(design.name, design, design.aliases)
    return design


def run_weights(candidates: Candidates, measure: Measure) -> np.ndarray | None:
    """Return by how much each run's score rises if a candidate is relevant, [runs, candidates].

    None where that depends on the other labels: every measure but P@K and its like.

    >>> from karat.estimate import make_candidates
    >>> from karat.measures import parse_measure
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> candidates = make_candidates(simulate_systems(world)[:2], world.benchmark(), "original",
    ...     direction="t2i", depth=10)
    >>> run_weights(candidates, parse_measure("P@10")).sum(axis=1).round(9).tolist()
    [1.0, 1.0]
    """
    weights = np.zeros((len(candidates.runs), len(candidates)))
    for weight, ranking in zip(weights, candidates.rankings.values()):
        form = form_of(ranking.ranked, measure)
        if not isinstance(form, Linear):
            return None
        weight[ranking.row] = form.weight / len(candidates.queries)
    return weights


def pair_weights(candidates: Candidates, measure: Measure, design: SamplingDesign) -> np.ndarray:
    """Return the weights of every run, or raise where pairs may not be drawn one by one."""
    weights = run_weights(candidates, measure)
    if weights is None:
        raise InputError(
            f"{design} draws single pairs, and {measure} depends on all labels of a query together",
            fix="draw whole queries: --design whole-queries",
        )
    return weights


def inclusion_probabilities(size: np.ndarray, n: int) -> np.ndarray:
    """Return probabilities proportional to `size` that add up to `n`, none above 1.

    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0, 8.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    n = min(n, len(size))
    out = np.ones(len(size))
    rest = np.arange(len(size))
    while n < len(size):
        out[rest] = size[rest] * ((n - (len(size) - len(rest))) / size[rest].sum())
        above = out[rest] >= 1
        if not above.any():
            break
        out[rest[above]] = 1.0
        rest = rest[~above]
    return out


def systematic(probability: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw by the given probabilities; the number drawn is their sum, which is whole.

    Randomised systematic sampling (Hartley and Rao 1962): the units are put in random order on a line, each
    as long as its probability, and every unit that a point hits is drawn; points lie 1 apart.

    >>> systematic(np.array([0.5, 0.5, 1.0]), np.random.default_rng(0)).tolist()
    [1, 2]
    """
    order = rng.permutation(len(probability))
    end = np.cumsum(probability[order])
    # The sum is whole but for rounding.
    end *= round(end[-1]) / end[-1] if len(end) else 1.0
    hits = np.floor(end + rng.random())
    return np.sort(order[np.diff(hits, prepend=0.0) > 0])
