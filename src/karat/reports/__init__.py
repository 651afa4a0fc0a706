"""The report: one html file with tables, plots and methods, readable without a network."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.reports.boards import marked_low as marked_low
    from karat.reports.page import check_page as check_page
    from karat.reports.page import check_target as check_target
    from karat.reports.page import report as report
    from karat.reports.page import write_report as write_report
    from karat.reports.search_page import write_search_page as write_search_page

__all__, __getattr__, __dir__ = exports(__name__, __file__)
