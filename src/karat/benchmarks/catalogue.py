"""The catalogue of benchmarks: what can be loaded by name, and the counts of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat._util import REQUIRED, Layout, Part, Result
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.registry import SOURCES, Source, registered
from karat.benchmarks.truth import DIRECTIONS

SIDES = {"i2t": "images", "t2i": "captions"}
COUNTS = {
    "queries": "number",
    "positives": "relevant",
    "negatives": "judged not",
    "off_gallery": "off-gallery",
}


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


@dataclass(frozen=True, eq=False)
class BenchmarkSummary(Result):
    """A benchmark with the counts of its truths.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a dog runs", "a brown dog", "a red bus"]
    >>> print(BenchmarkSummary(
    ...     build("pets", ["dog", "bus"], [0, 1, 2], ["dog", "dog", "bus"], texts, where="pets.tsv", about="")
    ... ))
    pets: 2 images, 3 captions
    <BLANKLINE>
    truth     queries   number  relevant  judged not  off-gallery  folds
    ────────  ────────  ──────  ────────  ──────────  ───────────  ─────
    original  images         2         3           0            0      1
              captions       3         3           0            0
    <BLANKLINE>
    original: each caption belongs to the image it was written for
    """

    benchmark: Benchmark

    def records(self) -> list[dict[str, Any]]:
        """Return one record per truth and direction."""
        return [
            {
                "truth": row["truth"],
                "direction": direction,
                **row[direction],
                "pooled": self.benchmark.truth(row["truth"]).n_pooled,
                "folds": row["folds"],
            }
            for row in self.benchmark.summary()
            for direction in DIRECTIONS
        ]

    @property
    def notes(self) -> list[str]:
        """How many pairs were pooled and not judged, where there are some."""
        return self.benchmark.pooled_notes()

    def parts(self) -> list[Part]:
        """Return the counts of every truth, and what each is."""
        bench, summary = self.benchmark, self.benchmark.summary()
        counts = f"{bench.name}: {bench.images.size:,} images, {bench.captions.size:,} captions"
        rows = [
            [
                row["truth"] if direction == "i2t" else "",
                SIDES[direction],
                *(f"{row[direction][key]:,}" for key in COUNTS),
                str(row["folds"]) if direction == "i2t" else "",
            ]
            for row in summary
            for direction in DIRECTIONS
        ]
        about = [f"{row['truth']}: {row['about']}" for row in summary if row["about"]]
        return [
            "\n".join([counts, *([bench.about] if bench.about else [])]),
            Layout(["truth", "queries", *COUNTS.values(), "folds"], rows, labels=2),
            *(["\n".join(about)] if about else []),
        ]


def list_benchmarks() -> BenchmarkList:
    """Return the benchmarks that can be loaded by name: karat's sources, and what the user has added."""
    return BenchmarkList(tuple(SOURCES.values()), registered())
