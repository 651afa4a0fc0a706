"""Benchmarks by name: the registered sources that load them, and the user's own list of folders and files."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat._util import REQUIRED, Param, Registry, config_folder, import_all, setting_of, write_file
from karat.benchmarks.benchmark import Benchmark
from karat.errors import InputError, MissingDataError, unknown_name

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a benchmark of the user may be called."""


FILES = (".json", ".jsonl", ".tsv", ".csv", ".txt")
"""The extensions by which a word is meant as the name of a file, whether it is there or not."""


@dataclass(frozen=True)
class Source:
    """A benchmark, or a kind of benchmark, that can be loaded by name.

    Parameters
    ----------
    name, about
        Its name, and one line on what it is.
    load
        Takes the parameters, returns the Benchmark.
    params
        What `load` takes, as data.
    recognise
        Whether a path is one of these: that of a folder where `load` takes ``folder``, of a file where it
        takes ``file`` or ``qrels``. A file may be large: its first lines are enough.
    sizes
        How many images and captions its usual splits have. For a run that does not fit the benchmark it is
        scored on, the message names those that it fits.
    """

    name: str
    about: str
    load: Callable[..., Benchmark]
    params: tuple[Param, ...] = ()
    recognise: Callable[[Path], bool] | None = None
    sizes: tuple[tuple[int, int], ...] = ()

    @property
    def reads(self) -> str:
        """What `load` takes the path as that `recognise` takes: "folder", "file" or "qrels"."""
        return next((param.name for param in self.params if param.name in ("file", "qrels")), "folder")


SOURCES: Registry[Source] = Registry(
    "benchmark", fill=lambda: import_all("karat.benchmarks.sources"), sort=True, group="karat.benchmarks"
)


def register(source: Source) -> Source:
    """Make `source` known to `load_benchmark`; a name that is taken raises."""
    return SOURCES.add(source.name, source)


def load_benchmark(name: str | Path, **options: Any) -> Benchmark:
    """Return the benchmark called `name`, or the one in a folder or a file.

    Parameters
    ----------
    name
        One of `karat benchmarks`, one that was added, or the path of a folder or a file.
    **options
        The source's parameters: for "coco", ``cxc_ratings="sits_test.csv"`` adds the raw CxC ratings.

    Examples
    --------
    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> coco.images.size, coco.captions.size
    (5000, 25000)
    """
    settings = [word for key, value in options.items() for word in ("--set", f"{key}={value}")]
    return replace(load(name, options), shown_as=shlex.join([str(name), *settings]))


def as_benchmark(benchmark: Benchmark | str | Path, setting: Mapping[str, Any] | None = None) -> Benchmark:
    """Return a benchmark, loaded by its name where it is not yet."""
    if not isinstance(benchmark, Benchmark):
        return load_benchmark(benchmark, **(setting or {}))
    if setting:
        raise InputError("settings of a benchmark that is loaded already", fix="give its name instead")
    return benchmark


def load(name: str | Path, options: dict[str, Any]) -> Benchmark:
    """Return the benchmark by name or path, with the source's parameters."""
    if (entry := entry_of(name)) is not None:
        return load_from(SOURCES[entry["source"]], {**entry["options"], **options})
    if os.path.exists(name):
        source = recognise(Path(name))
        return load_from(source, {source.reads: name, **options})
    if isinstance(name, Path) or "/" in name or os.sep in name or Path(name).suffix in FILES:
        what = "file" if Path(name).suffix in FILES else "folder"
        raise MissingDataError(f"there is no such {what}", where=name, fix="check its name")
    raise unknown_name("benchmark", str(name), [*SOURCES, *registered()])


def entry_of(name: str | Path) -> dict[str, Any] | None:
    """Return the source and the settings behind a name; None where it is not the name of a benchmark.

    What the user has added comes before plug-ins, which may have been installed later.
    """
    added = {} if name in SOURCES.own() else registered()
    if str(name) in added:
        return added[str(name)]
    return {"source": str(name), "options": {}} if name in SOURCES else None


def read_from(name: str | Path, options: Mapping[str, Any]) -> Path | None:
    """Return the folder or file that a benchmark is read from, by its name; None where none is named."""
    if (entry := entry_of(name)) is not None:
        place = {**entry["options"], **options}.get(SOURCES[entry["source"]].reads)
        return None if place is None else Path(place)
    return Path(name)


def load_from(source: Source, options: dict[str, Any]) -> Benchmark:
    """Load with checked options."""
    known = {param.name: param for param in source.params}
    for option in options:
        if option not in known:
            fix = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"benchmark {source.name!r} has no option {option!r}", fix=fix)
    for param in source.params:
        if param.default is REQUIRED and param.name not in options:
            raise InputError(
                f"benchmark {source.name!r} needs {param.name} ({param.help})",
                fix=f"pass --set {param.name}=…, or {param.name}= in Python",
            )
    return source.load(**{option: known[option].parse(value) for option, value in options.items()})


