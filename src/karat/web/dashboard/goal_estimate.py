"""The estimate of a project's goal while answers arrive, and the pairs that are asked about next."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction
from karat.errors import InputError, KaratError
from karat.judging import Rates
from karat.runs import Compute, Loading, Run, is_model, load_runs
from karat.store import Goal, Project, StoreError
from karat.web.dashboard.jobs import Job, JobOutcome, Work
from karat.web.dashboard.live import Pay, pay_of
from karat.web.failures import sentence_of

if TYPE_CHECKING:
    from karat.estimation import NextPairs, ProjectEstimate

MOST_POINTS = 200
"""How many points of the history are kept; from there on, every second one is dropped."""
LOG = logging.getLogger("karat.web")


class OfferedRuns:
    """The runs that the server was started with; the goal's are chosen among them, by name.

    Parameters
    ----------
    project
        What the runs are matched to.
    files
        Their files, or the names of models.
    """

    def __init__(self, project: Project, files: Sequence[str]) -> None:
        self._project = project
        self._files = tuple(file if is_model(file) else str(Path(file).resolve()) for file in files)

    @cached_property
    def by_name(self) -> dict[str, Run]:
        """The runs by name, loaded at the first call."""
        if not self._files:
            return {}
        names = short_names(self._files)
        runs = load_runs(list(self._files), self._project.benchmark(), loading=Loading(name=names))
        return {run.name: run for run in runs}

    @cached_property
    def sources(self) -> dict[str, str]:
        """What a goal stores for each name: its file, or the name itself where a run has several files."""
        names = self.names()
        return dict(zip(names, self._files if len(names) == len(self._files) else names, strict=True))

    def names(self) -> list[str]:
        """Return the names of all."""
        return list(self.by_name)

    def named(self, goal: Goal) -> list[str]:
        """Return the names of a goal's runs, as far as they are known."""
        known = {source: name for name, source in self.sources.items()}
        return [known.get(run, Path(run).stem or run) for run in goal.runs]

    def chosen(self, goal: Goal) -> list[Run]:
        """Return the runs of a goal, or raise."""
        names = self.named(goal)
        if missing := [name for name in names if name not in self.by_name]:
            raise InputError(
                f"the server was started without {plural(len(missing), 'run')} of the goal: "
                f"{', '.join(missing)}",
                fix="start it with --run FILE, or choose other runs",
            )
        return [self.by_name[name] for name in names]

    def source(self, name: str) -> str:
        """Return what a goal stores for a name, or raise."""
        if name not in self.sources:
            raise InputError(f"there is no run {name!r:.100}", fix="choose among those of the page")
        return self.sources[name]


def short_names(files: Sequence[str]) -> list[str] | None:
    """Return names that tell files of the same name apart without their whole paths; None if all differ.

    >>> short_names(["/runs/a/sims.npy", "/runs/b/sims.npy"]), short_names(["/runs/a.npy", "/runs/b.npy"])
    (['a/sims', 'b/sims'], None)
    """
    if len({Path(file).stem for file in files}) == len(files):
        return None
    names = [f"{Path(file).parent.name}/{Path(file).stem}" for file in files]
    if len(set(names)) < len(names):
        raise InputError(f"several runs are called {', '.join(sorted(set(names)))}", fix="rename a file")
    return names


@dataclass(eq=False)
class Proposal:
    """Pairs to ask about next, which the owner has not confirmed yet.

    Parameters
    ----------
    number
        Its number since the server started.
    asked, overlap
        How many pairs were asked for, and how many annotators are to answer each.
    goal
        The goal at that time.
    shown
        What the page shows: the state, sentences on the cost, and the cost itself.
    """

    number: int
    asked: int
    overlap: int
    goal: Goal
    shown: dict[str, Any] = field(default_factory=dict)


