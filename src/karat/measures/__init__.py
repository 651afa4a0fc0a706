"""Measures: one small registered file each, the grammar of their names, ties, readings, values in print."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat._util import Param as Param
    from karat._util import whole as whole
    from karat.measures.aggregates import MEAN as MEAN
    from karat.measures.aggregates import MEDIAN as MEDIAN
    from karat.measures.aggregates import Aggregate as Aggregate
    from karat.measures.choice import ChoiceMeasure as ChoiceMeasure
    from karat.measures.choice import ChoiceScores as ChoiceScores
    from karat.measures.choice import Compared as Compared
    from karat.measures.choice import Macro as Macro
    from karat.measures.choice import share_of_orders as share_of_orders
    from karat.measures.measure import MEASURES as MEASURES
    from karat.measures.measure import TREC_EVAL as TREC_EVAL
    from karat.measures.measure import TREC_EVAL_DEFAULTS as TREC_EVAL_DEFAULTS
    from karat.measures.measure import ColumnKey as ColumnKey
    from karat.measures.measure import Combined as Combined
    from karat.measures.measure import MeanOfBoth as MeanOfBoth
    from karat.measures.measure import Measure as Measure
    from karat.measures.measure import Named as Named
    from karat.measures.measure import parse_measure as parse_measure
    from karat.measures.measure import parse_measures as parse_measures
    from karat.measures.measure import read_arguments as read_arguments
    from karat.measures.measure import register as register
    from karat.measures.measure import trec_eval_name as trec_eval_name
    from karat.measures.names import parse_name as parse_name
    from karat.measures.ranked import Ranked as Ranked
    from karat.measures.reference import MeasureCard as MeasureCard
    from karat.measures.reference import MeasureList as MeasureList
    from karat.measures.reference import describe_all as describe_all
    from karat.measures.reference import list_measures as list
    from karat.measures.reference import show_measure as show
    from karat.measures.semantic import Semantic as Semantic
    from karat.measures.semantic_recall import SemanticRecall as SemanticRecall
    from karat.measures.ties import READINGS as READINGS
    from karat.measures.ties import TIE_POLICIES as TIE_POLICIES
    from karat.measures.ties import Reading as Reading
    from karat.measures.ties import TiePolicy as TiePolicy
    from karat.measures.ties import equal_neighbours as equal_neighbours
    from karat.measures.ties import leave_out_unjudged as leave_out_unjudged
    from karat.measures.ties import resolve as resolve
    from karat.measures.values import is_in_percent as is_in_percent
    from karat.measures.values import is_share as is_share
    from karat.measures.values import scale_value as scale_value
    from karat.measures.values import show_value as show_value

__all__, __getattr__, __dir__ = exports(__name__, __file__)
