"""From collected sections to one page: templates with everything escaped, scripts, styles, one policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import karat
from karat.reports.bundle import plotly_source, script, source_hash, styles
from karat.reports.material import Material
from karat.reports.packing import packed, safe_json
from karat.reports.section import in_order
from karat.reports.sections.headline import title_of

TEMPLATES = Path(__file__).parent / "templates"


def render(material: Material) -> str:
    """Return the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    shown, data = [], {}
    for one in in_order():
        found = one.collect(material)
        if found is None:
            continue
        reason = found if isinstance(found, str) else None
        if reason is None:
            data[one.name] = found
        shown.append({"name": one.name, "title": one.title, "short": one.short, "reason": reason,
                      "data": None if reason else found})  # fmt: skip
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    code, plotly = script(), plotly_source()
    return environment.get_template("page.html").render(
        title=title_of(material),
        sections=shown,
        policy=policy(code, plotly, data),
        # Markup: made by karat itself, or escaped for where it stands.
        style=Markup(styles()),
        script=Markup(code),
        data=Markup(safe_json({"systems": material.systems, **for_scripts(data)})),
        plotly=Markup(packed(plotly.encode("utf-8"))),
        version=karat.__version__,
        made=material.made.strftime("%Y-%m-%d"),
    )


def for_scripts(data: dict[str, Any]) -> dict[str, Any]:
    """Return what the scripts need: not what the page says in html already."""
    return {name: found for name, found in data.items() if name not in ("headline", "labels", "methods")}


def policy(code: str, plotly: str, data: dict[str, Any]) -> str:
    """Return the content security policy: two known scripts, pictures, nothing from any network.

    Styles may be set by scripts, since plotly does; a style runs nothing.
    """
    pictures = (data.get("queries") or {}).get("thumbnails") or {}
    local = " 'self' file:" if pictures.get("linked") else ""
    return (
        f"default-src 'none'; script-src {source_hash(code)} {source_hash(plotly)}; "
        f"style-src 'unsafe-inline'; img-src data: blob:{local}; base-uri 'none'; form-action 'none'"
    )
