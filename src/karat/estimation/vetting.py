"""Vetting: choose pairs, have them labelled, estimate again, until the budget is spent.

This is Algorithm 1 of Nguyen et al. (2018), "Active Testing", with the corrections of karat's notes: the
budget is never overspent, and every estimate is kept before and after its refit, since the two effects, more
vetted labels and a better model, are different (their figure 6).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from karat._util import plural, stage, write_file
from karat.benchmarks import Direction, Truth, sides_of
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.estimator import ESTIMATORS, LabelEstimator, run_probabilities, shared
from karat.estimation.features import check_scores
from karat.estimation.inputs import check_drawn
from karat.estimation.relevance import labels_of, without_grade
from karat.estimation.strategy import STRATEGIES, VettingStrategy
from karat.measures import Measure, parse_name

UNLISTED = ("no", "unknown")
"""What a truth says of a pair that it does not list: that it is not relevant, or nothing."""
BATCH = 0.05
"""The share of the candidates that is vetted at a time."""
DRAWS = 256
"""How many versions of the labels are drawn for measures without a closed form."""
FORMAT, VERSION = "karat-vetting", 1


class Oracle(Protocol):
    """Answers whether candidates are relevant."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each of the given candidates is relevant."""
        ...


def truth_labels(
    candidates: Candidates, truth: Truth, rel: float | str | None = None, unlisted: str = "unknown"
) -> np.ndarray:
    """Return what a truth says of every candidate: 1, 0, or NaN where it says nothing.

    Parameters
    ----------
    candidates, truth
        About which pairs, and what answers.
    rel
        The grade from which on a pair is relevant.
    unlisted
        "no": what the truth does not list is not relevant; "unknown": it is not vetted.
    """
    if truth.judgments is not None and not len(truth.judgments):
        raise InputError(f"truth {truth.name!r} has no labels", fix="name another truth, or vet some pairs")
    check_contradictions(truth, candidates.direction)
    label = labels_of(truth, candidates.direction, candidates.queries[candidates.query], candidates.item, rel)
    return np.nan_to_num(label) if unlisted == "no" else label


def check_contradictions(truth: Truth, direction: Direction) -> None:
    """Raise where one source of a truth calls a pair relevant and another does not."""
    if truth.judgments is None or len(truth.judgments.sources) < 2:
        return
    highest, lowest = truth.judgments.pairs("max"), truth.judgments.pairs("min").grade
    apart = np.flatnonzero((highest.grade > 0) & (lowest == 0))
    if len(apart):
        first, second = (
            f"{side.one} {items[apart[0]]}"
            for side, items in zip(sides_of(direction), (highest.image, highest.caption))
        )
        raise InputError(
            f"truth {truth.name!r} has contradictory labels of {plural(len(apart), 'pair')}, first of "
            f"{first} with {second} (numbers in the benchmark)",
            fix="name a truth of one source, or let karat project publish decide",
        )


@dataclass(frozen=True, eq=False)
class Round:
    """One batch of vetted candidates.

    Parameters
    ----------
    rows, relevant
        What was vetted, and the answers.
    before, after
        Estimated values [runs, queries] with these labels, before and after the estimator learned from them;
        `before` is NaN in the first round, where nothing had been learned, and where it was not asked for.
    """

    rows: np.ndarray
    relevant: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, eq=False)
class Vetting:
    """What was vetted, batch by batch, and what was estimated after each.

    Parameters
    ----------
    candidates, measure, estimator, strategy
        What was asked about, and how.
    rounds
        The batches.
    open_at_start
        How many candidates the measure looks at.
    probability
        Per candidate, the last estimate of the probability that it is relevant; vetted ones have their label.
    """

    candidates: Candidates
    measure: Measure
    estimator: LabelEstimator
    strategy: VettingStrategy
    rounds: tuple[Round, ...]
    open_at_start: int
    probability: np.ndarray

    @cached_property
    def labels(self) -> VettedLabels:
        """Everything that was vetted."""
        return VettedLabels(
            self.candidates,
            np.concatenate([np.zeros(0, np.int64), *(step.rows for step in self.rounds)]),
            np.concatenate([np.zeros(0, bool), *(step.relevant for step in self.rounds)]),
        )

    @property
    def effort(self) -> np.ndarray:
        """Per round, the share of the candidates that the measure looks at which was vetted by then."""
        asked = self.candidates.asked
        return np.cumsum([asked[step.rows].sum() for step in self.rounds]) / max(1, self.open_at_start)

    def values(self, when: str = "after") -> np.ndarray:
        """Return the estimated values per round, run and query, [rounds, runs, queries]."""
        return np.stack([getattr(step, when) for step in self.rounds])


