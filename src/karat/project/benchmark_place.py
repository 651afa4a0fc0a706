"""Where the benchmark of a project is on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import TEXT_FORMATS, Result
from karat.errors import InputError
from karat.project.new_project import lasting, lasting_settings
from karat.project.place import takes_place

if TYPE_CHECKING:
    from karat.store import Project


@dataclass(frozen=True)
class BenchmarkPlace(Result):
    """Where the benchmark of a project is.

    Parameters
    ----------
    where
        The project.
    benchmark, settings
        The name, folder or file of the benchmark as it was given, and its settings as they are kept.
    """

    where: str
    benchmark: str
    settings: Mapping[str, str]
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the project, the benchmark, its settings."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return [{"project": self.where, "benchmark": self.benchmark, "settings": settings}]

    def parts(self) -> list[str]:
        """Return what the project reads from now on."""
        settings = "".join(f", {name}={value}" for name, value in self.settings.items())
        return [f"{self.where} reads its benchmark from {self.benchmark}{settings}"]


@takes_place
def locate(
    project: Project, benchmark: str | Path, *, setting: Mapping[str, str] | None = None
) -> BenchmarkPlace:
    """Say where the benchmark of a project is on this machine; what you name may be read from now on.

    A project that somebody else made, or an older version of karat, reads no files that you have not named,
    except below its own folder and below that of the setting ``data``.

    Parameters
    ----------
    project
        An open project, or its file or address.
    benchmark
        The name, folder or file of the benchmark; it must have the ids of the one that was pooled.
    setting
        Its settings. Those that are paths must be named again, or be empty to be left out; the others stay.

    Returns
    -------
    BenchmarkPlace
        What the project reads from now on.

    Examples
    --------
    >>> import tempfile
    >>> import karat
    >>> from karat.forms import load_form
    >>> from karat.store import create_project
    >>> from karat.world import make
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     world = make(6, 2, 1, output=f"{folder}/my", no_images=True)
    ...     bench = karat.load_benchmark(f"{folder}/my")
    ...     create_project(f"{folder}/own.db", bench, load_form("pair"), source="/home/ann/my").close()
    ...     print(locate(f"{folder}/own.db", f"{folder}/my"))    # doctest: +ELLIPSIS
    /...own.db reads its benchmark from /.../my
    """
    from karat.store import paths_of

    given = dict(setting or {})
    paths = [name for name in project.settings if name in paths_of(project.source, project.settings)]
    for name in paths:
        if name not in given:
            raise InputError(
                f"the setting {name} is a path, and is not named",
                fix=f"pass --set {name}=PLACE, or --set {name}=",
            )
    kept = {name: value for name, value in project.settings.items() if name not in paths}
    settings = {name: value for name, value in (kept | given).items() if value}
    source = lasting(benchmark)
    project.locate(source, lasting_settings(source, settings))
    return BenchmarkPlace(project.where, str(benchmark), project.settings)
