"""File formats of runs, one small file each: what reads it and what writes it."""

from karat.runs.formats.content import READERS, SHAPES, WRITERS, Content, Writer, format_of, register
from karat.runs.formats.tables import Blocks

__all__ = ["READERS", "SHAPES", "WRITERS", "Blocks", "Content", "Writer", "format_of", "register"]
