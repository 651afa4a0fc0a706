"""Scene graphs of captions: the objects that they name, what these are like, and how they relate."""

from karat.captions.graphs.graph import SceneGraph
from karat.captions.graphs.reading import scene_graph, scene_graphs

__all__ = ["SceneGraph", "scene_graph", "scene_graphs"]
