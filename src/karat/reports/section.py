"""What a section of the report is, and the registry that every section's file adds itself to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from karat._util import Registry, import_all

SectionData = dict[str, Any] | str | None
"""A section's plain data; or one sentence on why there is none; or None to leave it out silently."""


@dataclass(frozen=True)
class Section:
    """One part of the page.

    Parameters
    ----------
    name
        Its part of the page's data, its anchor, and its template: ``templates/sections/NAME.html``.
    title, short
        Its headings on the page and in the navigation.
    order
        Its position.
    scripted
        Whether the page's scripts get its data too; otherwise it is in html alone.
    collect
        From the material to plain data. Nothing but text, numbers, lists and dictionaries: what it returns
        is both rendered as html and handed to the page's scripts.
    pages
        The pages that it is a part of: "report", "estimate", "simulation", "failures".
    template
        The Jinja template itself, for a section of a plug-in: it is given ``title`` and ``data``, and what it
        shows of them is escaped.
    """

    name: str
    title: str
    short: str
    order: int
    scripted: bool
    collect: Callable[[Any], SectionData]
    pages: tuple[str, ...] = ("report",)
    template: str = ""


C = TypeVar("C", bound=Callable[[Any], SectionData])

SECTIONS: Registry[Section] = Registry(
    "section", fill=lambda: import_all("karat.reports.sections"), group="karat.report_sections"
)


def section(
    name: str,
    title: str,
    short: str,
    order: int,
    scripted: bool = True,
    pages: Sequence[str] = ("report",),
    template: str = "",
) -> Callable[[C], C]:
    """Register the function below as what collects a section."""

    def add(collect: C) -> C:
        SECTIONS.add(name, Section(name, title, short, order, scripted, collect, tuple(pages), template))
        return collect

    return add


def in_order(page: str = "report") -> list[Section]:
    """Return all sections of a page in order.

    >>> [section.name for section in in_order()][:2], in_order()[-1].name
    (['headline', 'summary'], 'methods')
    """
    return sorted(
        (section for section in SECTIONS.values() if page in section.pages), key=lambda section: section.order
    )
