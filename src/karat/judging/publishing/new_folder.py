"""A folder that appears whole or not at all, and that replaces nothing but what karat itself wrote."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from karat.judging.publishing.provenance import changed_files
from karat.validation import InputError


def check_place(folder: str | Path, overwrite: bool = False) -> Path:
    """Return where a folder goes, or raise when something is there that must not be lost.

    A folder that karat published, and that nobody touched since, can be made again from its project: it is
    replaced. One that was touched (a licence written into its card) is replaced only with `overwrite`;
    anything else never.
    """
    folder = Path(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError("is no folder", where=folder, fix="give the name of a new one")
    if not folder.resolve().parent.is_dir():
        raise InputError(f"there is no folder {folder.parent}", where=folder, fix="create it first")
    if not folder.exists() or not any(folder.iterdir()):
        return folder
    changed = changed_files(folder)
    if changed is None:
        raise InputError(
            "holds something that karat did not publish", where=folder, fix="choose another folder"
        )
    if changed and not overwrite:
        raise InputError(
            f"{changed[0]!r} was changed since it was published",
            where=folder,
            fix="choose another folder, or --overwrite",
        )
    return folder


def write_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Write a folder beside its place, then move it there.

    Parameters
    ----------
    folder
        Where it goes, as `check_place` returned it.
    write
        Writes everything into the folder that it is given.
    """
    draft = folder.resolve().parent / f".{folder.name}.{secrets.token_hex(4)}.tmp"
    try:
        draft.mkdir()
        write(draft)
        swap(draft, folder)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=folder, fix="choose another place"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def swap(draft: Path, folder: Path) -> None:
    """Put the draft in the place of a folder, which comes back when that fails."""
    # What stands there is moved, not removed, until the new one is in place.
    old = draft.with_suffix(".old")
    if folder.exists():
        os.rename(folder, old)
    try:
        os.rename(draft, folder)
    except OSError:
        if old.exists():
            os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
