"""Proxies: predicted probabilities that do not know the labels that they are compared with.

An estimate corrects predictions by what the drawn labels say about them. A prediction that has learned from
the very label is too good there, and the correction too small. So the pairs of an image are predicted from
the labels of other images (cross-fitting), and from those that were known before the batch was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat._util import plural, track
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.estimator import LabelEstimator
from karat.estimation.strategy import guessed
from karat.measures import Measure

ENOUGH = 2
"""A batch that comes after so many times its own number of labels is predicted from these alone."""


def folds_of(cluster: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return a fold for each query; those of one cluster share it.

    >>> fold = folds_of(np.array([0, 0, 1, 1, 2, 2]), 3, seed=0)
    >>> sorted(fold.tolist()), bool((fold[::2] == fold[1::2]).all())
    ([0, 0, 1, 1, 2, 2], True)
    """
    _, number = np.unique(cluster, return_inverse=True)
    order = np.random.default_rng([seed, 5]).permutation(int(number.max(initial=-1)) + 1)
    return order[number] % folds


def cross_fitted(
    labels: VettedLabels,
    known_from: np.ndarray,
    batch: int,
    estimator: LabelEstimator,
    measure: Measure,
    fold: np.ndarray,
    seed: int = 0,
) -> np.ndarray:
    """Return the probability of each candidate for one batch.

    Parameters
    ----------
    labels
        Everything that is known now.
    known_from
        Per vetted candidate, the number of the first batch before which its label was known.
    batch
        The number of the batch: labels that became known later are not used.
    estimator, measure
        What predicts, and for which measure.
    fold
        Per candidate.
    seed
        Of whatever is random in the estimator.
    """
    before, until = known_from <= batch, known_from <= batch + 1
    relevant = np.asarray(labels.relevant) > 0.5

    def predicted(train: np.ndarray) -> np.ndarray:
        some = VettedLabels(labels.candidates, labels.rows[train], relevant[train])
        return estimator.probabilities(some, measure, np.random.default_rng([seed, 3]))

    if before.sum() >= ENOUGH * max((until & ~before).sum(), 1):
        return guessed(predicted(before))
    out = np.empty(len(labels.candidates))
    mine = fold[labels.rows]
    for number in track(np.unique(fold), "predicting labels"):
        train = before | (until & (mine != number))
        out[fold == number] = predicted(train)[fold == number] if train.any() else np.nan
    return guessed(out)


def check_proxies(candidates: Candidates, proxies: Mapping[str, np.ndarray]) -> None:
    """Raise unless every proxy has one number for each candidate."""
    for name, values in proxies.items():
        if np.shape(values) != (len(candidates),) or not np.isfinite(values).all():
            raise InputError(
                f"the proxy {name!r} is not one finite number per candidate",
                fix=f"give a probability for each of the {plural(len(candidates), 'candidate')}",
            )
