"""The place of a published folder: it replaces nothing but what karat itself wrote."""

from __future__ import annotations

from pathlib import Path

from karat.errors import InputError
from karat.judging.publishing.provenance import changed_files


def check_place(folder: str | Path, force: bool = False) -> Path:
    """Return where a folder goes, or raise when something is there that must not be lost.

    A folder that karat published, and that nobody touched since, can be made again from its project: it is
    replaced. One that was touched (a licence written into its card) is replaced only with `force`;
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
    if changed and not force:
        raise InputError(
            f"{changed[0]!r} was changed since it was published",
            where=folder,
            fix="choose another folder, or pass --force",
        )
    return folder
