"""What a section of the report is, and the registry that every section's file adds itself to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat._util import Registry, import_all
from karat.reports.material import Material

SectionData = dict[str, Any] | str | None
"""A section's plain data; or one sentence on why there is none; or None to leave it out silently."""


@dataclass(frozen=True)
class Section:
    """One part of the page.

    Parameters
    ----------
    name
        Of its template (``templates/sections/NAME.html``), its part of the page's data, and its anchor.
    title, short
        Its headings on the page and in the navigation.
    order
        Its position.
    scripted
        Whether the page's scripts get its data too; otherwise it is in html alone.
    collect
        From the material to plain data. Nothing but text, numbers, lists and dictionaries: what it returns
        is both rendered as html and handed to the page's scripts.
    """

    name: str
    title: str
    short: str
    order: int
    scripted: bool
    collect: Callable[[Material], SectionData]


SECTIONS: Registry[Section] = Registry("section", lambda: import_all("karat.reports.sections"))


def section(
    name: str, title: str, short: str, order: int, scripted: bool = True
) -> Callable[[Callable[[Material], SectionData]], Callable[[Material], SectionData]]:
    """Register the function below as what collects a section."""

    def add(collect: Callable[[Material], SectionData]) -> Callable[[Material], SectionData]:
        SECTIONS.add(name, Section(name, title, short, order, scripted, collect))
        return collect

    return add


def in_order() -> list[Section]:
    """Return all sections in order.

    >>> [section.name for section in in_order()][:2], in_order()[-1].name
    (['headline', 'summary'], 'methods')
    """
    return sorted(SECTIONS.values(), key=lambda section: section.order)
