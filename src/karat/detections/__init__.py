"""Detections of instances, in COCO's form: their masks judged, their true AP estimated."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.estimation import estimate_detections as estimate
    from karat.estimation import simulate_detections as simulate
    from karat.project import pool_instances as pool

__all__, __getattr__, __dir__ = exports(__name__, __file__)
