"""File formats of runs, one small file each: what reads it and what writes it."""

from karat.registry import import_all
from karat.runs.formats.content import READERS, SHAPES, WRITERS, Content, Writer, format_of, register
from karat.runs.formats.tables import Blocks

# Each format's file registers itself; adding one touches nothing else.
import_all(__name__, __path__)

__all__ = ["READERS", "SHAPES", "WRITERS", "Blocks", "Content", "Writer", "format_of", "register"]
