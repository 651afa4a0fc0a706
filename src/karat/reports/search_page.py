"""A small page of pictures that were found for a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import karat
from karat._util import PAGES, write_file
from karat.benchmarks import common_folder
from karat.models import SearchResult
from karat.reports.bundle import template
from karat.reports.thumbnails import address, inside, shrunk


def write_search_page(found: SearchResult, target: str | Path) -> Path:
    """Write one html file with the pictures that were found; it loads nothing from a network.

    Parameters
    ----------
    found
        What `karat.search` returned.
    target
        The file.
    """
    target = Path(target)
    hits = [(hit.name, hit.path, hit.score) for hit in found.hits]
    root = common_folder([path for _, path, _ in hits]).resolve()
    home = Path(os.path.abspath(target)).parent
    rows = [
        {"place": place, "name": name, "score": f"{score:.3f}", "source": source_of(root, path, home)}
        for place, (name, path, score) in enumerate(hits, start=1)
    ]
    page = template("search.html").render(query=found.query, rows=rows, version=karat.__version__)
    write_file(target, lambda path: path.write_text(page, encoding="utf-8"))
    return target


def source_of(root: Path, path: str, home: Path) -> str | None:
    """Return a small copy as a data address, else the address of the file, else None."""
    file = inside(root, path)
    if file is None:
        return None
    small = shrunk(file)
    return address(file, home) if small is None else f"data:image/webp;base64,{small}"


PAGES.add(SearchResult.__name__, write_search_page)
