"""The known-truth world: drawn pictures and captions for which every right answer is known."""

from karat.world.annotators import (
    ANSWERS,
    Annotator,
    Answers,
    adversarial,
    ask,
    average,
    careful,
    lazy,
)
from karat.world.saving import read_world, save_world
from karat.world.systems import SYSTEMS, System, simulate, simulate_systems
from karat.world.world import World, make_world

__all__ = [
    "ANSWERS",
    "SYSTEMS",
    "Annotator",
    "Answers",
    "System",
    "World",
    "adversarial",
    "ask",
    "average",
    "careful",
    "lazy",
    "make_world",
    "read_world",
    "save_world",
    "simulate",
    "simulate_systems",
]
