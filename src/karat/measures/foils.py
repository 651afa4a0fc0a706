"""Measures of foils, captions with an error: is each caption taken for right or wrong by itself?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param
from karat.measures.choice import ChoiceMeasure, ChoiceScores
from karat.measures.measure import register

THRESHOLD = Param("t", float, "scores above it say that a caption fits: a probability", 0.5)
VALSE = "Parcalabescu et al. 2022, section 5"


class Thresholded(ChoiceMeasure):
    """The share of captions on the right side of a threshold."""

    params = (THRESHOLD,)
    source = VALSE
    t: float
    sides: ClassVar[tuple[bool, ...]]
    """Of which captions: those that fit, those that do not."""

    def values(self, choices: ChoiceScores) -> np.ndarray:
        """Return the mean over the sides of the share of right decisions."""
        shares = []
        for fits in self.sides:
            cells = choices.known & (choices.correct == fits)
            right = cells & ((choices.scores > self.t) == fits)
            with np.errstate(invalid="ignore"):
                shares.append(right.sum(axis=(1, 2)) / cells.sum(axis=(1, 2)))
        return np.mean(shares, axis=0)

    def chance(self, choices: ChoiceScores) -> np.ndarray:
        """Return one half where both sides count; one side alone is won by always saying the same."""
        return np.full(len(choices.scores), 0.5 if len(self.sides) > 1 else np.nan)


@register
class Detection(Thresholded):
    """Accuracy of telling captions from foils, one by one.

    >>> one = np.array([[[0.9, 0.7]]])
    >>> Detection().values(ChoiceScores(one, np.array([[[True, False]]]), one > 0)).tolist()
    [0.5]
    """

    name = "acc"
    sides = (True, False)
    formula = "(p_c + p_f) / 2"
    plain = "captions and foils told apart one by one"


@register
class CaptionPrecision(Thresholded):
    """The share of captions that are taken for right."""

    name = "p_c"
    sides = (True,)
    formula = "share of captions that fit with a score above t"
    plain = "right captions taken for right"


@register
class FoilPrecision(Thresholded):
    """The share of foils that are taken for wrong."""

    name = "p_f"
    sides = (False,)
    formula = "share of captions that do not fit with a score of t or less"
    plain = "wrong captions taken for wrong"


@register
class RocArea(ChoiceMeasure):
    """Area under the ROC curve: a caption of any example scores higher than a foil of any example.

    Equal scores count one half. Values per example are DeLong's: the area of the example's captions among
    all foils, plus that of its foils among all captions, minus the area; their mean is the area, and their
    spread that of the area over examples.

    >>> two = np.array([[[0.9, 0.3]], [[0.6, 0.7]]])
    >>> RocArea().values(ChoiceScores(two, np.array([[[True, False]]] * 2), two > 0)).mean().item()
    0.75
    """

    name = "AUROC"
    of_texts = True
    formula = "P(s(i, c) > s(i′, c′)) + P(s(i, c) = s(i′, c′)) / 2, c fits i and c′ does not fit i′"
    source = f"{VALSE}; DeLong et al. 1988"
    plain = "right captions score higher than foils of any example"

    def values(self, choices: ChoiceScores) -> np.ndarray:
        """Return DeLong's values per example."""
        fits, foils = choices.known & choices.correct, choices.known & ~choices.correct
        areas = []
        for own, others, sign in ((fits, foils, 1.0), (foils, fits, -1.0)):
            ranked = np.sort(sign * choices.scores[others])
            scores = sign * choices.scores[own]
            below = np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")
            weight = np.bincount(np.nonzero(own)[0], below / 2 / len(ranked), len(own))
            # Each example counts by how many captions it has, so that the mean is the area.
            areas.append(weight * len(own) / own.sum())
        return areas[0] + areas[1] - areas[0].mean()

    def chance(self, choices: ChoiceScores) -> np.ndarray:
        """Return one half."""
        return np.full(len(choices.scores), 0.5)