def vet(
    candidates: Candidates,
    oracle: Oracle,
    measure: Measure,
    *,
    estimator: str | LabelEstimator,
    strategy: str | VettingStrategy,
    first: str | VettingStrategy = "random",
    budget: int | float = 1.0,
    batch: int | float = BATCH,
    draws: int = DRAWS,
    before: bool = True,
    seed: int = 0,
    log: str | Path | None = None,
) -> Vetting:
    """Vet candidates batch by batch, and estimate the score after each.

    Parameters
    ----------
    candidates
        What may be vetted.
    oracle
        Who answers: any function of candidate numbers that returns whether each is relevant.
    measure
        What is estimated. Candidates that it does not look at are never vetted.
    estimator, strategy
        How labels become probabilities, and how the next batch is chosen.
    first
        How the first batch is chosen, before anything is known.
    budget, batch
        How many candidates may be vetted, and how many at a time: a number, or a share of those that the
        measure looks at. The budget is never overspent.
    draws
        For measures without a closed form.
    before
        Estimate before each refit, too, which takes as long again as estimating after it.
    seed
        Of all random choices. The same seed gives the same batches.
    log
        A file that keeps every batch. Where it exists, its answers are used before the oracle is asked, so
        that an interrupted loop goes on where it ended.

    Examples
    --------
    >>> from karat.estimation import make_candidates
    >>> from karat.measures import parse_measure
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> bench, p10 = world.benchmark(), parse_measure("P@10")
    >>> pairs = make_candidates(simulate_systems(world)[:1], bench, "original", direction="t2i", depth=10)
    >>> relevant = truth_labels(pairs, bench.truth("complete")) > 0
    >>> oracle = relevant.__getitem__
    >>> done = vet(pairs, oracle, p10, estimator="naive", strategy="random", budget=100, batch=60)
    >>> [len(step.rows) for step in done.rounds], done.effort.round(3).tolist()
    ([60, 40], [0.05, 0.083])
    """
    estimator, strategy = parse_name(estimator, ESTIMATORS), parse_name(strategy, STRATEGIES)
    start = parse_name(first, STRATEGIES)
    check_drawn(candidates.direction)
    if estimator.needs_scores:
        # Before anything is asked.
        check_scores(candidates)
    plain = without_grade(measure)
    matter = candidates.matter(plain)
    asked = matter & candidates.asked
    total = int(asked.sum())
    left, step = as_number(budget, total, "budget"), max(1, as_number(batch, total, "batch"))
    head = {"format": FORMAT, "version": VERSION, "measure": str(measure), "estimator": str(estimator),
            "strategy": str(strategy), "first": str(start), "batch": step, "seed": seed,
            "candidates": len(candidates), "direction": candidates.direction}  # fmt: skip
    left = min(left, total)
    journal = VettingLog.open(log, head, candidates, left)
    labels, rounds = VettedLabels.none(candidates), list[Round]()
    probability = np.full(len(candidates), np.nan)

    def estimate() -> np.ndarray:
        ranked = candidates.vetted_by(labels.vetted)
        return values_per_query(ranked, labels.filled(probability), plain, draws, seed)

    with stage("vetting", left) as vetted:
        while left > 0:
            rng = np.random.default_rng([seed, len(rounds)])
            open_rows = np.flatnonzero(asked & ~labels.vetted)
            how = strategy if rounds else start
            # A log may end with a smaller batch: that of a budget which has been raised since.
            size = min(step, left, *journal.next_size)
            chosen = how.choose(labels, shared(probability), plain, open_rows, size, rng)
            rows = candidates.whole_units(chosen)
            relevant = journal.answers(rows, oracle, len(chosen))
            labels = labels.add(rows, relevant)
            old = estimate() if before else None
            probability = run_probabilities(estimator, labels, plain, rng)
            new = estimate()
            rounds.append(Round(rows, relevant, np.full(new.shape, np.nan) if old is None else old, new))
            left -= len(chosen)
            vetted.advance(len(chosen))
    return Vetting(candidates, measure, estimator, strategy, tuple(rounds), total, shared(probability))


