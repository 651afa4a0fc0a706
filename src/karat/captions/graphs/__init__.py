"""Scene graphs of captions: the objects that they name, what these are like, and how they relate."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.captions.graphs.conventions import CONVENTIONS as CONVENTIONS
    from karat.captions.graphs.extraction import scene_graph as scene_graph
    from karat.captions.graphs.extraction import scene_graphs as scene_graphs
    from karat.captions.graphs.extraction import tag_captions as tag_captions
    from karat.captions.graphs.graph import SceneGraph as SceneGraph
    from karat.captions.graphs.tags import Tagged as Tagged
    from karat.captions.graphs.word_classes import ALWAYS_PLURAL as ALWAYS_PLURAL
    from karat.captions.graphs.word_classes import COLLECTIVE as COLLECTIVE
    from karat.captions.graphs.word_classes import DEGREES as DEGREES
    from karat.captions.graphs.word_classes import OPENERS as OPENERS
    from karat.captions.graphs.word_classes import PARTICLES as PARTICLES
    from karat.captions.graphs.word_classes import PREPOSITIONS as PREPOSITIONS
    from karat.captions.graphs.word_classes import QUANTITIES as QUANTITIES
    from karat.captions.graphs.word_classes import Lemmas as Lemmas
    from karat.captions.graphs.word_classes import lemmas as lemmas

__all__, __getattr__, __dir__ = exports(__name__, __file__)
