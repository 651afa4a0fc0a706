"""Boards: scores of models that somebody published, shown and compared."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.reports import report_board as report
    from karat.scores import correlate as correlate

__all__, __getattr__, __dir__ = exports(__name__, __file__)
