"""What a plan rests on: labels of a pilot, assumptions, or the known-truth world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels, make_candidates
from karat.estimation.estimation import DEFAULT_ESTIMATOR
from karat.estimation.estimator import ESTIMATORS, LabelEstimator
from karat.estimation.inputs import depth_of, is_cut
from karat.estimation.proxies import cross_fitted, folds_of
from karat.estimation.query_means import clusters_of
from karat.estimation.vetting import truth_labels
from karat.measures import Measure, parse_name

FOLDS = 5
FEW = 30
"""Fewer labels are too few for a pilot."""
ALIKE, ALIKE_REST = 0.4, 0.14
"""How alike labels of one query are, and what predictions leave of them: intraclass correlations in the
known-truth world, which a pilot's own are mixed with."""
LEARNING = 31.0
"""Predictions from n labels leave 1 + 31 / n times the squares that those from endless labels leave: measured
in the known-truth world, n from 60 to 1,500."""
PILOT = 300
"""From how many labels predictions are assumed to be learned, where nothing else is said."""
FEW_PLANNED = 50
"""From so many whole queries on plans came within 15% of drawn ones."""
ALIKE_WORTH = 300
"""How many pairs of labels of one query these two count as much as."""


@dataclass(frozen=True, eq=False)
class PlanBasis:
    """What a plan takes the labels to be like.

    Parameters
    ----------
    probability
        Per candidate, the probability that it is relevant.
    prevalence
        The share of relevant ones among the pairs that the measure looks at.
    rho
        The correlation of predictions with labels.
    scale
        By how much the squares of what predictions leave exceed p (1 − p).
    alike, alike_rest
        The intraclass correlation of labels of one query, and of what predictions leave of them.
    learned
        From how many labels predictions were learned, or are assumed to be.
    ranked
        Whether probabilities know the places of pairs, as those of a pilot do.
    source
        Where this comes from, in words.
    """

    probability: np.ndarray
    prevalence: float
    rho: float
    scale: float
    alike: float
    alike_rest: float
    learned: int
    ranked: bool
    source: str

    def unlearned(self, labels: float) -> float:
        """Return by how much the squares that predictions leave grow if they learn from so many labels.

        >>> basis = PlanBasis(np.full(4, 0.5), 0.5, 0.8, 1.0, 0.4, 0.1, 300, True, "By a pilot")
        >>> round(basis.unlearned(100), 3), basis.unlearned(300)
        (1.187, 1.0)
        """
        grown = (1 + LEARNING / max(labels, 1.0)) / (1 + LEARNING / self.learned)
        # At worst they are of no use.
        return min(grown, 1 / max(1 - self.rho**2, 1e-9))


def pilot_basis(
    labels: VettedLabels,
    measure: Measure,
    estimator: LabelEstimator,
    cluster: np.ndarray,
    seed: int,
    name: str,
) -> PlanBasis:
    """Learn what labels are like from some of them, every image from the labels of others."""
    candidates = labels.candidates
    p = pilot_predictions(labels, measure, estimator, cluster, seed)
    inside = candidates.matter(measure)[labels.rows]
    y, predicted = labels.relevant[inside] * 1.0, p[labels.rows[inside]]
    if len(y) < FEW:
        raise InputError(
            f"{plural(len(y), 'label')} of pairs that {measure} looks at are too few for a plan",
            where=name,
            fix=f"give {FEW}, or assume: --rho 0.6 --prevalence 0.3",
        )
    share = (y.sum() + 0.5) / (len(y) + 1)
    rest = np.mean((y - predicted) ** 2)
    scale = rest / max(np.mean(predicted * (1 - predicted)), 1e-9)
    rho = float(np.sqrt(max(1 - rest / max(share * (1 - share), 1e-9), 0.0)))
    query = candidates.query[labels.rows[inside]]
    alike, alike_rest = (
        likeness(values, query, usual) for values, usual in ((y - share, ALIKE), (y - predicted, ALIKE_REST))
    )
    source = f"By {plural(len(y), 'label')} of {name}"
    return PlanBasis(p, float(share), rho, float(scale), alike, alike_rest, len(y), True, source)


def pilot_predictions(
    labels: VettedLabels, measure: Measure, estimator: LabelEstimator, cluster: np.ndarray, seed: int
) -> np.ndarray:
    """Return per candidate what the labels of other images say."""
    fold = folds_of(cluster, FOLDS, seed)[labels.candidates.query]
    # As a batch that comes first: nothing was known before it.
    return cross_fitted(labels, np.ones(len(labels), np.int64), 0, estimator, measure, fold, seed)


