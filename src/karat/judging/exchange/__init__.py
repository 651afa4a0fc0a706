"""Tasks go out and answers come in as files of other tools: csv, jsonl, Mechanical Turk, Label Studio.

A format is one file here that registers itself with `FORMATS`.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.exchange.exporting import export_answers as export_answers
    from karat.judging.exchange.exporting import export_tasks as export_tasks
    from karat.judging.exchange.formats import FORMATS as FORMATS
    from karat.judging.exchange.formats import Format as Format
    from karat.judging.exchange.importing import Imported as Imported
    from karat.judging.exchange.importing import import_answers as import_answers

__all__, __getattr__, __dir__ = exports(__name__, __file__)
