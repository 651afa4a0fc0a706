"""The catalogue of benchmarks: what can be loaded by name, and the user's own in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat._util import REQUIRED, Layout, Part, Result, check_folder, check_writable, write_file
from karat.benchmarks.benchmark import Benchmark, BenchmarkSummary
from karat.benchmarks.karat_format import save_benchmark
from karat.benchmarks.registry import SOURCES, Source, added_as, as_benchmark, forget, read_from, registered
from karat.errors import InputError


@dataclass(frozen=True)
class BenchmarkList(Result):
    """The benchmarks that can be loaded by name.

    Parameters
    ----------
    sources
        Those that karat knows, with their settings.
    added
        The user's own: by name, the source and its settings.
    """

    sources: tuple[Source, ...]
    added: dict[str, dict[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per benchmark and setting; a benchmark without settings has one."""
        out = []
        for source in self.sources:
            about = {"benchmark": source.name, "about": source.about, "added": False}
            settings = [
                {"setting": param.name, "help": param.help, "needed": param.default is REQUIRED}
                for param in source.params
            ] or [{"setting": None, "help": None, "needed": False}]
            out += [about | setting for setting in settings]
        for name, entry in self.added.items():
            about = {"benchmark": name, "about": entry["source"], "added": True, "needed": False}
            out += [about | {"setting": key, "help": str(value)} for key, value in entry["options"].items()]
        return out

    def parts(self) -> list[Part]:
        """Return each benchmark with its settings."""
        out: list[Part] = []
        for source in self.sources:
            rows = [
                [f"--set {param.name}=…", param.help + (" (needed)" if param.default is REQUIRED else "")]
                for param in source.params
            ]
            out.append(Layout(["", ""], rows, labels=2, title=f"{source.name}  {source.about}"))
        for name, entry in self.added.items():
            settings = ", ".join(f"{key}={value}" for key, value in entry["options"].items())
            out.append(f"{name}  added: {entry['source']} with {settings}")
        return out


def list_benchmarks() -> BenchmarkList:
    """Return the benchmarks that can be loaded by name: karat's sources, and what the user has added."""
    return BenchmarkList(tuple(SOURCES.values()), registered())


def show_benchmark(
    name: Benchmark | str | Path,
    *,
    ids: str | Path | None = None,
    save: str | Path | None = None,
    setting: Mapping[str, Any] | None = None,
) -> BenchmarkSummary:
    """Return a benchmark with the counts of its truths.

    Parameters
    ----------
    name
        A benchmark, its name, its folder or its file.
    ids
        Write the order of its ids to this json file.
    save
        Write it into this folder, in karat's own format.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> summary = karat.benchmarks.show("coco")
    >>> summary.benchmark.images.size
    5000
    """
    check_targets(name, ids, save, setting or {})
    benchmark = as_benchmark(name, setting)
    write_files(benchmark, ids, save)
    return BenchmarkSummary(benchmark)


def add_benchmark(
    folder: str | Path,
    name: str | None = None,
    *,
    ids: str | Path | None = None,
    save: str | Path | None = None,
    setting: Mapping[str, Any] | None = None,
) -> BenchmarkSummary:
    """Check the benchmark in a folder or a file, and remember it under a name.

    Parameters
    ----------
    folder
        A folder or a file that karat recognises: its own format, images with captions, corpus and queries,
        Karpathy's dataset_*.json.
    name
        The name for `karat.load_benchmark`; by default the benchmark's own.
    ids, save
        As `karat.benchmarks.show` takes them.
    setting
        Further settings of the source.

    Examples
    --------
    >>> import karat
    >>> print(karat.benchmarks.add("my-photos/", "pets"))  # doctest: +SKIP
    added; use it as --benchmark pets
    """
    check_targets(folder, ids, save, setting or {})
    added, benchmark = added_as(folder, name, setting or {})
    try:
        write_files(benchmark, ids, save)
    except BaseException:
        forget(added)
        raise
    return BenchmarkSummary(benchmark, added)


def check_targets(name: Any, ids: Any, save: Any, setting: Mapping[str, Any]) -> None:
    """Raise before the work starts when the requested files could not be written, or over those read."""
    check_writable(None if ids is None else Path(ids))
    if save is None:
        return
    check_folder(Path(save))
    place = None if isinstance(name, Benchmark) else read_from(name, setting)
    if place is not None and place.resolve() == Path(save).resolve():
        raise InputError(
            "is the folder that the benchmark is read from", where=save, fix="save it to another folder"
        )


def write_files(benchmark: Benchmark, ids: str | Path | None, save: str | Path | None) -> None:
    """Write the requested files."""
    if ids is not None:
        order = {"images": benchmark.images.gallery.tolist(), "captions": benchmark.captions.gallery.tolist()}
        write_file(Path(ids), lambda path: path.write_text(json.dumps(order), encoding="utf-8"))
    if save is not None:
        save_benchmark(benchmark, save)
