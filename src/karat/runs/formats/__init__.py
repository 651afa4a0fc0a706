"""File formats of runs, one small file each: what reads it and what writes it."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.runs.formats.blocks import Blocks as Blocks
    from karat.runs.formats.blocks import rows_per_block as rows_per_block
    from karat.runs.formats.content import FOLDER as FOLDER
    from karat.runs.formats.content import READERS as READERS
    from karat.runs.formats.content import SHAPES as SHAPES
    from karat.runs.formats.content import WRITERS as WRITERS
    from karat.runs.formats.content import Content as Content
    from karat.runs.formats.content import FormatWriter as FormatWriter
    from karat.runs.formats.content import by_direction as by_direction
    from karat.runs.formats.content import format_of as format_of
    from karat.runs.formats.content import name_of as name_of
    from karat.runs.formats.content import plain as plain
    from karat.runs.formats.content import plain_path as plain_path
    from karat.runs.formats.content import register as register
    from karat.runs.formats.json import read_dictionary as read_dictionary
    from karat.runs.formats.npy import write_npy as write_npy

__all__, __getattr__, __dir__ = exports(__name__, __file__)
