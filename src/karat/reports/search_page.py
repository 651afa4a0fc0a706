"""A small page of pictures that were found for a sentence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import karat
from karat._util import write_file
from karat.benchmarks import common_folder
from karat.reports.bundle import template
from karat.reports.thumbnails import address, inside, shrunk


def write_search_page(target: str | Path, query: str, found: Sequence[tuple[str, str, float]]) -> Path:
    """Write one html file with the pictures that were found; it loads nothing from a network.

    Parameters
    ----------
    target
        The file.
    query
        What was looked for.
    found
        Name, file and score of each picture, the best first.
    """
    target = Path(target)
    root = common_folder([path for _, path, _ in found]).resolve()
    home = Path(os.path.abspath(target)).parent
    rows = [
        {"place": place, "name": name, "score": f"{score:.3f}", "source": source_of(root, path, home)}
        for place, (name, path, score) in enumerate(found, start=1)
    ]
    page = template("search.html").render(query=query, rows=rows, version=karat.__version__)
    write_file(target, lambda path: path.write_text(page, encoding="utf-8"))
    return target


def source_of(root: Path, path: str, home: Path) -> str | None:
    """Return a small copy as a data address, else the address of the file, else None."""
    file = inside(root, path)
    if file is None:
        return None
    small = shrunk(file)
    return address(file, home) if small is None else f"data:image/webp;base64,{small}"
