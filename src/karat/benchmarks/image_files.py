"""The image files of a benchmark: where they are, how a folder keeps their paths, what kind each is.

A saved folder keeps paths below itself, so that it can be moved; a path that points outside is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from karat.errors import InputError, MissingDataError

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
"""The extensions of image files, in lower case."""

KINDS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)
"""Pictures made of pixels. SVG is not among them: it can hold scripts."""


def find_images(folder: Path) -> list[str]:
    """Return the paths of image files in a folder, at any depth, relative to it and sorted."""
    return sorted(
        Path(base, name).relative_to(folder).as_posix()
        for base, _, names in os.walk(folder)
        for name in names
        if Path(name).suffix.lower() in IMAGES
    )


def locate_images(folder: Path | None, names: Sequence[str]) -> list[str] | None:
    """Return the paths of the named images in a folder, each of which must exist; None without a folder."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder, fix="give the folder of the images")
    for name in names:
        if leads_out(name):
            raise InputError(
                f"image {name!r} points outside its folder", where=folder, fix="give plain file names"
            )
    paths = [os.path.join(folder, name) for name in names]
    absent = [name for name, path in zip(names, paths) if not os.path.isfile(path)]
    if absent:
        what = f"has no image {absent[0]} ({len(absent):,} of {len(names):,} are missing)"
        raise MissingDataError(what, where=folder, fix="unpack the images there")
    return paths


def common_folder(paths: Sequence[str]) -> Path:
    """Return the folder that all image files lie below, links not followed.

    >>> common_folder(["world/images/a.png", "world/images/b.png"]).name
    'images'
    """
    return Path(os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]))


def kept_paths(paths: Sequence[str] | None, folder: Path) -> list[str] | None:
    """Return image paths as they are kept in `folder`: relative to it; None when any lies outside.

    A path outside the folder would be wrong after the folder is moved.

    >>> kept_paths(["my-world/images/0.png"], Path("my-world"))
    ['images/0.png']
    >>> kept_paths(["elsewhere/0.png"], Path("my-world"))
    """
    if paths is None:
        return None
    home = os.path.abspath(folder)
    relative = [os.path.relpath(os.path.abspath(path), home) for path in paths]
    return None if any(leads_out(path) for path in relative) else relative


def found_paths(paths: Sequence[str] | None, folder: Path) -> list[str] | None:
    """Return kept paths as they are used, or raise for one that points outside: files are untrusted.

    >>> found_paths(["images/0.png"], Path("my-world"))
    ['my-world/images/0.png']
    """
    home = os.path.realpath(folder)
    for path in paths or []:
        # Symbolic links are followed: a folder from elsewhere may hold one to anywhere.
        real = os.path.realpath(os.path.join(home, path))
        if leads_out(path) or os.path.commonpath([home, real]) != home:
            raise InputError(
                f"image path {path!r} points outside its folder", where=folder, fix="give plain paths"
            )
    return None if paths is None else [os.path.join(folder, path) for path in paths]


def leads_out(path: str) -> bool:
    """Whether a path leaves the folder that it is joined to.

    >>> leads_out("../secret.png"), leads_out("/etc/passwd"), leads_out("images/a.png")
    (True, True, False)
    """
    return os.path.isabs(path) or ".." in Path(path).parts


def picture_kind(data: bytes) -> str | None:
    """Return the content type of a picture by its first bytes; None for anything else.

    >>> [picture_kind(data) for data in (b"\\xff\\xd8\\xff\\xe0", b"<svg onload=x>", b"RIFF....WEBPVP8 ")]
    ['image/jpeg', None, 'image/webp']
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    return next((kind for start, kind in KINDS if data.startswith(start)), None)