def recognise(path: Path) -> Source:
    """Return the source that reads a folder or a file."""
    if not path.exists():
        raise MissingDataError(f"there is no such {'file' if path.suffix in FILES else 'folder'}", where=path)
    # Karat's own format first, since such a folder may look like others too, whatever was imported first;
    # plug-ins last.
    known = [source for source in SOURCES.values() if (source.reads == "folder") == path.is_dir()]
    known.sort(key=lambda source: (source.name != "saved", source.name not in SOURCES.own(), source.name))
    sources = [source for source in known if source.recognise is not None]
    for source in sources:
        if source.recognise is not None and source.recognise(path):
            return source
    kinds = ", ".join(source.name for source in sources)
    raise InputError(
        "is not a benchmark that karat recognises",
        where=path,
        fix=f"of {'folders' if path.is_dir() else 'files'} it knows {kinds}: see `karat benchmarks`",
    )


def find_file(source: str, setting: str, name: str) -> Path:
    """Return a file of a source below the folder ``KARAT_DATA``, or raise an error that names the setting."""
    fix = f"name the file: --set {setting}={name}, or the folder that has {source}/{name}"
    return find_data(source, name, name if setting == "file" else setting, fix)


def find_folder(source: str, holds: str) -> Path:
    """Return the folder of a source below ``KARAT_DATA``, or raise an error that says what it holds."""
    fix = f"name their folder: --set folder=FOLDER, or the one that has the folder {source}"
    return find_data(source, "", f"its files, {holds}", fix)


def find_data(source: str, name: str, what: str, fix: str) -> Path:
    """Return what a source has below the folder ``KARAT_DATA``, or raise an error that says what to name."""
    data = setting_of("data")
    path = Path(data, source, name) if data else None
    if path is not None and path.exists():
        return path
    missing = f"{source} comes without {what}" + (f", and there is no {path}" if path else "")
    raise MissingDataError(missing, fix=f"{fix}: KARAT_DATA=FOLDER")


def added_as(folder: str | Path, name: str | None, options: Mapping[str, Any]) -> tuple[str, Benchmark]:
    """Check the benchmark in a folder or a file and remember it under a name; return both."""
    path = Path(folder).resolve()
    source = recognise(path)
    settings = {source.reads: str(path), **options}
    benchmark = load_from(source, settings)
    name = name or benchmark.name
    if name in SOURCES:
        raise InputError(f"the name {name!r} is taken", fix="choose another with --name")
    remember(name, source.name, {key: str(value) for key, value in settings.items()})
    return name, benchmark


def of_size(images: int, captions: int) -> list[str]:
    """Return the sources whose usual splits have so many images and captions.

    >>> of_size(5000, 25000)
    ['coco']
    """
    return sorted(source.name for source in SOURCES.values() if (images, captions) in source.sizes)


def registry_file() -> Path:
    """Return the file, in the user's configuration folder."""
    return config_folder() / "benchmarks.json"


def registered() -> dict[str, dict[str, Any]]:
    """Return the user's own benchmarks: by name, the source and its options."""
    try:
        path = registry_file()
    except MissingDataError:  # no home, and no list
        return {}
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(name): {"source": str(entry["source"]), "options": dict(entry["options"])}
            for name, entry in entries.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise InputError(f"is damaged ({type(error).__name__})", where=path, fix="fix or remove it") from None


def store(entries: dict[str, dict[str, Any]]) -> None:
    """Write the user's list."""
    path = registry_file()
    text = json.dumps(entries, indent=1)
    write_file(path, lambda draft: draft.write_text(text, encoding="utf-8"), parents=True)


def remember(name: str, source: str, options: dict[str, Any]) -> None:
    """Add a benchmark to the user's list; a name that is taken raises."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be a name", fix="use letters, digits, dots, dashes and underscores"
        )
    entries = registered()
    if name in entries:
        raise InputError(f"the name {name!r} is taken", fix="choose another with --name, or remove it first")
    store({**entries, name: {"source": source, "options": options}})


def forget(name: str) -> None:
    """Remove a benchmark from the user's list; its files stay.

    Parameters
    ----------
    name
        The name under which `karat.benchmarks.add` remembered it.
    """
    entries = registered()
    if name not in entries:
        raise MissingDataError(
            f"no benchmark {name!r} was added", fix=f"added: {', '.join(entries) or 'none'}"
        )
    del entries[name]
    store(entries)
