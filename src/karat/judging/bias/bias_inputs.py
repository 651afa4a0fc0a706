"""What bias can be told of: which runs, and which measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction, Fold, Pairs
from karat.errors import InputError
from karat.judging.publishing import FOLD, SIDES, valid_items
from karat.measures import Measure, Named, parse_measure
from karat.runs import Run
from karat.scores import similarities_of


def in_order(runs: Sequence[Run], systems: Sequence[str]) -> list[Run]:
    """Return the runs of the pool's systems in their order, or say which is missing or strange."""
    by_name = {run.name: run for run in runs}
    if len(by_name) < len(runs):
        raise InputError("two runs have the same name", fix="name them as in the pool: --name A,B")
    strange = [name for name in by_name if name not in systems]
    missing = [name for name in systems if name not in by_name]
    if strange or missing:
        what = f"the run {strange[0]!r} is no system" if strange else f"there is no run {missing[0]!r}"
        raise InputError(
            f"{what} of the pool", fix=f"give the runs of {', '.join(systems)}, named so: --name A,B"
        )
    return [by_name[name] for name in systems]


def bias_measures(names: Iterable[str | Named]) -> list[Measure]:
    """Return measures that bias can be told of, each once: shares per query, of which high ones are good.

    >>> bias_measures(["R@1", "RP", "R-Precision"])
    [R@1, RP]
    """
    out = []
    for name in names:
        measure = parse_measure(name)
        fits = isinstance(measure, Measure) and measure.of_relevance
        if not fits or measure.unit != "fraction" or measure.better != "high" or similarities_of(measure):
            raise InputError(
                f"the bias of {measure} is not defined here",
                fix="choose R@1, RP, mAP@R, nDCG@10 and the like",
            )
        assert isinstance(measure, Measure)
        out.append(measure)
    if not out:
        raise InputError("no measure was given", fix="ask for R@1 or RP")
    return list(dict.fromkeys(out))


class Valid:
    """Leaves out what was marked invalid, as publishing does: it neither asks nor is ranked nor counts.

    Parameters
    ----------
    benchmark
        Whose images and captions they are.
    marked
        Per kind, "image" or "caption", the indices of the invalid ones.
    """

    def __init__(self, benchmark: Benchmark, marked: Mapping[str, Iterable[int]] | None = None) -> None:
        self._valid = valid_items(
            benchmark, {kind: dict.fromkeys(some, "") for kind, some in (marked or {}).items()}
        )
        # Off-gallery items are nobody's query and are not ranked.
        inside = [
            self._valid["image"][: benchmark.images.size],
            self._valid["caption"][: benchmark.captions.size],
        ]
        everything = all(part.all() for part in inside)
        self.fold = None if everything else Fold(FOLD, *(np.flatnonzero(part) for part in inside))

    def pairs(self, pairs: Pairs) -> Pairs:
        """Return the pairs of valid images and captions."""
        image, caption = pairs.image.astype(np.int64), pairs.caption.astype(np.int64)
        good = self._valid["image"][image] & self._valid["caption"][caption]
        return Pairs(image[good], caption[good], pairs.grade[good])

    def queries(self, queries: Mapping[Direction, np.ndarray]) -> dict[Direction, np.ndarray]:
        """Return the valid queries of each direction that has any."""
        kept = {
            d: np.unique(some)[self._valid[SIDES[d]][np.unique(some)]]
            for d, some in queries.items()
            if len(some)
        }
        return {direction: some for direction, some in kept.items() if len(some)}
