"""Scene graphs of captions: the objects that they name, what these are like, and how they relate."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.captions.graphs.conventions import CONVENTIONS as CONVENTIONS
    from karat.captions.graphs.extraction import scene_graph as scene_graph
    from karat.captions.graphs.extraction import scene_graphs as scene_graphs
    from karat.captions.graphs.graph import SceneGraph as SceneGraph
    from karat.captions.graphs.parsed_captions import ParsedCaptions as ParsedCaptions
    from karat.captions.graphs.parsed_captions import parse_captions as parse_captions

__all__, __getattr__, __dir__ = exports(__name__, __file__)
