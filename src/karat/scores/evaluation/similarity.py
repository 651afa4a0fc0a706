"""Where the similarity φ of images with captions comes from: given, or computed from the captions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from karat._util import Registry, import_later
from karat.benchmarks import Benchmark
from karat.errors import InputError, KaratError
from karat.measures import Combined, Named, Semantic
from karat.runs import MatrixRun, Run, TableRun, load_run

Provider = Callable[[Benchmark, int | None], np.ndarray]
"""Returns φ of every image with every caption of a benchmark, on a number of threads."""

SIMILARITIES: Registry[Provider] = Registry(
    "similarity", fill=lambda: import_later("similarity"), group="karat.caption_metrics"
)
"""By name: similarities by meaning, among them every caption metric."""

_computed: WeakKeyDictionary[Benchmark, dict[str, TableRun]] = WeakKeyDictionary()
"""What was computed stays while its benchmark does: several runs are scored with it."""


class Similarities:
    """φ of every pair of a benchmark by name; what was not given is computed when first needed.

    A similarity is kept as a run: its first k items are the ideal ranking. `ideal` remembers these from
    run to run; `given` holds those that were given, loaded and aligned.

    >>> import karat
    >>> bench = karat.load_benchmark("coco")
    >>> Similarities(bench, {"mine": np.zeros((5000, 25000), np.float32)})["mine"].shape
    (5000, 25000)
    """

    def __init__(
        self, benchmark: Benchmark, given: Mapping[str, Any] | None = None, threads: int | None = None
    ) -> None:
        self.benchmark, self.threads = benchmark, threads
        self.ideal: dict[Hashable, Any] = {}
        self.given = {name.lower(): self._as_table(name, thing) for name, thing in (given or {}).items()}

    def _as_table(self, name: str, thing: Any) -> TableRun:
        sources = thing if isinstance(thing, tuple) else (thing,)
        try:
            run = thing if isinstance(thing, Run) else load_run(*sources, name=name)
            if not isinstance(run, TableRun):
                raise InputError("has ranked lists", fix="give a table of every image with every caption")
            size = (self.benchmark.captions.size, self.benchmark.images.size)
            if isinstance(run, MatrixRun) and run.images_by_captions == size != size[::-1]:
                raise InputError("is captions by images", fix="transpose it: images by captions")
            table = copy(run.align(self.benchmark))
        except KaratError as error:
            where = f"similarity {name!r}" + (f", {error.where}" if error.where not in (None, name) else "")
            raise type(error)(error.what, where=where, fix=error.fix) from None
        # What is remembered of it goes by its name, which two given runs may share.
        table.name = name.lower()
        return table

    def check(self, measures: Iterable[Named]) -> None:
        """Raise where a measure's similarity is neither given nor known, or has no captions to work from."""
        for phi in {phi for measure in measures for phi in similarities_of(measure)}:
            if phi in self.given:
                continue
            if check := getattr(SIMILARITIES[phi], "check_installed", None):
                check()
            self.benchmark.check_image_text()
            try:
                _ = self.benchmark.needed_texts
            except KaratError as error:
                raise InputError(
                    f"{phi} needs the captions of {self.benchmark.name}, which has none",
                    fix=f"{error.fix}; or give the similarity itself: --phi {phi}=FILE",
                ) from None
            if self.benchmark.caption_image is None:
                raise InputError(
                    f"{phi} needs to know which images the captions of {self.benchmark.name} belong to",
                    fix="say which image each was written for, or give the similarity itself",
                )

    def __getitem__(self, name: str) -> TableRun:
        if name in self.given:
            return self.given[name]
        known = _computed.setdefault(self.benchmark, {})
        if name not in known:
            table = SIMILARITIES[name](self.benchmark, self.threads)
            known[name] = self._as_table(name, table)
        return known[name]


def keep_computed(before: Benchmark, after: Benchmark) -> None:
    """Let a benchmark that differs from another in its truths alone share what was computed for it."""
    _computed[after] = _computed.setdefault(before, {})


def similarities_of(measure: Named) -> set[str]:
    """Return the names of the similarities that a measure, or a combination's parts, look at.

    >>> from karat.measures import parse_measure
    >>> similarities_of(parse_measure("NSUM(spice)")), similarities_of(parse_measure("R@5"))
    ({'spice'}, set())
    """
    measures = measure.measures() if isinstance(measure, Combined) else [measure]
    return {one.phi for one in measures if isinstance(one, Semantic)}
