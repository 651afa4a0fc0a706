"""Where benchmarks come from: one registered file per source, and what the user has added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.registered import registered, remember
from karat.registry import REQUIRED, Param, Registry, import_all
from karat.validation import InputError, MissingDataError, unknown_name


@dataclass(frozen=True)
class Source:
    """A benchmark, or a kind of benchmark, that can be loaded by name.

    Parameters
    ----------
    name, about
        As it is asked for, and a line on what it is.
    load
        Takes the parameters, returns the Benchmark.
    params
        What `load` takes, as data.
    recognise
        Whether a folder is one of these; then `load` takes the folder as ``folder``.
    """

    name: str
    about: str
    load: Callable[..., Benchmark]
    params: tuple[Param, ...] = ()
    recognise: Callable[[Path], bool] | None = None


SOURCES: Registry[Source] = Registry("benchmark", fill=lambda: import_all("karat.benchmarks"))


def register(source: Source) -> Source:
    """Make `source` known to `load_benchmark`; a name that is taken raises."""
    return SOURCES.add(source.name, source)


def load_benchmark(name: str | Path, **options: Any) -> Benchmark:
    """Return the benchmark called `name`, or the one in a folder.

    Parameters
    ----------
    name
        One of `karat benchmarks`, one that was added, or the path of a folder.
    **options
        The source's parameters: for "coco", ``cxc_ratings="sits_test.csv"`` adds the raw CxC ratings.

    Examples
    --------
    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> coco.images.size, coco.captions.size
    (5000, 25000)
    """
    if name in SOURCES:
        return load_from(SOURCES[str(name)], options)
    added = registered()
    if str(name) in added:
        entry = added[str(name)]
        return load_from(SOURCES[entry["source"]], {**entry["options"], **options})
    if Path(name).is_dir():
        return load_from(recognise(Path(name)), {"folder": name, **options})
    raise unknown_name("benchmark", str(name), [*SOURCES, *added])


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


def recognise(folder: Path) -> Source:
    """Return the source that reads a folder."""
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder)
    for source in SOURCES.values():
        if source.recognise is not None and source.recognise(folder):
            return source
    kinds = ", ".join(source.name for source in SOURCES.values() if source.recognise is not None)
    raise InputError(
        "is no benchmark that karat recognises", where=folder, fix=f"it knows {kinds}: see the docs"
    )


def add_benchmark(folder: str | Path, name: str | None = None, **options: Any) -> tuple[str, Benchmark]:
    """Check the benchmark in a folder and remember it under a name; return both.

    Parameters
    ----------
    folder
        A folder that karat recognises: its own format, images with captions, corpus and queries.
    name
        As `load_benchmark` shall know it; the benchmark's own name when left out.
    **options
        Further settings of the source.
    """
    folder = Path(folder).resolve()
    source = recognise(folder)
    settings = {"folder": str(folder), **options}
    benchmark = load_from(source, settings)
    name = name or benchmark.name
    if name in SOURCES:
        raise InputError(f"the name {name!r} is taken", fix="choose another with --name")
    remember(name, source.name, {key: str(value) for key, value in settings.items()})
    return name, benchmark
