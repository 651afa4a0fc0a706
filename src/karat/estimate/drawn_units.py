"""Drawn units: labels and the batches in which they were drawn, as what totals are estimated from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.estimate.candidates import Candidates, VettedLabels
from karat.estimate.design import IN_OTHER_TASKS, IN_OWN_TASKS, NOWHERE, DrawnSample, run_weights
from karat.estimate.totals import DrawnBatch
from karat.measures import Measure
from karat.stats import FEWEST


@dataclass(frozen=True, eq=False)
class DrawnUnits:
    """Which units were drawn when, and which labels are known: units are pairs, or queries.

    Parameters
    ----------
    labels
        What is known.
    batches
        What was drawn, in order.
    unit
        Per candidate, the number of its unit; −1 for what the measure does not look at.
    queries
        Whether units are queries: then batches of single pairs draw none.
    frame
        Per candidate, the first frame that has it.
    since
        Per label that was not drawn, the number of the first batch before which it was known.
    """

    labels: VettedLabels
    batches: Sequence[DrawnSample]
    unit: np.ndarray
    queries: bool
    frame: np.ndarray
    since: np.ndarray

    @cached_property
    def drawn(self) -> np.ndarray:
        """Per candidate, the batch that drew it; −1 where none did."""
        batch = np.full(len(self.unit), -1)
        for b, sample in enumerate(self.batches):
            if (batch[sample.rows] >= 0).any():
                raise InputError("a pair was drawn by two batches", fix="draw from what is not drawn yet")
            batch[sample.rows] = b
        return batch

    @cached_property
    def row_known_from(self) -> np.ndarray:
        """Per candidate, the number of the first batch before which its label was known."""
        known = np.full(len(self.unit), len(self.batches) + 1)
        rows = self.labels.rows
        known[rows] = np.where(self.drawn[rows] >= 0, self.drawn[rows] + 1, self.since)
        return known

    @cached_property
    def known_from(self) -> np.ndarray:
        """Per unit, the number of the first batch before which its value was known."""
        inside = self.unit >= 0
        known = np.zeros(int(self.unit.max(initial=-1)) + 1, np.int64)
        np.maximum.at(known, self.unit[inside], self.row_known_from[inside])
        return known

    @cached_property
    def made(self) -> tuple[list[int], list[DrawnBatch], list[str]]:
        """The numbers of the batches that count, the batches, and notes."""
        count = len(self.known_from)
        numbers, batches, notes = [], [], []
        frame = np.zeros(count, np.int64)
        inside = self.unit >= 0
        np.maximum.at(frame, self.unit[inside], self.frame[inside])
        pending, lost = np.zeros(count, bool), np.zeros(count, bool)
        missing = 0
        for b, sample in enumerate(self.batches):
            covers = (frame <= sample.frame) & ~lost
            open_units = covers & ~pending & (self.known_from > b)
            single = sample.unit == "pair"
            if self.queries and single:
                continue
            group = sample.rows if single else sample.query
            names, member = np.unique(group, return_inverse=True)
            lacking = np.zeros(len(names), bool)
            matters = self.unit[sample.rows] >= 0
            unanswered = matters & (self.row_known_from[sample.rows] > len(self.batches))
            np.logical_or.at(lacking, member, unanswered)
            missing += int(unanswered.sum())
            asked = np.full(len(names), NOWHERE)
            where = IN_OWN_TASKS if sample.asked is None else sample.asked[matters]
            np.maximum.at(asked, member[matters], where)
            rate = response_rates(asked, lacking)
            keep = matters & ~lacking[member]
            at, first = np.unique(self.unit[sample.rows[keep]], return_index=True)
            if not len(at) or not rate.all():
                # Hardly any of those that were asked about are answered: nothing stands for the others.
                lost[self.unit[sample.rows[unanswered]]] = True
                continue
            left = np.unique(self.unit[sample.rows[matters & lacking[member]]])
            pending[left] = True
            chosen = np.flatnonzero(keep)[first]
            complete = (rate == 1).all()
            numbers.append(b)
            batches.append(
                DrawnBatch(
                    covers,
                    open_units,
                    at,
                    sample.probability[chosen] * rate[member[chosen]],
                    sample.stratum[chosen] if complete else np.zeros(len(at), np.int64),
                    group[chosen],
                    left,
                    rate[member[chosen]],
                )
            )
        if missing:
            notes.append(
                f"{plural(missing, 'drawn pair')} not answered yet: the answered ones are taken as a random "
                "part of their batch"
            )
        return numbers, batches, notes


def response_rates(asked: np.ndarray, lacking: np.ndarray) -> np.ndarray:
    """Return per drawn unit the share of those asked about likewise that are answered; 0 if too few are.

    Those whose labels were known without a question are answered for certain. Pairs that earlier tasks ask
    about may all be answered when half of the batch's own tasks are, so each kind has its own share. Where
    earlier tasks have too few answers to stand for the rest of them, the batch's own stand for these as well.

    Parameters
    ----------
    asked
        Per unit, where its label is asked for, as in `DrawnSample`.
    lacking
        Per unit, whether an answer is missing.

    Examples
    --------
    >>> asked = np.repeat([NOWHERE, IN_OTHER_TASKS, IN_OWN_TASKS], [1, 5, 10])
    >>> response_rates(asked, np.arange(16) >= 11)[[0, 1, 15]].tolist()
    [1.0, 1.0, 0.5]
    """
    rate = np.ones(len(asked))
    kinds = [asked == kind for kind in (IN_OTHER_TASKS, IN_OWN_TASKS)]
    few = [lacking[kind].any() and (~lacking[kind]).sum() < FEWEST for kind in kinds]
    if few == [True, False] and kinds[1].any():
        kinds, few = [kinds[0] | kinds[1]], [False]
    for kind, too_few in zip(kinds, few, strict=True):
        rate[kind] = 0.0 if too_few else (~lacking[kind]).sum() / max(kind.sum(), 1)
    return rate


def find_units(
    labels: VettedLabels,
    batches: Sequence[DrawnSample],
    measure: Measure,
    frame: np.ndarray,
    since: np.ndarray,
) -> DrawnUnits:
    """Return pairs as units for measures that are sums over pairs, if any were drawn; queries otherwise."""
    candidates = labels.candidates
    weights = run_weights(candidates, measure)
    if weights is None or all(batch.unit == "query" for batch in batches):
        return DrawnUnits(
            labels, batches, query_units(candidates, candidates.matter(measure)), True, frame, since
        )
    looked_at = (weights != 0).any(axis=0)
    unit = np.where(looked_at, np.cumsum(looked_at) - 1, -1)
    return DrawnUnits(labels, batches, unit, False, frame, since)


def query_units(candidates: Candidates, looked_at: np.ndarray) -> np.ndarray:
    """Return the unit of each candidate where units are queries."""
    return np.where(looked_at, candidates.query, -1)