def values_per_query(
    candidates: Candidates, probability: np.ndarray, measure: Measure, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """Return the expected values [runs, queries] under probabilities of the candidates' labels.

    They are one per candidate, or [runs, J] where each run has its own. The draws of measures without a
    closed form are the same at every call, so that two results differ by their probabilities alone.
    """
    each = np.broadcast_to(probability, (len(candidates.runs), len(candidates)))
    return np.stack(
        [
            ranking.expected(own, measure, draws, np.random.default_rng([seed, 7]))
            for ranking, own in zip(candidates.rankings.values(), each)
        ]
    )


def as_number(amount: int | float, total: int, name: str) -> int:
    """Return a number of candidates from a number, or from a share of all of them.

    >>> as_number(0.05, 1000, "batch"), as_number(200, 1000, "budget")
    (50, 200)
    """
    if isinstance(amount, bool) or not np.isfinite(amount) or amount <= 0:
        raise InputError(f"{name} is {amount}", fix="give a number of pairs, or a share from 0 to 1")
    if isinstance(amount, float) and amount <= 1:
        # Rounded first: 0.07 * 100 is a little more than 7.
        return int(np.ceil(round(amount * total, 9)))
    if amount != int(amount):
        raise InputError(f"{name} is {amount}", fix="give a whole number of pairs, or a share from 0 to 1")
    return int(amount)


@dataclass
class VettingLog:
    """The batches of a loop in a file, by the benchmark's indices, one json object per line.

    The file is replaced as a whole after each batch, so that it holds every answer that was given.
    """

    path: Path | None
    candidates: Candidates
    lines: list[dict[str, Any]] = field(default_factory=list)
    known: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(
        cls, path: str | Path | None, head: dict[str, Any], candidates: Candidates, budget: int
    ) -> VettingLog:
        """Read a log where there is one, and check that it was made by the same loop, within the budget."""
        journal = cls(None if path is None else Path(path), candidates, [head])
        if journal.path is None or not journal.path.exists():
            return journal
        try:
            lines = [json.loads(line) for line in journal.path.read_text(encoding="utf-8").splitlines()]
            old, *batches = lines
            if old.get("format") != FORMAT:
                raise ValueError
            for batch in batches:
                if not len(batch["image"]) == len(batch["caption"]) == len(batch["relevant"]):
                    raise ValueError
                if not all(isinstance(answer, bool) for answer in batch["relevant"]):
                    raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError):
            raise InputError("is not a log of vetting", where=journal.path, fix="give another file") from None
        for key in head:
            if old.get(key) != head[key]:
                raise InputError(
                    f"was written with {key} {old.get(key)}, not {head[key]}",
                    where=journal.path,
                    fix="give the same options, or another file",
                )
        spent = sum(map(journal.size, batches))
        if spent > budget:
            raise InputError(
                f"holds answers about {plural(spent, 'pair')}, and the budget is {budget}",
                where=journal.path,
                fix="raise the budget, or give another file",
            )
        return replace(journal, known=batches)

    @property
    def next_size(self) -> list[int]:
        """The size of the next batch of the log; nothing at its end."""
        return [self.size(batch) for batch in self.known[:1]]

    @staticmethod
    def size(batch: dict[str, Any]) -> int:
        """Return how many answers a batch took: one for each candidate, or for each unit of several."""
        return int(batch.get("units", len(batch["image"])))

    def answers(self, rows: np.ndarray, oracle: Oracle, units: int) -> np.ndarray:
        """Return the answers about candidates: those of the log as far as it goes, then the oracle's."""
        image, caption = (side[rows].tolist() for side in self.candidates.pairs)
        if self.known:
            batch = self.known.pop(0)
            if batch["image"] == image and batch["caption"] == caption:
                self.lines.append(batch)
                return np.array(batch["relevant"], dtype=bool)
            raise InputError(
                "asked about other pairs",
                where=self.path,
                fix="give the same runs and labels, or another file",
            )
        relevant = np.asarray(oracle(rows), dtype=bool)
        if self.path is not None:
            line = {"image": image, "caption": caption, "relevant": relevant.tolist()}
            self.lines.append(line if units == len(rows) else {**line, "units": units})
            text = "".join(json.dumps(line) + "\n" for line in self.lines)
            write_file(self.path, lambda draft: draft.write_text(text, encoding="utf-8"))
        return relevant
