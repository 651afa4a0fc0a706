"""The statistics of estimates on plain arrays: draws, totals, intervals, sequences, rules for when to stop.

Nothing here knows of runs, benchmarks or projects: labels, predictions and probabilities come in, estimates
and intervals come out.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.estimation.statistics.boundaries import BURN_IN as BURN_IN
    from karat.estimation.statistics.boundaries import error_rate as error_rate
    from karat.estimation.statistics.boundaries import sequence_factor as sequence_factor
    from karat.estimation.statistics.boundaries import sequence_level as sequence_level
    from karat.estimation.statistics.draw import IN_OTHER_TASKS as IN_OTHER_TASKS
    from karat.estimation.statistics.draw import IN_OWN_TASKS as IN_OWN_TASKS
    from karat.estimation.statistics.draw import NOWHERE as NOWHERE
    from karat.estimation.statistics.draw import UNITS as UNITS
    from karat.estimation.statistics.draw import Draw as Draw
    from karat.estimation.statistics.draw import answered as answered
    from karat.estimation.statistics.draw import drawn_in_strata as drawn_in_strata
    from karat.estimation.statistics.draw import inclusion_probabilities as inclusion_probabilities
    from karat.estimation.statistics.draw import known_from as known_from
    from karat.estimation.statistics.draw import systematic as systematic
    from karat.estimation.statistics.label_errors import answer_errors as answer_errors
    from karat.estimation.statistics.label_errors import answer_posterior as answer_posterior
    from karat.estimation.statistics.label_errors import answers_again as answers_again
    from karat.estimation.statistics.label_errors import recalibration as recalibration
    from karat.estimation.statistics.sequences import ConfidenceSequence as ConfidenceSequence
    from karat.estimation.statistics.sequences import betting_sequence as betting_sequence
    from karat.estimation.statistics.sequences import confidence_sequence as confidence_sequence
    from karat.estimation.statistics.stopping_rules import RULES as RULES
    from karat.estimation.statistics.stopping_rules import StoppingDecision as StoppingDecision
    from karat.estimation.statistics.stopping_rules import StoppingRule as StoppingRule
    from karat.estimation.statistics.stopping_rules import decide as decide
    from karat.estimation.statistics.stopping_rules import parse_rules as parse_rules
    from karat.estimation.statistics.total_intervals import DRAWN_METHODS as DRAWN_METHODS
    from karat.estimation.statistics.total_intervals import LEAST_FREE as LEAST_FREE
    from karat.estimation.statistics.total_intervals import TARGETS as TARGETS
    from karat.estimation.statistics.total_intervals import LabelEstimate as LabelEstimate
    from karat.estimation.statistics.total_intervals import estimate_mean as estimate_mean
    from karat.estimation.statistics.total_intervals import interval as interval
    from karat.estimation.statistics.total_intervals import spread as spread
    from karat.estimation.statistics.totals import Totals as Totals
    from karat.estimation.statistics.totals import Units as Units
    from karat.estimation.statistics.totals import estimate_totals as estimate_totals

__all__, __getattr__, __dir__ = exports(__name__, __file__)
