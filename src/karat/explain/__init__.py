"""Explanations: why the wrong item came first, where a run is weak, and what it reads of a query."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.explain.assessment import ROBUSTNESS_UNITS as ROBUSTNESS_UNITS
    from karat.explain.assessment import assess_robustness as assess_robustness
    from karat.explain.cleaning_list import CleaningList as CleaningList
    from karat.explain.cleaning_list import make_cleaning_list as make_cleaning_list
    from karat.explain.concept_metrics import RELATIVE_TO as RELATIVE_TO
    from karat.explain.concept_metrics import ConceptComparison as ConceptComparison
    from karat.explain.concept_metrics import ConceptMetrics as ConceptMetrics
    from karat.explain.concept_metrics import compare_concepts as compare_concepts
    from karat.explain.concept_sources import find_concepts as find_concepts
    from karat.explain.concepts import Concepts as Concepts
    from karat.explain.concepts import make_concepts as make_concepts
    from karat.explain.explained_failures import ALL as ALL
    from karat.explain.explained_failures import INFORMED as INFORMED
    from karat.explain.explained_failures import ExplainedFailures as ExplainedFailures
    from karat.explain.explanation import Explanation as Explanation
    from karat.explain.failure_analysis import explain_failures as explain_failures
    from karat.explain.failures import FAILURE_TIES as FAILURE_TIES
    from karat.explain.failures import RunFailures as RunFailures
    from karat.explain.failures import find_failures as find_failures
    from karat.explain.fault import FAULTS as FAULTS
    from karat.explain.fault import FaultChoices as FaultChoices
    from karat.explain.fault import FaultFinder as FaultFinder
    from karat.explain.fault import Faults as Faults
    from karat.explain.image_facts import FACT_KINDS as FACT_KINDS
    from karat.explain.image_facts import ImageFacts as ImageFacts
    from karat.explain.image_facts import make_facts as make_facts
    from karat.explain.local_failures import LocalFailures as LocalFailures
    from karat.explain.marks import Marks as Marks
    from karat.explain.marks import MarkSummary as MarkSummary
    from karat.explain.marks import check_share as check_share
    from karat.explain.marks import read_marks as read_marks
    from karat.explain.marks import summarise_marks as summarise_marks
    from karat.explain.neighbours import neighbour_scores as neighbour_scores
    from karat.explain.noun_senses import MentionedConcepts as MentionedConcepts
    from karat.explain.noun_senses import NounSenses as NounSenses
    from karat.explain.perturbation import PERTURBATIONS as PERTURBATIONS
    from karat.explain.perturbation import Perturbation as Perturbation
    from karat.explain.perturbation import register_perturbation as register_perturbation
    from karat.explain.perturbed_captions import PerturbedCaptions as PerturbedCaptions
    from karat.explain.perturbed_captions import perturb_captions as perturb_captions
    from karat.explain.query_file import read_queries as read_queries
    from karat.explain.query_file import write_queries as write_queries
    from karat.explain.query_words import Mentions as Mentions
    from karat.explain.query_words import read_mentions as read_mentions
    from karat.explain.robustness import MeasureEffect as MeasureEffect
    from karat.explain.robustness import QueryEffect as QueryEffect
    from karat.explain.robustness import Robustness as Robustness
    from karat.explain.rules import FailureRule as FailureRule
    from karat.explain.rules import RuleReport as RuleReport
    from karat.explain.rules import find_rules as find_rules
    from karat.explain.slice_columns import SliceTable as SliceTable
    from karat.explain.slice_columns import slice_table as slice_table
    from karat.explain.slice_columns import slice_texts as slice_texts
    from karat.explain.slice_kinds import SLICE_KINDS as SLICE_KINDS
    from karat.explain.slice_kinds import SlicedQueries as SlicedQueries
    from karat.explain.slice_kinds import SliceKind as SliceKind
    from karat.explain.slice_kinds import register_slice_kind as register_slice_kind
    from karat.explain.slice_report import SliceReport as SliceReport
    from karat.explain.slice_search import Slice as Slice
    from karat.explain.slices import find_slices as find_slices
    from karat.explain.slices import search_slices as search_slices
    from karat.explain.word_changes import PerturbedQuery as PerturbedQuery
    from karat.explain.word_changes import WordChange as WordChange
    from karat.explain.wording import Replacement as Replacement
    from karat.explain.wording import Wording as Wording
    from karat.explain.wording import read_wordings as read_wordings

__all__, __getattr__, __dir__ = exports(__name__, __file__)
