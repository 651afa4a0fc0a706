"""Estimates: the score under labels that are vetted only in part, and which pairs to vet next."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.estimate.boundaries import BOUNDARIES as BOUNDARIES
    from karat.estimate.boundaries import sequence_factor as sequence_factor
    from karat.estimate.boundaries import sequence_level as sequence_level
    from karat.estimate.candidates import TIES as TIES
    from karat.estimate.candidates import Candidates as Candidates
    from karat.estimate.candidates import Ranking as Ranking
    from karat.estimate.candidates import VettedLabels as VettedLabels
    from karat.estimate.candidates import make_candidates as make_candidates
    from karat.estimate.change import expected_ap_change as expected_ap_change
    from karat.estimate.change import expected_change as expected_change
    from karat.estimate.change import printed_change as printed_change
    from karat.estimate.conformal import QueryIntervals as QueryIntervals
    from karat.estimate.conformal import query_intervals as query_intervals
    from karat.estimate.curves import CLOSE as CLOSE
    from karat.estimate.curves import Curve as Curve
    from karat.estimate.curves import Simulated as Simulated
    from karat.estimate.curves import Simulation as Simulation
    from karat.estimate.curves import spread_of as spread_of
    from karat.estimate.design import DESIGNS as DESIGNS
    from karat.estimate.design import DrawnSample as DrawnSample
    from karat.estimate.design import SamplingDesign as SamplingDesign
    from karat.estimate.design import register_design as register_design
    from karat.estimate.design import run_weights as run_weights
    from karat.estimate.estimation import DEFAULT_ESTIMATOR as DEFAULT_ESTIMATOR
    from karat.estimate.estimation import estimate_scores as estimate_scores
    from karat.estimate.estimator import ESTIMATORS as ESTIMATORS
    from karat.estimate.estimator import LabelEstimator as LabelEstimator
    from karat.estimate.estimator import register_estimator as register_estimator
    from karat.estimate.expectation import expected_ap as expected_ap
    from karat.estimate.expectation import expected_values as expected_values
    from karat.estimate.expectation import form_of as form_of
    from karat.estimate.expectation import value_draws as value_draws
    from karat.estimate.features import caption_features as caption_features
    from karat.estimate.features import judge_features as judge_features
    from karat.estimate.features import score_features as score_features
    from karat.estimate.interval_estimate import IntervalEstimate as IntervalEstimate
    from karat.estimate.interval_estimate import IntervalEstimates as IntervalEstimates
    from karat.estimate.intervals import INTERVAL_KINDS as INTERVAL_KINDS
    from karat.estimate.intervals import interval_estimates as interval_estimates
    from karat.estimate.label_errors import answer_posterior as answer_posterior
    from karat.estimate.plan import Plan as Plan
    from karat.estimate.plan_basis import PlanBasis as PlanBasis
    from karat.estimate.planned_designs import PlannedDesign as PlannedDesign
    from karat.estimate.planning import plan_vetting as plan_vetting
    from karat.estimate.project_draws import NextPairs as NextPairs
    from karat.estimate.project_draws import next_pairs as next_pairs
    from karat.estimate.project_estimate import ProjectEstimate as ProjectEstimate
    from karat.estimate.project_estimate import estimate_goal as estimate_goal
    from karat.estimate.project_estimate import estimate_project as estimate_project
    from karat.estimate.query_means import clusters_of as clusters_of
    from karat.estimate.relevance import covered_queries as covered_queries
    from karat.estimate.score_estimate import OTHERS as OTHERS
    from karat.estimate.score_estimate import TARGETS as TARGETS
    from karat.estimate.score_estimate import EstimatedColumn as EstimatedColumn
    from karat.estimate.score_estimate import ScoreEstimate as ScoreEstimate
    from karat.estimate.sequences import ConfidenceSequence as ConfidenceSequence
    from karat.estimate.sequences import betting_sequence as betting_sequence
    from karat.estimate.sequences import confidence_sequence as confidence_sequence
    from karat.estimate.simulation import METHODS as METHODS
    from karat.estimate.simulation import Method as Method
    from karat.estimate.simulation import simulate_candidates as simulate_candidates
    from karat.estimate.simulation import simulate_vetting as simulate_vetting
    from karat.estimate.stopping_rules import RULES as RULES
    from karat.estimate.stopping_rules import StoppingDecision as StoppingDecision
    from karat.estimate.stopping_rules import StoppingRule as StoppingRule
    from karat.estimate.stopping_rules import decide as decide
    from karat.estimate.stopping_rules import parse_rules as parse_rules
    from karat.estimate.strategy import STRATEGIES as STRATEGIES
    from karat.estimate.strategy import VettingStrategy as VettingStrategy
    from karat.estimate.strategy import register_strategy as register_strategy
    from karat.estimate.vetting import UNLISTED as UNLISTED
    from karat.estimate.vetting import Vetting as Vetting
    from karat.estimate.vetting import annotator_oracle as annotator_oracle
    from karat.estimate.vetting import truth_labels as truth_labels
    from karat.estimate.vetting import truth_oracle as truth_oracle
    from karat.estimate.vetting import vet as vet
    from karat.measures import parse_name as parse_name

__all__, __getattr__, __dir__ = exports(__name__, __file__)
