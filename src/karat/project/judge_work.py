"""Machine judges at work in a project: compared with people first, then answering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, plural
from karat.errors import InputError
from karat.judging.machine_judges import (
    MIN_KAPPA,
    MIN_PAIRS,
    Calibration,
    CalibrationTable,
    Judge,
    calibrate_in,
    calibration_of,
    calibrations,
    check_thresholds,
    judge_in,
    judge_of_run,
    kept_judge,
    learn_judge,
    make_judge,
)
from karat.project.place import takes_place
from karat.runs import Loading, fewest_runs, load_runs

if TYPE_CHECKING:
    from karat.store import Project


@dataclass(frozen=True)
class JudgedPairs(Result):
    """What a machine judge answered.

    Parameters
    ----------
    added
        How many answers were added.
    calibration
        How it compared with people.
    """

    added: int
    calibration: Calibration
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: how many answers, of which machine judge."""
        return [{"added": self.added, "judge": self.calibration.judge, "version": self.calibration.version}]

    def parts(self) -> list[str]:
        """Return how many answers, and how it compared with people."""
        return [f"added {plural(self.added, 'answer')}\n{self.calibration.sentence()}"]


@takes_place
def calibrate(
    project: Project,
    run: Any = None,
    *,
    config: str | Path | None = None,
    url: str | None = None,
    model: str | None = None,
    prompt: str = "default",
    threshold: Sequence[float] | None = None,
    judge: str | Judge | None = None,
    judge_set: Mapping[str, Any] | None = None,
    sample: int = 200,
    max_cost: float | None = None,
    seed: int = 0,
    loading: Loading | None = None,
) -> Calibration:
    """Compare a machine judge with people on pairs that people have judged, and store the result.

    Parameters
    ----------
    project
        An open project, or its file or address.
    run
        A run whose scores, cut by thresholds, are the answers. The thresholds are learned from half of the
        images and tested on the other half.
    config, url, model, prompt
        A chat endpoint, the name of a model there, and "default" or a text file with ``$caption`` in it; a
        TOML file may say the same and more.
    threshold
        With a run: rising scores, one fewer than the form has answers; nothing is learned then.
    judge, judge_set
        Or the kind of a machine judge, such as one of a plug-in, and its settings; or a `Judge` of your own.
    sample, seed
        How many pairs are drawn at random, and the seed.
    max_cost
        Stop when the new replies have cost this much.
    loading
        How the run is read.

    Returns
    -------
    Calibration
    """
    endpoint = {"config": config, "url": url, "model": model, "prompt": prompt}
    machine, images = JudgeChoice(run, loading, threshold, endpoint, judge, judge_set).find(project, seed)
    return calibrate_in(project, machine, sample, seed, images, max_cost)


@takes_place
def judge(
    project: Project,
    run: Any = None,
    *,
    config: str | Path | None = None,
    url: str | None = None,
    model: str | None = None,
    prompt: str = "default",
    threshold: Sequence[float] | None = None,
    judge: str | Judge | None = None,
    judge_set: Mapping[str, Any] | None = None,
    all: bool = False,
    min_kappa: float = MIN_KAPPA,
    min_pairs: int = MIN_PAIRS,
    max_cost: float | None = None,
    loading: Loading | None = None,
) -> JudgedPairs:
    """Let a machine judge answer the pairs of the pool that no person has judged; calibrate it first.

    Parameters
    ----------
    project, run, config, url, model, prompt, threshold, judge, judge_set, max_cost, loading
        As for `karat.project.calibrate`.
    all
        Also pairs that people have judged.
    min_kappa, min_pairs
        What its comparison with people must have shown: the lower end of kappa's interval, and the number of
        pairs.

    Returns
    -------
    JudgedPairs
    """
    endpoint = {"config": config, "url": url, "model": model, "prompt": prompt}
    machine, _ = JudgeChoice(run, loading, threshold, endpoint, judge, judge_set).find(project)
    added = judge_in(
        project, machine, everything=all, min_pairs=min_pairs, min_kappa=min_kappa, max_cost=max_cost
    )  # fmt: skip
    calibration = calibration_of(project, machine)
    # It would not have answered without one.
    assert calibration is not None
    return JudgedPairs(added, calibration)


@takes_place
def judges(project: Project) -> CalibrationTable:
    """Show how the machine judges of a project compared with people.

    Parameters
    ----------
    project
        An open project, or its file or address.
    """
    return CalibrationTable(tuple(calibrations(project)))


@dataclass(frozen=True)
class JudgeChoice:
    """Which machine judge is meant: a run, a chat endpoint, or one by the name of its kind.

    Parameters
    ----------
    run, loading, threshold
        A run, how it is read, and thresholds that are not learned.
    endpoint
        The settings of a chat endpoint: config, url, model, prompt.
    judge, judge_set
        The name of a kind and its settings, or a machine judge.
    """

    run: Any
    loading: Loading | None
    threshold: Sequence[float] | None
    endpoint: Mapping[str, Any]
    judge: str | Judge | None
    judge_set: Mapping[str, Any] | None

    def __post_init__(self) -> None:
        chat = any(self.endpoint.get(name) is not None for name in ("config", "url", "model"))
        if chat + (self.run is not None) + (self.judge is not None) != 1:
            fix = "give either --run, or --url and --model (or --config), or --judge"
            raise InputError("no single machine judge is given", fix=fix)
        if self.run is None and self.threshold:
            raise InputError("--threshold without --run", fix="leave it out: others give answers")
        if self.judge_set and not isinstance(self.judge, str):
            raise InputError("--judge-set without --judge", fix="name the kind: --judge NAME")

    def find(self, project: Project, seed: int | None = None) -> tuple[Judge, np.ndarray | None]:
        """Return the machine judge, and the images to test it on; with a seed a run learns first."""
        if self.judge is not None and not isinstance(self.judge, str):
            return self.judge, None
        if self.run is None:
            settings = self.judge_set if self.judge is not None else self.endpoint
            return make_judge(self.judge or "chat", project, **(settings or {})), None
        if self.threshold:
            check_thresholds(self.threshold, project.form, name_of(self.run))
        bench = project.benchmark()
        check_one(fewest_runs(self.run, bench))
        loaded = load_runs(self.run, bench, self.loading)
        check_one(len(loaded))
        if self.threshold:
            return judge_of_run(loaded[0], project.form, self.threshold), None
        if seed is None:
            return kept_judge(project, loaded[0]), None
        return learn_judge(project, loaded[0], seed)


def name_of(run: Any) -> str:
    """Return what a run that may be a file is called."""
    first = run[0] if isinstance(run, list | tuple) and run else run
    return Path(first).stem if isinstance(first, str | Path) else str(getattr(first, "name", "of the run"))


def check_one(runs: int) -> None:
    """Raise unless there is one run."""
    if runs != 1:
        raise InputError(f"--run gives {plural(runs, 'run')}", fix="one run is one machine judge")
