"""What a sampling design is: pairs drawn at random, each with the known probability of being drawn."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, TypeVar

import numpy as np

from karat._util import Registry, check_choice, import_all
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.expectation import Linear, form_of
from karat.estimation.statistics import UNITS, Draw
from karat.measures import Measure, Named


class SamplingDesign(Named):
    """Draws candidates with known probabilities.

    A subclass is one file in ``karat/estimation/designs`` that registers itself.
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
    ) -> Draw:
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
        """

    def chances(
        self, candidates: Candidates, probability: np.ndarray, measure: Measure, rows: np.ndarray, n: int
    ) -> np.ndarray | None:
        """Return the inclusion probabilities of `rows` if `n` are drawn; None where they are not known."""
        return None


DESIGNS: Registry[type[SamplingDesign]] = Registry(
    "design", fill=lambda: import_all("karat.estimation.designs"), group="karat.designs"
)

D = TypeVar("D", bound=type[SamplingDesign])


def register_design(design: D) -> D:
    """Make a design known by its name and aliases; a name that is taken raises."""
    check_choice(design.unit, UNITS, "unit")
    return DESIGNS.register(design)


def run_weights(candidates: Candidates, measure: Measure) -> np.ndarray | None:
    """Return by how much each run's score rises if a candidate is relevant, [runs, candidates].

    None where that depends on the other labels: every measure but P@K and its like.

    >>> from karat.estimation import make_candidates
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
