"""What an estimator is: from vetted labels to the probability that each other candidate is relevant."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from karat._util import Registry, import_all
from karat.estimation.candidates import VettedLabels
from karat.measures import Measure, Named


class LabelEstimator(Named):
    """Says how probable it is that each candidate is relevant; scores follow from these probabilities.

    A subclass is one file in ``karat/estimation/estimators`` that registers itself. Its parameters are
    declared as data (`params`), as those of measures are.
    """

    needs_scores: ClassVar[bool] = False
    """Whether it looks at the scores of runs, which ranked lists do not have."""
    of_run: ClassVar[bool] = False
    """Whether it looks at one run at a time: each run then has probabilities of its own."""
    recommended: ClassVar[bool] = False
    """Whether karat recommends it: it was never more than 10% worse than the sample mean in the bench."""

    @abstractmethod
    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the probability that each candidate is relevant.

        Parameters
        ----------
        labels
            What is vetted so far, with the candidates. What is returned for vetted candidates is ignored.
        measure
            What will be estimated: `labels.candidates.matter(measure)` says which candidates it looks at.
        rng
            Draws whatever is random.

        Returns
        -------
        array
            One number per candidate; NaN where the estimator has nothing to say, which leaves the query
            without an estimate.
        """


ESTIMATORS: Registry[type[LabelEstimator]] = Registry(
    "estimator",
    fill=lambda: import_all("karat.estimation.estimators"),
    sort=True,
    group="karat.estimators",
)

register_estimator = ESTIMATORS.register


def run_probabilities(
    estimator: LabelEstimator, labels: VettedLabels, measure: Measure, rng: np.random.Generator
) -> np.ndarray:
    """Return the probability that each candidate is relevant, [J], or [runs, J] where runs have their own.

    Vetted candidates have their label.
    """
    if labels.vetted.all():
        return labels.label
    if not estimator.of_run:
        return labels.filled(estimator.probabilities(labels, measure, rng))
    return np.stack(
        [
            labels.filled(estimator.probabilities(replace(labels, candidates=alone), measure, rng))
            for alone in labels.candidates.by_run.values()
        ]
    )


def shared(probability: np.ndarray) -> np.ndarray:
    """Return one probability per candidate, the mean where runs have their own."""
    return probability if probability.ndim == 1 else probability.mean(axis=0)
