"""The known-truth world: drawn pictures and captions for which every right answer is known."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.world.annotators import ANSWERS as ANSWERS
    from karat.world.annotators import Annotator as Annotator
    from karat.world.annotators import Answers as Answers
    from karat.world.annotators import adversarial as adversarial
    from karat.world.annotators import ask as ask
    from karat.world.annotators import average as average
    from karat.world.annotators import careful as careful
    from karat.world.annotators import lazy as lazy
    from karat.world.annotators import right_answers as right_answers
    from karat.world.readers import read_meanings as read_meanings
    from karat.world.readers import simulate_reader as simulate_reader
    from karat.world.systems import SYSTEMS as SYSTEMS
    from karat.world.systems import System as System
    from karat.world.systems import simulate as simulate
    from karat.world.systems import simulate_systems as simulate_systems
    from karat.world.world import World as World
    from karat.world.world import WorldSummary as WorldSummary
    from karat.world.world import make_world as make_world
    from karat.world.world import read_world as read_world
    from karat.world.world import save_world as save_world
    from karat.world.world_folder import make as make
    from karat.world.wrong_captions import WrongCaptions as WrongCaptions
    from karat.world.wrong_captions import plant_wrong_captions as plant_wrong_captions

__all__, __getattr__, __dir__ = exports(__name__, __file__)