class GoalEstimate:
    """What the page shows of the goal: the newest estimate, how it came there, and the proposed pairs.

    Parameters
    ----------
    project
        The project.
    runs
        The runs that the server offers.
    publish
        Sends the estimate to all who watch.
    propose
        Sends the proposed pairs to owners.
    """

    def __init__(
        self,
        project: Project,
        runs: OfferedRuns,
        publish: Callable[[Any], None],
        propose: Callable[[Any], None],
    ) -> None:
        self.project, self.runs = project, runs
        self.proposal: Proposal | None = None
        self._publish, self._propose = publish, propose
        self._goal: Goal | None = None
        self._history: list[dict[str, Any]] = []
        self._last: dict[str, Any] | None = None
        self._stop: int | None = None
        self._guard, self._numbers = threading.Lock(), count(1)

    def compute(self) -> None:
        """Estimate the scores of the goal and publish them; what goes wrong becomes a sentence."""
        goal = self.project.goals.read()
        if goal != self._goal:
            self._goal, self._history, self._last, self._stop = goal, [], None, None
        if goal is None:
            self._publish({"goal": None, "estimate": None, "history": [], "stop": None, "trouble": ""})
            return
        trouble, benchmark = "", self.project.benchmark()
        try:
            runs = self.runs.chosen(goal)
            found = estimate(self.project, goal, runs)
            # What a plain random sample would need is a matter of sampling alone.
            sure = estimate(self.project, replace(goal, noisy=False), runs) if goal.noisy else found
            queries = benchmark.queries(goal.direction).size
            self._last = shown_estimate(found, sure, goal, queries)
            if all(record["value"] is not None for record in self._last["runs"]):
                self._remember(self._last)
        except Exception as error:
            trouble = failure_sentence(error)
        self._publish(
            {
                "goal": goal.to_json()
                | {"runs": self.runs.named(goal), "ranking": ranking(benchmark, goal.direction)},
                "estimate": self._last,
                "history": self._history,
                "stop": self._stop,
                "trouble": trouble,
            }
        )

    def propose(self, asked: int, overlap: int) -> tuple[Proposal, Work]:
        """Return a new proposal for so many pairs, and the work of finding out what they cost."""
        goal = self.project.goals.read()
        if goal is None:
            raise InputError("the project has no goal", fix="set one first")
        self.runs.chosen(goal)
        with self._guard:
            if self.proposal is not None and self.proposal.shown["state"] in ("drawing", "storing"):
                raise InputError("pairs are being drawn already", fix="wait a moment")
            proposal = self.proposal = Proposal(next(self._numbers), asked, overlap, goal)
            proposal.shown = {"number": proposal.number, "asked": asked, "state": "drawing"}
        self._propose(proposal.shown)
        return proposal, self._work(proposal, "proposed")

    def confirm(self, number: int) -> tuple[Proposal, Work]:
        """Return the proposal of a number, and the work of putting its pairs into the queue.

        They are drawn anew, so that answers that came meanwhile, and pairs that were drawn, are taken into
        account; with neither, they are the same.
        """
        with self._guard:
            proposal = self.proposal
            if proposal is None or proposal.number != number or proposal.shown["state"] != "proposed":
                raise InputError("these pairs are no longer proposed", fix="ask for pairs again")
            if proposal.goal != self.project.goals.read():
                raise InputError("the goal has changed since then", fix="ask for pairs again")
            proposal.shown = proposal.shown | {"state": "storing"}
        self._propose(proposal.shown)
        return proposal, self._work(proposal, "added")

    def _work(self, proposal: Proposal, state: str) -> Work:
        """Return the work after which a proposal has a state: "proposed", or "added" to the queue."""

        def work(job: Job, folder: Path) -> JobOutcome:
            try:
                runs = self.runs.chosen(proposal.goal)
                drawn = draw(self.project, runs, proposal, state != "added")
            except Exception as error:
                self.change(proposal, state="failed", said=[failure_sentence(error)])
                raise
            cost = cost_of(self.project, drawn)
            self.change(proposal, state=state, **cost)
            return JobOutcome(" ".join(cost["said"]), drawn.notes)

        return work

    def drop(self) -> None:
        """Forget the proposal."""
        with self._guard:
            if self.proposal is not None and self.proposal.shown["state"] == "storing":
                raise InputError("the pairs are being added already", fix="wait a moment")
            self.proposal = None
        self._propose(None)

    def change(self, proposal: Proposal, **more: Any) -> None:
        """Change what is shown of a proposal, unless it was dropped."""
        with self._guard:
            proposal.shown = proposal.shown | more
            current = self.proposal is proposal
        if current:
            self._propose(proposal.shown)

    def _remember(self, estimate: Mapping[str, Any]) -> None:
        if not estimate["reached"]:
            self._stop = None
        elif self._stop is None or self._stop > estimate["labels"]:
            self._stop = estimate["labels"]
        point = {
            "labels": estimate["labels"],
            "runs": [ends(record) for record in estimate["runs"]],
            "differences": [ends(record) for record in estimate["differences"]],
        }
        if self._history and self._history[-1]["labels"] >= point["labels"]:
            # Answers were changed or withdrawn: what came later is no longer so.
            self._history = [old for old in self._history if old["labels"] < point["labels"]]
        self._history.append(point)
        if len(self._history) > MOST_POINTS:
            self._history = self._history[:-1:2] + self._history[-1:]


def estimate(project: Project, goal: Goal, runs: Sequence[Run]) -> ProjectEstimate:
    """Estimate the scores of a goal."""
    # Imported late: a server without a goal needs none of it. One thread: the others answer requests.
    from karat.estimation import estimate_goal

    return estimate_goal(project, goal, runs, compute=Compute(threads=1))


def ranking(benchmark: Benchmark, direction: Direction) -> str:
    """Return what a direction ranks for what: "captions to images"."""
    return f"{benchmark.query_side(direction).many} to {benchmark.item_side(direction).many}"


def draw(project: Project, runs: Sequence[Run], proposal: Proposal, dry_run: bool) -> NextPairs:
    """Draw the pairs of a proposal, and put them into the queue unless it is a dry run."""
    from karat.estimation import next_pairs

    goal = proposal.goal
    return next_pairs(
        project, runs, goal.measure, direction=goal.direction, budget=proposal.asked, dry_run=dry_run,
        overlap=proposal.overlap, compute=Compute(threads=1), rates=rates_of(pay_of(project)),
    )  # fmt: skip