def likeness(values: np.ndarray, group: np.ndarray, usual: float) -> float:
    """Return the intraclass correlation of centred values, drawn towards a usual one where pairs are few.

    >>> round(likeness(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]), usual=0.0), 3)
    0.007
    """
    size = np.bincount(group)
    pairs = float((size * (size - 1)).sum())
    products = float((np.bincount(group, values) ** 2).sum() - (values**2).sum())
    mean_square = max(float((values**2).mean()), 1e-12)
    own = products / mean_square
    return float(np.clip((own + 2 * ALIKE_WORTH * usual) / (pairs + 2 * ALIKE_WORTH), 0.0, 1.0))


def pilot_notes(labels: VettedLabels, measure: Measure) -> list[str]:
    """Return what a reader should know about a pilot."""
    inside = int(labels.candidates.matter(measure)[labels.rows].sum())
    notes = [f"with fewer than 100 labels, or {FEW_PLANNED} whole queries, a plan may be a third off"]
    if inside < 100:
        notes.append(f"the plan rests on {plural(inside, 'label')}, which is few: plan again after 100")
    return [*notes, "a plan holds if the pilot's pairs were drawn at random"]


def assumed_basis(
    candidates: Candidates,
    measure: Measure,
    prevalence: float | None,
    rho: float | None,
    seed: int,
    source: str,
) -> PlanBasis:
    """Draw probabilities with a given mean that correlate with labels by `rho`."""
    share, correlation = 0.5 if prevalence is None else prevalence, rho or 0.0
    p = binormal_probabilities(share, correlation, len(candidates), np.random.default_rng([seed, 17]))
    return PlanBasis(p, share, correlation, 1.0, ALIKE, ALIKE_REST, PILOT, False, source)


def binormal_probabilities(share: float, rho: float, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draw calibrated probabilities with a given mean that correlate with labels by `rho`.

    A score is normal with the mean δ for relevant pairs and 0 for others, and p is what it says about a pair:
    the binormal model of ROC curves. δ is chosen so that Var(p) = ρ² P (1 − P).

    >>> p = binormal_probabilities(0.3, 0.8, 100_000, np.random.default_rng(0))
    >>> round(float(p.mean()), 2), round(float(p.std() / np.sqrt(0.21)), 2)
    (0.3, 0.8)
    """
    if rho <= 0:
        return np.full(number, share)
    from scipy.special import expit, logit, ndtri

    level = ndtri((np.arange(2000) + 0.5) / 2000)

    def posterior(apart: float, score: np.ndarray) -> np.ndarray:
        return expit(logit(share) + apart * (score - apart / 2))

    low, high = 0.0, 50.0
    for _ in range(60):
        apart = (low + high) / 2
        # E p (1 − p) = P E(1 − p | relevant), since p is calibrated.
        left = np.mean(1 - posterior(apart, level + apart)) / (1 - share)
        low, high = (apart, high) if left > 1 - rho**2 else (low, apart)
    return posterior(apart, rng.normal(size=number) + apart * (rng.random(number) < share))


def assumed_notes(world: bool, rho: float | None, prevalence: float | None) -> list[str]:
    """Return what a reader should know about assumptions."""
    notes = [
        "labels of one query are taken to be as alike as in the known-truth world",
        "planned without labels, gaps of two runs come out too wide, by a third and more",
    ]
    if world:
        return [*notes, "your pictures are not those of the world: label 100 pairs and plan again, --pilot"]
    missing = [name for name, value in (("rho", rho), ("prevalence", prevalence)) if value is None]
    if missing:
        names = " and ".join(missing)
        notes.append(
            f"{names} not given, so that the worst is assumed: label 100 pairs and plan again, --pilot"
        )
    return notes


def world_basis(measure: Measure, depth: int, seed: int) -> tuple[float, float]:
    """Return the share of relevant pairs and the correlation of predictions in the known-truth world."""
    from karat.world import make_world, simulate_systems

    made = make_world(images=200, captions=2, seed=seed)
    bench = made.benchmark()
    pairs = make_candidates(
        simulate_systems(made, seed)[1:3], bench, "original", direction="t2i",
        depth=depth_of([measure], depth), noisy_positives=not is_cut(measure),
    )  # fmt: skip
    label = truth_labels(pairs, bench.truth("complete"), unlisted="no")
    inside = np.flatnonzero(pairs.matter(measure))
    rows = np.random.default_rng([seed, 18]).choice(inside, PILOT, replace=False)
    some = VettedLabels(pairs, rows, label[rows] > 0)
    p = pilot_predictions(
        some, measure, parse_name(DEFAULT_ESTIMATOR, ESTIMATORS), clusters_of(bench, pairs), seed
    )
    share, left = label[inside].mean(), np.mean((label - p)[inside] ** 2)
    return float(share), float(np.sqrt(max(1 - left / (share * (1 - share)), 0.0)))
