"""Explanations: why the wrong item came first, where a run is weak, and what it reads of a query."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.explanations.cleaning_list import CleaningList as CleaningList
    from karat.explanations.cleaning_list import make_cleaning_list as make_cleaning_list
    from karat.explanations.concept_metrics import ConceptComparison as ConceptComparison
    from karat.explanations.concept_metrics import ConceptMetrics as ConceptMetrics
    from karat.explanations.concept_metrics import compare_concepts as compare_concepts
    from karat.explanations.concept_sources import find_concepts as find_concepts
    from karat.explanations.concepts import Concepts as Concepts
    from karat.explanations.concepts import make_concepts as make_concepts
    from karat.explanations.explained_failures import ALL as ALL
    from karat.explanations.explained_failures import INFORMED as INFORMED
    from karat.explanations.explained_failures import ExplainedFailures as ExplainedFailures
    from karat.explanations.explanation import Explanation as Explanation
    from karat.explanations.failure_analysis import explain as explain
    from karat.explanations.failure_rules import FailureRule as FailureRule
    from karat.explanations.failure_rules import RuleReport as RuleReport
    from karat.explanations.failure_rules import rules as rules
    from karat.explanations.failures import FAILURE_TIES as FAILURE_TIES
    from karat.explanations.failures import RunFailures as RunFailures
    from karat.explanations.failures import find_failures as find_failures
    from karat.explanations.fault import FAULTS as FAULTS
    from karat.explanations.fault import FaultChoices as FaultChoices
    from karat.explanations.fault import FaultFinder as FaultFinder
    from karat.explanations.fault import Faults as Faults
    from karat.explanations.image_facts import FACT_KINDS as FACT_KINDS
    from karat.explanations.local_failures import LocalFailures as LocalFailures
    from karat.explanations.marks import Marks as Marks
    from karat.explanations.marks import MarkSummary as MarkSummary
    from karat.explanations.marks import check_share as check_share
    from karat.explanations.marks import read_marks as read_marks
    from karat.explanations.marks import summarise_marks as summarise_marks
    from karat.explanations.noun_senses import MentionedConcepts as MentionedConcepts
    from karat.explanations.noun_senses import NounSenses as NounSenses
    from karat.explanations.query_words import Mentions as Mentions
    from karat.explanations.query_words import read_mentions as read_mentions
    from karat.explanations.slice_columns import SliceTable as SliceTable
    from karat.explanations.slice_columns import slice_table as slice_table
    from karat.explanations.slice_columns import slice_texts as slice_texts
    from karat.explanations.slice_kinds import SLICE_KINDS as SLICE_KINDS
    from karat.explanations.slice_kinds import SlicedQueries as SlicedQueries
    from karat.explanations.slice_kinds import SliceKind as SliceKind
    from karat.explanations.slice_kinds import register_slice_kind as register_slice_kind
    from karat.explanations.slice_report import SliceReport as SliceReport
    from karat.explanations.slice_search import Slice as Slice
    from karat.explanations.slices import find_slices as find_slices
    from karat.explanations.slices import search_slices as search_slices


__all__, __getattr__, __dir__ = exports(__name__, __file__)
