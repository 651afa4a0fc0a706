"""The catalogue of benchmarks: what can be loaded by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat._util import REQUIRED, Layout, Part, Result
from karat.benchmarks.registry import SOURCES, Source, registered


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
