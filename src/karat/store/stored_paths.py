"""The files that a project names: its benchmark, its images, the runs of its goal.

A project may come from anybody, and what it names is read with the rights of the user who opens it, and shown
to annotators or published. So a stored path is followed only where the user has named it on this machine, or
where it lies in a folder that came with the project or holds the user's benchmarks.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from karat._util import is_sealed, seal, setting_of, whole
from karat.benchmarks import SOURCES, registered
from karat.errors import InputError, KaratError, MissingDataError, printable
from karat.store.journal import Journal

BENCHMARK, RUNS = "places of the benchmark", "places of runs"
"""What seals are for, and the settings that hold them."""
MOST = 20
"""How many seals are kept: one for each user who named the paths, and each set of runs."""
TEXTS = (str, int, float, bool, whole)


class StoredPaths:
    """What a project reads besides itself: `project.paths`.

    Parameters
    ----------
    journal
        Where the seals are kept.
    folder
        That of the project's file; None for PostgreSQL.
    where
        The project, for messages.
    about
        What tells this project from others: its fingerprint, and when it was made.
    """

    def __init__(self, journal: Journal, folder: Path | None, where: str, about: Sequence[Any]) -> None:
        self._journal, self._folder, self._where, self._about = journal, folder, where, tuple(about)

    def allow_benchmark(self, source: str, settings: Mapping[str, str]) -> None:
        """Remember that this user has named the benchmark's paths on this machine."""
        if paths_of(source, settings):
            self._remember(BENCHMARK, source, *spread(settings))

    def allow_runs(self, runs: Sequence[str]) -> None:
        """Remember that this user has named these runs on this machine."""
        self._remember(RUNS, *runs)

    def check_benchmark(self, source: str, settings: Mapping[str, str]) -> None:
        """Raise unless what the benchmark is read from may be read."""
        paths = paths_of(source, settings)
        if "" in paths and not paths[""].exists():
            what = printable(f"there is no such folder on this machine: its benchmark {source}")
            fix = f"say where it is: {shlex.join(['karat', 'project', 'locate', self._where, 'FOLDER'])}"
            raise MissingDataError(what, where=self._where, fix=printable(fix))
        if self._is_remembered(BENCHMARK, source, *spread(settings)):
            return
        for name, path in paths.items():
            if outside := self._outside(path):
                what = f"the {name}" if name else "the benchmark"
                words = [word for item in settings.items() for word in ("--set", "=".join(item))]
                command = shlex.join(["karat", "project", "locate", self._where, source, *words])
                raise InputError(
                    printable(f"names {what} {outside}, which you have not named on this machine"),
                    where=self._where,
                    fix=printable(f"if it may be read and shown, run {command}"),
                )

    def check_runs(self, runs: Sequence[str]) -> None:
        """Raise unless the runs of a goal may be read."""
        from karat.runs import is_model

        if self._is_remembered(RUNS, *runs):
            return
        for run in runs:
            if outside := run if is_model(run) else self._outside(Path(run)):
                raise InputError(
                    printable(f"its goal names the run {outside}, which you have not named on this machine"),
                    where=self._where,
                    fix="if it may be read, name the runs yourself: --run FILE",
                )

    def _remember(self, purpose: str, *parts: str) -> None:
        # What was sealed by others stays: several users may share a project.
        marks = [mark for mark in self._journal.get(purpose, []) if isinstance(mark, str)]
        if (mark := seal(purpose, *self._about, *parts)) not in marks:
            self._journal.set(purpose, [*marks, mark][-MOST:])

    def _is_remembered(self, purpose: str, *parts: str) -> bool:
        marks = self._journal.get(purpose, [])
        if not isinstance(marks, list) or not marks:
            return False
        try:
            return any(is_sealed(mark, purpose, *self._about, *parts) for mark in marks[-MOST:])
        except KaratError:
            return False  # without a key nothing is known: the reason is given where a path must be named

    def _outside(self, path: Path) -> str:
        """Return what of a path lies outside the folders that may be read; empty where nothing does."""
        data = None
        with suppress(KaratError):  # of settings that cannot be read
            data = setting_of("data")
        own = [] if data is None else [os.path.realpath(data)]
        try:
            if below(os.path.realpath(path), own):
                return ""
            # That of the project; for a path that begins nowhere, the one in which the user works.
            beside = [self._folder, None if path.is_absolute() else Path.cwd()]
            # Not what lies beside everything that the user has.
            folders = own + [os.path.realpath(one) for one in beside if one and not is_above_home(one)]
            return next((name for name in reached(path) if not below(os.path.realpath(name), folders)), "")
        except ValueError:  # a zero byte
            return str(path)


def paths_of(source: str, settings: Mapping[str, str]) -> dict[str, Path]:
    """Return the paths among what a benchmark is loaded from, by the names of settings; "" for its own.

    >>> [name for name in paths_of("/data/my", {"images": "/data/pictures", "split": "test"})]
    ['', 'images']
    """
    is_name = source in SOURCES or source in registered()
    # Any other word is not the name of a benchmark, and loading says so.
    is_path = not is_name and (os.sep in source or os.path.lexists(source))
    paths = {"": Path(source)} if is_path else {}
    kinds = [SOURCES[source]] if source in SOURCES else list(SOURCES.values())
    for name, value in settings.items():
        types = {param.type for kind in kinds for param in kind.params if param.name == name}
        # Those of a plug-in may take a path in a way of their own; a word such as "test" is one only there.
        unknown = not types or not types <= {Path, *TEXTS}
        if Path in types or (unknown and (os.sep in value or os.path.lexists(value))):
            paths[name] = Path(value)
    return paths


def reached(path: Path) -> Iterator[str]:
    """Yield a path, and every symbolic link below it: links lead anywhere."""
    yield str(path)
    folders = [str(path)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        yield entry.path
                    elif entry.is_dir():
                        folders.append(entry.path)
        except OSError:
            continue


def below(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path without links is one of some folders, or lies in one.

    >>> below("/data/coco", ["/data"]), below("/database", ["/data"])
    (True, False)
    """
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def is_above_home(folder: Path) -> bool:
    """Return whether the user's home is this folder or lies below it."""
    home = os.path.realpath(os.path.expanduser("~"))
    return below(home, [os.path.realpath(folder)])


def spread(settings: Mapping[str, str]) -> list[str]:
    """Return names and values in one order."""
    return [word for item in sorted(settings.items()) for word in item]
