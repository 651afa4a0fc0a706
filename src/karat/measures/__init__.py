"""Measures: one small registered file each, the grammar of their names, ties and readings."""

from karat.measures.measure import MEASURES, Combined, Measure, Named, Part, register
from karat.measures.names import parse_measure, parse_measures
from karat.measures.ranked import Ranked
from karat.measures.ties import READINGS, TIE_POLICIES
from karat.registry import Param, import_all

# Each measure's file registers itself; adding one touches nothing else.
import_all(__name__)

__all__ = [
    "MEASURES",
    "READINGS",
    "TIE_POLICIES",
    "Combined",
    "Measure",
    "Named",
    "Param",
    "Part",
    "Ranked",
    "parse_measure",
    "parse_measures",
    "register",
]
