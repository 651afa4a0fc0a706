"""The report: one html file with tables, plots and methods, readable without a network."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.reports.page import report as report
    from karat.reports.page import report_board as report_board
    from karat.reports.page import write_report as write_report
    from karat.reports.page_options import PageOptions as PageOptions

__all__, __getattr__, __dir__ = exports(__name__, __file__)
