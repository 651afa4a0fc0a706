"""How sure can one be? Intervals, paired tests, agreement and correlation."""

from karat.stats.bootstrap import bootstrap_interval, paired_bootstrap
from karat.stats.estimate import Estimate
from karat.stats.holm import holm, stars
from karat.stats.intervals import Intervals
from karat.stats.mcnemar import mcnemar
from karat.stats.paired import PairedTest
from karat.stats.places import place_intervals, tied_for_first, who_beats_whom
from karat.stats.randomisation import randomisation_test

__all__ = [
    "Estimate",
    "Intervals",
    "PairedTest",
    "bootstrap_interval",
    "holm",
    "mcnemar",
    "paired_bootstrap",
    "place_intervals",
    "randomisation_test",
    "stars",
    "tied_for_first",
    "who_beats_whom",
]