def rates_of(pay: Pay | None) -> Rates:
    """Return the pay as `karat.judging.estimate_cost` takes it.

    >>> rates_of(Pay(per="task", amount=2, fee=0.2)), rates_of(None)
    (Rates(seconds=None, per_hour=15.0, per_task=2.0, fee=0.2),
     Rates(seconds=None, per_hour=0.0, per_task=None, fee=0.0))
    """
    return (
        Rates(per_hour=0.0, fee=0.0)
        if pay is None
        else Rates(**{f"per_{pay.per}": pay.amount, "fee": pay.fee})
    )


def ends(record: Mapping[str, Any]) -> list[float | None]:
    """Return a value and the ends of its interval."""
    return [record["value"], record["low"], record["high"]]


def shown_estimate(
    estimate: ProjectEstimate, sure: ProjectEstimate, goal: Goal, queries: int
) -> dict[str, Any]:
    """Return an estimate as the page shows it.

    Parameters
    ----------
    estimate, goal
        What was estimated.
    sure
        The same, all answers taken as right.
    queries
        How many queries the benchmark has in the direction of the goal.
    """
    keys = ("run", "value", "low", "high", "labels", "candidates", "method")
    runs = [{key: record[key] for key in keys} for record in estimate.records() if not record["other"]]
    for record, sampled in zip(runs, sure.records(), strict=False):
        record["plain"] = plain_labels(sampled, goal, queries)
    keys = ("run", "other", "value", "low", "high", "verdict", "method")
    differences = [{key: record[key] for key in keys} for record in estimate.records() if record["other"]]
    return {
        "runs": runs,
        "differences": differences,
        "labels": max(record["labels"] for record in runs),
        "drawn": estimate.drawn,
        "reached": bool(estimate.stop),
        "sentence": str(estimate.decision or ""),
        "more": estimate.more,
        "notes": list(estimate.notes)[:20],
        "level": goal.level,
        "at": time.time(),
    }


def plain_labels(record: Mapping[str, Any], goal: Goal, queries: int) -> int | None:
    """Return how many labels a plain random sample of pairs needs for an interval as wide; None if unknown.

    Of N pairs that any run lists, a run lists M. Of n pairs at random, n · M / N are the run's, and without
    replacement the variance of their mean p is p (1 − p) / M · (N / n − 1).

    Parameters
    ----------
    record
        Of a run: value, low, high, labels and candidates.
    goal
        Its level, and its measure: P@K is a mean over pairs, others are not.
    queries
        How many queries there are.

    Examples
    --------
    A plain random sample itself, 500 of 4,000 pairs, with the width of a sequence:

    >>> from karat.estimation import sequence_factor
    >>> p, n, N, M = 0.4, 500, 4_000, 3_000
    >>> half = float(sequence_factor(np.array(n), N)) * (p * (1 - p) / M * (N / n - 1)) ** 0.5
    >>> record = {"value": p, "low": p - half, "high": p + half, "labels": n, "candidates": N}
    >>> plain_labels(record, Goal(("a",), "P@10", "t2i", "budget", 500), 300)
    500
    """
    from karat.estimation import sequence_factor

    cut, p, n = re.fullmatch(r"P@(\d+)", goal.measure), record["value"], record["labels"]
    if cut is None or p is None or record["low"] is None or not 0 < p < 1:
        return None
    own, pairs = queries * int(cut[1]), record["candidates"]
    half = (record["high"] - record["low"]) / 2
    if not 0 < n < pairs or half <= 0:
        return None
    error = half / float(sequence_factor(np.asarray(n), pairs, level=goal.level))
    return round(pairs / (1 + error**2 * min(own, pairs) / (p * (1 - p))))


def cost_of(project: Project, drawn: NextPairs) -> dict[str, Any]:
    """Return what drawn pairs cost with the pay that the owner has set: numbers, and sentences."""
    cost, pay = drawn.cost, pay_of(project)
    if not cost.pairs:
        said = [f"{plural(len(drawn.batch), 'pair')} drawn. None needs a question: all are answered already."]
    else:
        said = [f"{plural(len(drawn.batch), 'pair')} drawn.", *cost.sentences()]
        if pay is None:
            said.append("Pay is not set, so that only the time is known.")
        elif cost.pay and pay.currency:
            said[-1] = said[-1].replace("Pay:", f"Pay in {pay.currency}:")
    money = None if pay is None else cost.money
    return {
        "pairs": len(drawn.batch), "tasks": cost.tasks, "answers": cost.answers, "hours": cost.hours,
        "money": money, "said": said,
    }  # fmt: skip


def failure_sentence(error: Exception) -> str:
    """Return what went wrong in one sentence, without places on the disk; the log has bugs in full."""
    if isinstance(error, StoreError):
        return sentence_of(error.state)
    if isinstance(error, KaratError):
        return str(KaratError(error.what, fix=error.fix))
    LOG.error("the estimate of the goal failed", exc_info=error)
    return "The estimate failed because of a bug; the details are in the server's log."
