"""What takes long is kept in karat's cache folder, and said while it happens.

A stage is named by everything that decides its content: the bytes of the data, the settings, karat's version.
So a second run is quick, a changed setting is computed anew, and an interruption loses the stage in hand.
"""

import argparse
import hashlib
import json
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from karat._util import Stage
from karat._util.cache import Arrays, cache_folder, cached
from karat.errors import InputError, MissingDataError

RECIPE = 1
"""Raised when the same data and settings give other numbers than before."""
MOST_BYTES = 64 << 20
"""The largest picture that is unpacked."""


def choose_cache() -> None:
    """Take --cache DIR from the command line: it is where karat keeps what it computed."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--cache", type=Path)
    asked, rest = parser.parse_known_args()
    if asked.cache is not None:
        os.environ["KARAT_CACHE"] = str(asked.cache.resolve())
    sys.argv[1:] = rest


def tell(what: str) -> None:
    """Say on standard error what is being done, with the time of day."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


class Told:
    """A reporter that says how far the work is: at every tenth of a stage, or other parts of it."""

    every = 0.0

    def __init__(self, what: str, parts: int = 10) -> None:
        self.what, self.parts = what, parts
        self.last: tuple[Stage | None, int] = None, 0

    def show(self, stages: Sequence[Stage]) -> None:
        """Say so where another part of the outermost stage is done."""
        for stage in stages[1:2]:
            part = stage.done * self.parts // stage.total if stage.total else 0
            if part and self.last != (stage, part):
                self.last = stage, part
                tell(f"{self.what}: {stage.what}, {stage.done:,} of {stage.total:,}")


def name_of(*decides: Any) -> str:
    """Return a short name for what json can write.

    >>> name_of("BoW5", 3.0) == name_of("BoW5", 3.0) != name_of("BoW5", 2.0)
    True
    """
    return hashlib.sha256(json.dumps([RECIPE, *decides]).encode()).hexdigest()[:24]


def kept(stage: str, decides: Sequence[Any], make: Callable[[], Arrays]) -> Arrays:
    """Return the arrays of a stage, from the cache where they are."""

    def made() -> Arrays:
        begin = time.perf_counter()
        arrays = make()
        tell(f"{stage}: done in {time.perf_counter() - begin:.0f} s")
        return arrays

    return cached(f"hodosh/{stage}-{name_of(*decides)}", (), made)


def digest(files: Sequence[Path]) -> str:
    """Return a name for the content of files, or raise where one is missing."""
    found = hashlib.sha256()
    for path in files:
        if not path.is_file():
            raise MissingDataError("there is no such file", where=path, fix="give --data its folder")
        with path.open("rb") as handle:
            found.update(hashlib.file_digest(handle, "sha256").digest())
    return found.hexdigest()


def unpacked(archive: Path, names: Collection[str], key: str) -> Path:
    """Return a folder with the named files of a tar archive, unpacked into the cache.

    Only plain files are read, by the last part of their names, so nothing lands outside of the folder.

    Parameters
    ----------
    archive
        The tar file.
    names
        Which files; more in the archive are left there, and a missing one is an error.
    key
        A name for the archive's content.
    """
    folder = cache_folder() / "hodosh" / f"images-{name_of(key, sorted(names))}"
    if folder.is_dir():
        return folder
    tell(f"unpacking {archive.name}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Filled elsewhere and moved: a folder under its own name is whole.
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            place = Path(draft) / "images"
            place.mkdir()
            missing = set(names) - unpack(archive, set(names), place)
            if missing:
                raise MissingDataError(
                    f"lacks {len(missing):,} images, such as {min(missing)}",
                    where=archive,
                    fix="take the whole file",
                )
            os.replace(place, folder)
    except (OSError, tarfile.TarError) as error:
        if isinstance(error, MissingDataError):
            raise
        raise InputError(f"cannot be unpacked ({error})", where=archive, fix="check --cache") from None
    return folder


def unpack(archive: Path, names: set[str], place: Path) -> set[str]:
    """Write the named plain files of an archive into a folder and return which were there."""
    done = set()
    with tarfile.open(archive) as packed:
        for member in packed:
            name = member.name.rpartition("/")[2]
            if member.isfile() and name in names and member.size <= MOST_BYTES:
                content = packed.extractfile(member)
                assert content is not None  # it is a file
                (place / name).write_bytes(content.read())
                done.add(name)
    return done
