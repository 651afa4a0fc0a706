"""Small pictures inside the page, up to a limit; the others are linked where they lie."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from karat._util import track
from karat.benchmarks import Benchmark
from karat.reports.material import Material
from karat.reports.page_options import PageOptions

SIDE = 128
MOST_PIXELS = 50_000_000
"""A small file may unpack to gigabytes: larger pictures are linked."""
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")


def thumbnails(material: Material) -> dict[str, Any] | None:
    """Return, per image of the gallery, a data address, a relative address, or nothing."""
    card = material.card
    if card is None or not card.benchmark.image_paths:
        return None
    return page_pictures(card.benchmark.image_paths, card.benchmark, material.page, material.target)


def page_pictures(
    paths: Sequence[str], benchmark: Benchmark, page: PageOptions, target: Path, side: int = SIDE
) -> dict[str, Any] | None:
    """Return small pictures of a benchmark's images, from the folder and in the size that a page allows."""
    root = Path(page.image_folder) if page.image_folder is not None else benchmark.image_root or Path()
    return small_pictures(paths, root, target, int(page.inline_images * 1e6), side)


def small_pictures(
    paths: Sequence[str], root: Path, target: Path, most: int, side: int = SIDE
) -> dict[str, Any] | None:
    """Return, per file, a data address, a relative address, or nothing; at most so many bytes of data.

    Only files inside the given folder are read or linked, symbolic links followed: the paths in
    a benchmark's file are not trusted.
    """
    root = root.resolve()
    home = Path(os.path.abspath(target)).parent
    inline: list[str | None] = []
    links: list[str | None] = []
    left = most
    for path in track(paths, "making small pictures"):
        file = inside(root, path)
        small = None if file is None or left <= 0 else shrunk(file, side)
        if small is not None and len(small) <= left:
            left -= len(small)
            inline.append(small)
            links.append(None)
            continue
        if small is not None:
            # The limit is reached: later ones that would fit are not searched for.
            left = 0
        inline.append(None)
        links.append(None if file is None else address(file, home))
    if not any(inline) and not any(links):
        return None
    return {"inline": inline, "links": links, "linked": any(links)}


def inside(root: Path, path: str) -> Path | None:
    """Return the file that a path means if it is an image inside the folder, else None.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = Path(folder).resolve()
    ...     _ = (root / "a.png").write_bytes(b"")
    ...     inside(root, "a.png").name, inside(root, "../a.png"), inside(root, "/etc/hostname")
    ('a.png', None, None)
    """
    for candidate in (root / path, Path(path)):
        try:
            file = candidate.resolve()
            usable = file.is_relative_to(root) and file.is_file() and file.suffix.lower() in SUFFIXES
        except (OSError, ValueError):
            # A name that the system cannot hold: too long, or with a zero in it.
            continue
        if usable:
            return file
    return None


def address(file: Path, home: Path) -> str | None:
    """Return a relative address with everything unusual escaped; None across drives.

    >>> address(Path("/data/x/a b#1.png"), Path("/data"))
    'x/a%20b%231.png'
    """
    try:
        relative = os.path.relpath(file, home)
    except ValueError:
        return None
    return quote(Path(relative).as_posix(), safe="/.-_")


def shrunk(file: Path, side: int = SIDE) -> str | None:
    """Return a small copy as webp in base64; None where it is not an image, or Pillow is not installed."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with warnings.catch_warnings():
            # Pillow warns of large pictures; here they are refused.
            warnings.simplefilter("ignore")
            picture = Image.open(file, formats=FORMATS)
        with picture:
            if picture.size[0] * picture.size[1] > MOST_PIXELS:
                return None
            picture.draft("RGB", (side, side))
            small = picture.convert("RGB")
            small.thumbnail((side, side))
        buffer = io.BytesIO()
        small.save(buffer, "WEBP", quality=60, method=3)
    except Exception:
        # Whatever a decoder says of broken bytes, the page goes without this picture.
        return None
    return base64.b64encode(buffer.getvalue()).decode("ascii")
