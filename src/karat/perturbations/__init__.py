"""Perturbations: captions with changed words, their log, and what they do to a run."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.perturbations.assessment import ROBUSTNESS_UNITS as ROBUSTNESS_UNITS
    from karat.perturbations.assessment import robustness as robustness
    from karat.perturbations.perturbation import PERTURBATIONS as PERTURBATIONS
    from karat.perturbations.perturbation import Perturbation as Perturbation
    from karat.perturbations.perturbation import register_perturbation as register_perturbation
    from karat.perturbations.perturbed_captions import PerturbedCaptions as PerturbedCaptions
    from karat.perturbations.perturbed_captions import perturb as perturb
    from karat.perturbations.robustness_report import MeasureEffect as MeasureEffect
    from karat.perturbations.robustness_report import QueryEffect as QueryEffect
    from karat.perturbations.robustness_report import Robustness as Robustness
    from karat.perturbations.wording import Replacement as Replacement
    from karat.perturbations.wording import Wording as Wording

__all__, __getattr__, __dir__ = exports(__name__, __file__)
