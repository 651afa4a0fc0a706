"""Where image files lie, as a folder keeps it: below itself, so that it can be moved and harms nobody."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from karat.validation import InputError


def kept_paths(paths: Sequence[str] | None, folder: Path) -> list[str] | None:
    """Return image paths as they are kept in `folder`: relative to it; None when any lies outside.

    A path out of the folder would mean something else, or nothing, where the folder is moved to.

    >>> kept_paths(["my-world/images/0.png"], Path("my-world"))
    ['images/0.png']
    >>> kept_paths(["elsewhere/0.png"], Path("my-world"))
    """
    if paths is None:
        return None
    home = os.path.abspath(folder)
    kept = [os.path.relpath(os.path.abspath(path), home) for path in paths]
    return None if any(leads_out(path) for path in kept) else kept


def found_paths(paths: Sequence[str] | None, folder: Path) -> list[str] | None:
    """Return kept paths as they are used, or raise for one that leads out: files are untrusted.

    >>> found_paths(["images/0.png"], Path("my-world"))
    ['my-world/images/0.png']
    """
    home = os.path.realpath(folder)
    for path in paths or []:
        # Symbolic links are followed: a folder from elsewhere may hold one to anywhere.
        real = os.path.realpath(os.path.join(home, path))
        if leads_out(path) or os.path.commonpath([home, real]) != home:
            raise InputError(
                f"image path {path!r} leads out of its folder", where=folder, fix="give plain paths"
            )
    return None if paths is None else [os.path.join(folder, path) for path in paths]


def leads_out(path: str) -> bool:
    """Whether a path leaves the folder that it is joined to.

    >>> leads_out("../secret.png"), leads_out("/etc/passwd"), leads_out("images/a.png")
    (True, True, False)
    """
    return os.path.isabs(path) or ".." in Path(path).parts
