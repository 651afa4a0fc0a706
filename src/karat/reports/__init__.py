"""The report: one html file with tables, plots and methods, readable without a network."""

from karat.reports.writing import write_report

__all__ = ["write_report"]
