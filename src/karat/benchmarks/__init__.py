"""Judgments, truths and benchmarks, and the sources they are loaded from."""

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.ids import Ids
from karat.benchmarks.judgments import Judgments, Pairs
from karat.benchmarks.objects import Objects
from karat.benchmarks.ratings import RELEVANT, Mapping, Provenance, Share, Steps
from karat.benchmarks.saved import read_benchmark
from karat.benchmarks.saving import save_benchmark
from karat.benchmarks.sources import SOURCES, Source, add_benchmark, load_benchmark, register
from karat.benchmarks.truth import DIRECTIONS, Direction, Fold, Judged, Rule, Truth

__all__ = [
    "DIRECTIONS",
    "RELEVANT",
    "SOURCES",
    "Benchmark",
    "Direction",
    "Fold",
    "Ids",
    "Judged",
    "Judgments",
    "Mapping",
    "Objects",
    "Pairs",
    "Provenance",
    "Rule",
    "Share",
    "Source",
    "Steps",
    "Truth",
    "add_benchmark",
    "load_benchmark",
    "read_benchmark",
    "register",
    "save_benchmark",
]
