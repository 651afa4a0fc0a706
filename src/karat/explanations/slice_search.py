"""Search for slices: the strongest first, then what adds to those that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import plural
from karat.explanations.max_t import (
    Controls,
    MaxT,
    Noise,
    blocks,
    cluster_sums,
    corrected_p,
    critical_value,
    largest,
)
from karat.explanations.slice_columns import SliceTable

NOT_SHOWN = "not shown to differ"
"""What is said of a slice on which values are as chance allows."""


@dataclass(frozen=True)
class Slice:
    """Queries on which a run is worse than on the others.

    Parameters
    ----------
    name, kind
        "colour: any" and "colours".
    n, images
        How many queries it has, and of how many images.
    inside, outside
        The mean value of its queries, and of the others.
    difference, low, high
        By how much the inside is worse or better, with what is held constant, and its interval, which holds
        for all slices of the search together.
    p
        Corrected for the search.
    same
        Other names: slices of the same queries.
    explains
        Slices that are worse too, but not once this one is known.
    reference_inside, reference_outside
        The mean values of the other run; None without one.
    verdict
        Whether the inside is "worse", "better" or "not shown to differ", by `p`.
    """

    name: str
    kind: str
    n: int
    images: int
    inside: float
    outside: float
    difference: float
    low: float
    high: float
    p: float
    same: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    reference_inside: float | None = None
    reference_outside: float | None = None
    verdict: str = "worse"


class SliceSearch:
    """A search for the slices with low values, or with low differences of two values.

    Parameters
    ----------
    table
        The slices.
    values, reference
        Per query, and those that are subtracted; None for none.
    cluster
        Per query, the number of what it belongs to, from 0.
    constant
        Which slices are held constant, as booleans.
    better
        Whether "high" or "low" values are good.
    correction
        The level of the intervals, and how often values are dealt out.
    """

    def __init__(
        self,
        table: SliceTable,
        values: np.ndarray,
        reference: np.ndarray | None,
        cluster: np.ndarray,
        constant: np.ndarray,
        better: str,
        correction: MaxT,
    ) -> None:
        self.table, self.own, self.reference, self.cluster = table, values, reference, cluster
        self.sign = -1 if better == "low" else 1
        self.values = values = self.sign * (values if reference is None else values - reference)
        self.controls = Controls.of(table.columns[constant])
        self.residual = self.controls.without(values)
        self.noise = Noise.of(self.residual, cluster, self.controls.basis.shape[1])
        inside = table.columns.sum(axis=1)
        fits = (inside > 0) & (inside < len(values)) & ~constant
        self.candidates = np.flatnonzero(fits)
        self.notes: list[str] = []
        if self.noise.variance < 1e-12:
            self.notes.append("all queries have the same value, so there is nothing to find")
            self.z, self.top = np.zeros(len(self.candidates)), np.full(correction.deals, np.inf)
        else:
            rows = table.rows[self.candidates]
            self.z, self.top = largest(rows, self.residual, self.controls, self.noise, correction)
            # What is held constant is an estimate: its errors are common to queries that name the same thing.
            if constant.any():
                self.noise = self.noise.grouped(things_of(table), self.residual, self.controls)
        self.critical = critical_value(self.top, correction.level)

    def effects(
        self, places: np.ndarray, controls: Controls, noise: Noise, residual: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the differences of slices, their standard errors, and both as z."""
        difference, error = np.zeros(len(places)), np.full(len(places), np.inf)
        for part in blocks(len(places), len(self.values)):
            columns = controls.without(self.table.columns[places[part]].astype(np.float64))
            squares = (columns**2).sum(axis=1)
            known = squares > 1e-6
            scale = 1 / np.where(known, squares, np.inf)
            difference[part] = (columns @ residual) * scale
            chance = noise.error(self.table.rows[places[part]], controls) * scale
            # Where the slice itself spreads more than all queries do, its own spread counts.
            left = residual - difference[part][:, None] * columns
            sums = cluster_sums(columns * left, self.cluster, noise.clusters)
            spread = np.sqrt((sums**2).sum(axis=1)) * scale
            error[part] = np.where(known, np.maximum(chance, spread), np.inf)
        return difference, error, difference / error

    def partial(self, places: np.ndarray, chosen: Sequence[int], z: np.ndarray) -> np.ndarray:
        """Return z, for conjunctions no further from 0 than beside their two parts."""
        z = z.copy()
        for k, place in enumerate(places.tolist()):
            parts = [part for part in self.table.parts[place].tolist() if part >= 0 and part not in chosen]
            if parts and z[k] < -self.critical:
                beside = self.given([*chosen, *parts])
                z[k] = max(z[k], self.effects(places[k : k + 1], *beside)[2][0])
        return z

    def given(self, chosen: Sequence[int]) -> tuple[Controls, Noise, np.ndarray]:
        """Return what is held constant, and what is left of the values, once some slices are known."""
        if not len(chosen):
            return self.controls, self.noise, self.residual
        controls = self.controls.extended(self.table.columns[list(chosen)])
        residual = controls.without(self.values)
        noise = Noise.of(residual, self.cluster, controls.basis.shape[1])
        noise = replace(noise, groups=self.noise.groups, between=self.noise.between)
        return controls, noise, residual

    def select(self, most: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return the places of the slices that are worse, the strongest first, each with what it explains."""
        if not np.isfinite(self.critical):
            return []
        far = self.candidates[np.abs(self.z) > self.critical]
        z = self.effects(far, *self.given([]))[2]
        better = int((z > self.critical).sum())
        worse = far[z < -self.critical]
        if better:
            self.notes.append(
                f"{plural(better, 'slice')} {'is' if better == 1 else 'are'} better than the rest"
            )
        chosen: list[int] = []
        while len(worse):
            z = self.partial(worse, chosen, self.effects(worse, *self.given(chosen))[2])
            still = z < -self.critical
            if not still.any() or len(chosen) == most:
                break
            chosen.append(int(worse[np.argmin(z)]))
            worse = np.delete(worse, np.argmin(z))
        if len(worse) and still.any():
            self.notes.append(f"{plural(int(still.sum()), 'further slice')} would add to these")
            worse = worse[~still]
        return list(zip(chosen, self._explained(chosen, worse)))

    def _explained(self, chosen: list[int], others: np.ndarray) -> list[tuple[str, ...]]:
        """Return, for each chosen slice, those of the others that hold mostly the same queries."""
        if not chosen:
            return []
        single = others[self.table.parts[others, 0] < 0]
        own = self.table.columns[chosen].astype(np.float64)
        theirs = self.table.columns[single].astype(np.float64)
        own, theirs = (rows - rows.mean(axis=1, keepdims=True) for rows in (own, theirs))
        alike = (theirs @ own.T) / np.sqrt(np.outer((theirs**2).sum(axis=1), (own**2).sum(axis=1)))
        nearest = alike.argmax(axis=1) if len(single) else np.zeros(0, int)
        names = np.array(self.table.names, object)[single]
        return [tuple(names[nearest == k].tolist()) for k in range(len(chosen))]

    def describe(self, place: int, explains: tuple[str, ...] = ()) -> Slice:
        """Return a slice with its numbers, in the direction of the values."""
        inside = self.table.columns[place]
        difference, low, high, z = self._interval(place)
        p = float(corrected_p(np.array([z]), self.top)[0])
        other = {}
        if self.reference is not None:
            other = {
                "reference_inside": float(self.reference[inside].mean()),
                "reference_outside": float(self.reference[~inside].mean()),
            }
        name = self.table.names[place]
        return Slice(
            name, self.table.kinds[place], int(inside.sum()), len(np.unique(self.cluster[inside])),
            float(self.own[inside].mean()), float(self.own[~inside].mean()), difference, low, high, p,
            self.table.same.get(name, ()), explains, **other,
            verdict="worse" if z < -self.critical else "better" if z > self.critical else NOT_SHOWN,
        )  # fmt: skip

    def _interval(self, place: int) -> tuple[float, float, float, float]:
        """Return the difference of a slice, both ends of its interval, and z, which is high where good."""
        if not np.isfinite(self.critical):
            return 0.0, float("nan"), float("nan"), 0.0
        difference, error, z = (float(a[0]) for a in self.effects(np.array([place]), *self.given([])))
        reach = self.critical * error
        low, high = sorted((self.sign * (difference - reach), self.sign * (difference + reach)))
        return self.sign * difference, low, high, z


def things_of(table: SliceTable) -> Any:
    """Return the concepts of a table that no other is a kind of, as compressed rows [concepts, queries]."""
    rows = table.rows[np.flatnonzero(np.array(table.kinds) == "concepts")]
    both = (rows @ rows.T).toarray()
    size = both.diagonal()
    inside = (both == size[:, None]) & (size[:, None] < size)
    return rows[np.flatnonzero(~inside.any(axis=0))]
