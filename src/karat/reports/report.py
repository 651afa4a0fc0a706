"""The report: what all sections collected, in one html file that opens without a network.

Templates escape everything; the page's policy allows its own two scripts and no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import karat
from karat._util import plural, write_file
from karat.errors import InputError, MissingDataError
from karat.reports.bundle import packed, plotly_source, safe_json, script, source_hash, styles, template
from karat.reports.material import Material
from karat.reports.section import in_order
from karat.runs import Run
from karat.scores import Comparison, Leaderboard, Scorecard

SUFFIXES = (".html", ".htm")
MOST_INLINE = 10_000


def write_report(
    found: Comparison | Scorecard | Leaderboard,
    path: str | Path,
    *,
    runs: Sequence[Run] = (),
    title: str | None = None,
    images: str | Path | None = None,
    inline_images: float = 2.0,
    command: str | None = None,
    made: datetime | None = None,
    threads: int | None = None,
) -> Path:
    """Write one html file that says what was found, and opens without a network.

    Parameters
    ----------
    found
        What `karat.compare` or `karat.evaluate` returned, or a leaderboard of numbers alone.
    path
        The file, which ends in .html.
    runs
        The runs behind it: they add the place of each first right answer, scores in smaller galleries,
        first results, and how much of them was judged.
    title
        Of the page.
    images
        The folder that image files must lie in to be shown; by default the one that the benchmark's
        own files share.
    inline_images
        How many megabytes of small pictures go into the file; further ones are linked.
    command, made
        Said in the methods: the command that made it, and when (now by default).
    threads
        For what is asked of the runs.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> board = Leaderboard(("a", "b", "c"), ("R@1", "RP"), np.array([[0.2, 0.3], [0.3, 0.2], [0.4, 0.4]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "Do the metrics agree?" in write_report(board, f"{folder}/report.html").read_text("utf-8")
    True
    """
    target = Path(path)
    check_target(target)
    if not 0 <= inline_images < MOST_INLINE:
        raise InputError(f"inline_images is {inline_images:g}", fix="give megabytes, 0 for none")
    if images is not None and not Path(images).is_dir():
        raise MissingDataError("there is no such folder", where=images, fix="give the folder of the images")
    options: dict[str, Any] = {} if made is None else {"made": made}
    material = Material(
        found, tuple(runs), title, command, target=target, images=None if images is None else Path(images),
        inline_bytes=int(inline_images * 1e6), threads=threads, **options,
    )  # fmt: skip
    text = render(material)
    # Names of files may hold bytes that are no text.
    content = text.encode("utf-8", "replace")
    write_file(target, lambda place: place.write_bytes(content))
    return target


def check_target(target: Path) -> None:
    """Raise before the work starts when the file's name says that it is something else."""
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"has the extension {target.suffix!r}", where=target, fix="name it report.html")


def render(material: Material) -> str:
    """Return the page."""
    from markupsafe import Markup

    sections: list[dict[str, Any]] = []
    for_scripts: dict[str, Any] = {"systems": material.systems}
    for section in in_order():
        data = section.collect(material)
        if data is None:
            continue
        reason = data if isinstance(data, str) else None
        sections.append({"name": section.name, "title": section.title, "short": section.short,
                         "reason": reason, "data": None if reason else data})  # fmt: skip
        if reason is None and section.scripted:
            for_scripts[section.name] = data
    pictures = for_scripts.get("queries", {}).get("thumbnails") or {}
    linked = bool(pictures.get("linked"))
    code, plotly = script(), plotly_source()
    return template("page.html", trim=True).render(
        title=title_of(material),
        sections=sections,
        linked=linked,
        policy=policy(code, plotly, linked),
        # Markup: made by karat itself, or escaped for where it stands.
        style=Markup(styles()),
        script=Markup(code),
        data=Markup(safe_json(for_scripts)),
        plotly=Markup(packed(plotly.encode("utf-8"))),
        version=karat.__version__,
        made=material.made.strftime("%Y-%m-%d"),
    )


def title_of(material: Material) -> str:
    """Return the page's title: as given, or what was done."""
    if material.title:
        return material.title
    systems = plural(len(material.systems), "system")
    if material.card is None:
        return f"{systems} by {plural(len(material.board.metrics), 'metric')}"  # type: ignore[union-attr]
    return f"{systems} on {material.card.benchmark.name}"


def policy(code: str, plotly: str, linked: bool) -> str:
    """Return the content security policy: two known scripts, pictures, nothing from any network.

    Styles may be set by scripts, since plotly does; a style runs nothing.
    """
    local = " 'self' file:" if linked else ""
    return (
        f"default-src 'none'; script-src {source_hash(code)} {source_hash(plotly)}; "
        f"style-src 'unsafe-inline'; img-src data: blob:{local}; base-uri 'none'; form-action 'none'"
    )
