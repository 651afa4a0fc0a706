"""How sure can one be? Intervals, paired tests, agreement and correlation."""

from karat.stats.alpha import SCALES, krippendorff_alpha
from karat.stats.bootstrap import bootstrap_interval, paired_bootstrap
from karat.stats.correlation import Correlation, correlation, correlation_matrix
from karat.stats.estimate import Estimate
from karat.stats.holm import holm, stars
from karat.stats.intervals import Intervals
from karat.stats.kappa import cohen_kappa
from karat.stats.mcnemar import mcnemar
from karat.stats.paired import PairedTest
from karat.stats.places import place_intervals, tied_for_first, who_beats_whom
from karat.stats.randomisation import randomisation_test

__all__ = [
    "SCALES",
    "Correlation",
    "Estimate",
    "Intervals",
    "PairedTest",
    "bootstrap_interval",
    "cohen_kappa",
    "correlation",
    "correlation_matrix",
    "holm",
    "krippendorff_alpha",
    "mcnemar",
    "paired_bootstrap",
    "place_intervals",
    "randomisation_test",
    "stars",
    "tied_for_first",
    "who_beats_whom",
]
