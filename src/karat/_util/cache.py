"""A folder for what was computed once: arrays only, written whole or not at all, read where they are own.

Nothing in the cache is sealed: an entry is used where the folder and the file are the user's and nobody else
can write them. This costs no reading, holds for what is mapped into memory, and what older versions kept
stays in use. Where a disk cannot tell users apart, no cache of theirs belongs on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

import karat
from karat._util.files import write_file
from karat._util.ownership import NotOwnError, check_own_folder, note_refused, open_own
from karat._util.settings import setting_of
from karat.errors import KaratError

Arrays = dict[str, np.ndarray]


def cache_folder() -> Path:
    """Return the folder: the setting, by default ``karat`` in the user's cache folder."""
    return setting_of("cache")


def open_entry(path: Path) -> BinaryIO:
    """Open an entry of the cache, or raise an `OSError`; one that others may have written is noted."""
    try:
        check_own_folder(path.parent, cache_folder())
        return open_own(path)
    except NotOwnError as error:
        note(error, path)
        raise


def write_entry(path: Path, write: Callable[[Path], object]) -> bool:
    """Write an entry of the cache where that can be; return whether it is kept.

    Parameters
    ----------
    path
        Its place, in a folder below `cache_folder`.
    write
        Writes it to the draft that it is given.
    """
    try:
        make_folders(path.parent)
        try:
            open_own(path).close()
        except NotOwnError:
            # Not through a link, and not with the mode of a file that is not trusted.
            path.unlink()
        except OSError:
            pass
        write_file(path, write, private=True, durable=False)
    except NotOwnError as error:
        note(error, path)
    except (OSError, KaratError):
        pass
    else:
        return True
    return False


def make_folders(folder: Path) -> None:
    """Make a folder of the cache and those above it, for the user alone; raise where others may write one."""
    top = cache_folder()
    top.parent.mkdir(parents=True, exist_ok=True)
    for place in (top, *reversed([one for one in (folder, *folder.parents) if top in one.parents])):
        place.mkdir(mode=0o700, exist_ok=True)
    check_own_folder(folder, top)


def note(error: NotOwnError, path: Path) -> None:
    """Say that an entry, or the whole cache, is not used."""
    if error.path == path:
        note_refused(error, path.parent, "it is not used, and made again")
    else:
        fix = "remove it, or name a folder of yours in KARAT_CACHE"
        note_refused(error, error.path, f"no cache is kept there; {fix}")


def cached(name: str, inputs: Sequence[Path], parse: Callable[[], Arrays]) -> Arrays:
    """Return what `parse` returns, from the cache while `inputs` and karat's version stay the same.

    A cache that is damaged or not the user's, or a folder that cannot be written, costs time alone.
    """
    stats = [path.stat() for path in inputs]
    stamp = np.array([karat.__version__, *(f"{s.st_size}:{s.st_mtime_ns}" for s in stats)])
    path = cache_folder() / f"{name}.npz"
    with (
        contextlib.suppress(Exception),  # damaged archives raise a dozen kinds
        open_entry(path) as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        if np.array_equal(stored["stamp"], stamp):
            return {key: stored[key] for key in stored.files if key != "stamp"}
    arrays = parse()
    write_entry(path, lambda draft: np.savez(draft, allow_pickle=False, stamp=stamp, **arrays))
    return arrays
