"""Estimates: the score under labels that are vetted only in part, and which pairs to vet next."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.estimate.candidates import TIES as TIES
    from karat.estimate.candidates import Candidates as Candidates
    from karat.estimate.candidates import Ranking as Ranking
    from karat.estimate.candidates import VettedLabels as VettedLabels
    from karat.estimate.candidates import covered_queries as covered_queries
    from karat.estimate.candidates import make_candidates as make_candidates
    from karat.estimate.change import expected_ap_change as expected_ap_change
    from karat.estimate.change import expected_change as expected_change
    from karat.estimate.change import printed_change as printed_change
    from karat.estimate.estimation import DEFAULT_ESTIMATOR as DEFAULT_ESTIMATOR
    from karat.estimate.estimation import OTHERS as OTHERS
    from karat.estimate.estimation import TARGETS as TARGETS
    from karat.estimate.estimation import EstimatedColumn as EstimatedColumn
    from karat.estimate.estimation import ScoreEstimate as ScoreEstimate
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
    from karat.estimate.names import parse_name as parse_name
    from karat.estimate.simulation import CLOSE as CLOSE
    from karat.estimate.simulation import METHODS as METHODS
    from karat.estimate.simulation import Curve as Curve
    from karat.estimate.simulation import Method as Method
    from karat.estimate.simulation import Simulated as Simulated
    from karat.estimate.simulation import Simulation as Simulation
    from karat.estimate.simulation import simulate_candidates as simulate_candidates
    from karat.estimate.simulation import simulate_vetting as simulate_vetting
    from karat.estimate.simulation import spread_of as spread_of
    from karat.estimate.strategy import STRATEGIES as STRATEGIES
    from karat.estimate.strategy import VettingStrategy as VettingStrategy
    from karat.estimate.strategy import register_strategy as register_strategy
    from karat.estimate.vetting import UNLISTED as UNLISTED
    from karat.estimate.vetting import Vetting as Vetting
    from karat.estimate.vetting import annotator_oracle as annotator_oracle
    from karat.estimate.vetting import truth_oracle as truth_oracle
    from karat.estimate.vetting import vet as vet

__all__, __getattr__, __dir__ = exports(__name__, __file__)
