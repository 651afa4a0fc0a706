"""The statistics of estimates on plain arrays: draws, totals, intervals, sequences, rules for when to stop.

Nothing here knows of runs, benchmarks or projects: labels, predictions and probabilities come in, estimates
and intervals come out.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.estimate.statistics.boundaries import BOUNDARIES as BOUNDARIES
    from karat.estimate.statistics.boundaries import BURN_IN as BURN_IN
    from karat.estimate.statistics.boundaries import error_rate as error_rate
    from karat.estimate.statistics.boundaries import sequence_factor as sequence_factor
    from karat.estimate.statistics.boundaries import sequence_level as sequence_level
    from karat.estimate.statistics.draw import IN_OTHER_TASKS as IN_OTHER_TASKS
    from karat.estimate.statistics.draw import IN_OWN_TASKS as IN_OWN_TASKS
    from karat.estimate.statistics.draw import NOWHERE as NOWHERE
    from karat.estimate.statistics.draw import UNITS as UNITS
    from karat.estimate.statistics.draw import Draw as Draw
    from karat.estimate.statistics.draw import answered as answered
    from karat.estimate.statistics.draw import inclusion_probabilities as inclusion_probabilities
    from karat.estimate.statistics.draw import known_from as known_from
    from karat.estimate.statistics.draw import systematic as systematic
    from karat.estimate.statistics.intervals import DRAWN_METHODS as DRAWN_METHODS
    from karat.estimate.statistics.intervals import LEAST_FREE as LEAST_FREE
    from karat.estimate.statistics.intervals import TARGETS as TARGETS
    from karat.estimate.statistics.intervals import LabelEstimate as LabelEstimate
    from karat.estimate.statistics.intervals import estimate_mean as estimate_mean
    from karat.estimate.statistics.intervals import interval as interval
    from karat.estimate.statistics.intervals import spread as spread
    from karat.estimate.statistics.label_errors import answer_errors as answer_errors
    from karat.estimate.statistics.label_errors import answer_posterior as answer_posterior
    from karat.estimate.statistics.label_errors import answers_again as answers_again
    from karat.estimate.statistics.label_errors import recalibration as recalibration
    from karat.estimate.statistics.sequences import ConfidenceSequence as ConfidenceSequence
    from karat.estimate.statistics.sequences import betting_sequence as betting_sequence
    from karat.estimate.statistics.sequences import confidence_sequence as confidence_sequence
    from karat.estimate.statistics.stopping_rules import RULES as RULES
    from karat.estimate.statistics.stopping_rules import StoppingDecision as StoppingDecision
    from karat.estimate.statistics.stopping_rules import StoppingRule as StoppingRule
    from karat.estimate.statistics.stopping_rules import decide as decide
    from karat.estimate.statistics.stopping_rules import parse_rules as parse_rules
    from karat.estimate.statistics.totals import Totals as Totals
    from karat.estimate.statistics.totals import Units as Units
    from karat.estimate.statistics.totals import estimate_totals as estimate_totals
    from karat.estimate.statistics.totals import kish as kish

__all__, __getattr__, __dir__ = exports(__name__, __file__)
