"""Project estimates: what the answers of a project prove about its runs, and whether they are enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Part, Result, check_choice, plural
from karat.benchmarks import Truth, direction_title
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.estimation import DEFAULT_ESTIMATOR
from karat.estimation.estimator import ESTIMATORS, LabelEstimator
from karat.estimation.features import check_scores
from karat.estimation.inputs import check_several
from karat.estimation.interval_estimate import IntervalEstimate, IntervalEstimates
from karat.estimation.project_labels import ProjectLabels, read_project
from karat.estimation.score_intervals import INTERVAL_KINDS, answer, ask_labels, interval_estimates
from karat.estimation.statistics import (
    BURN_IN,
    DRAWN_METHODS,
    RULES,
    TARGETS,
    ConfidenceSequence,
    StoppingDecision,
    StoppingRule,
    error_rate,
    parse_rules,
    sequence_level,
)
from karat.estimation.unit_values import LabelQuestion
from karat.measures import Measure, Named, parse_name
from karat.runs import Compute, Loading, Run

if TYPE_CHECKING:
    from karat.store import Goal, Project

COMPARES = "the rule winner compares two runs"


@dataclass(frozen=True, eq=False)
class ProjectEstimate(Result):
    """Scores of a project's runs, with what they rest on; `estimate_project` makes it.

    Parameters
    ----------
    estimates
        Scores and differences with their intervals.
    design
        The designs that drew, as printed.
    drawn, answered
        How many pairs were drawn that count for these runs, and how many of them have a label.
    batches
        In how many batches.
    pairs
        How many pairs the measure looks at.
    anytime
        Whether the intervals hold at all looks together.
    decision
        Whether the rule says to stop; None without a rule.
    rule
        The rule, as printed; empty without one.
    more
        About how many more labels the rule will take; None where that cannot be said.
    notes
        What a reader should know.
    """

    estimates: IntervalEstimates
    design: str
    drawn: int
    answered: int
    batches: int
    pairs: int
    anytime: bool = False
    decision: StoppingDecision | None = None
    rule: str = ""
    more: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def measure(self) -> Measure:
        """What was estimated."""
        return self.estimates.measure

    @property
    def direction(self) -> str:
        """Which side asks."""
        return self.estimates[0].direction

    @property
    def scores(self) -> tuple[IntervalEstimate, ...]:
        """One estimate per run."""
        return self.estimates.scores

    @property
    def differences(self) -> tuple[IntervalEstimate, ...]:
        """One estimate per pair of runs."""
        return self.estimates.differences

    @property
    def stop(self) -> bool:
        """Whether the rule is fulfilled."""
        return self.decision is not None and self.decision.stop

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run and per pair of runs."""
        same = {
            "anytime": self.anytime,
            "drawn": self.drawn,
            "answered": self.answered,
            "batches": self.batches,
            "design": self.design,
            "rule": self.rule,
            "stop": None if self.decision is None else self.decision.stop,
            "more": self.more,
        }
        return [record | same for record in self.estimates.records()]

    def parts(self) -> Sequence[Part]:
        """Return what it rests on, scores, which run beats which, and whether to go on."""
        head, *tables = self.estimates.parts()
        if self.anytime:
            head = f"{head}\nThey hold at all looks together: look as often as you like."
        if self.drawn:
            how = (
                f"; {self.batches:,} batch{'es' * (self.batches > 1)} by {self.design}"
                if self.batches
                else ""
            )
            head = (
                f"{head}\n{self.answered:,} of {plural(self.drawn, 'drawn pair')} answered, out of "
                f"{self.pairs:,} that count for {self.measure} {direction_title(self.direction)}{how}."
            )
        parts: list[Part] = [head, *tables]
        if self.decision is not None:
            more = "" if self.more is None else f" About {plural(self.more, 'more label')} will be needed."
            parts.append(f"{self.decision}{more}")
        return parts


def estimate_project(
    project: Project,
    run: Run | Sequence[Run] | Any = None,
    measure: Iterable[str | Named] | str | Named | None = None,
    *,
    direction: Iterable[str] | str | None = None,
    target: str = "test-set",
    level: float | None = None,
    estimator: str | LabelEstimator | None = None,
    interval_method: str = "difference",
    anytime: bool = False,
    rule: str | StoppingRule | Sequence[str | StoppingRule] | None = None,
    certain: bool = False,
    noisy: str | Truth | None = None,
    depth: int | None = None,
    ties: str | None = None,
    seed: int = 0,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> ProjectEstimate:
    """Say what the answers of a project prove about the scores of runs, and which run is better.

    The labels are those of pairs that `next_pairs` drew. Without draws there are bounds, and no interval.

    Parameters
    ----------
    project
        An open project; `karat.project.estimate` takes its file or address, too.
    run
        What `karat.evaluate` takes: one run or several. They may be other runs than those for which pairs
        were drawn: pairs that were drawn from the lists of these runs count. By default the goal of the
        project says what is estimated, and how.
    measure, direction
        What is estimated; as for the latest batch by default.
    target
        "test-set" or "population".
    level
        How often the interval should hold; 0.95 by default.
    estimator
        What predicts labels; "mixed" by default.
    interval_method
        "difference", "hajek", "horvitz-thompson", "model-based" or "bounds", as in `interval_estimates`.
    anytime
        Whether intervals should hold at all looks together, so that one may look after every answer and stop
        when it pleases. They are wider.
    rule
        When to stop: "within<=0.02", "width<=0.04", "winner" or "budget=500", or several. Intervals are then
        such that may be looked at at any time.
    certain
        Take verdicts as right. By default the interval carries that annotators err.
    noisy, depth, ties
        What the candidates are, as in `karat.estimate`; as for the latest batch by default.
    seed
        Of the folds.
    loading, compute
        How runs are read, and what the work is done with.

    Returns
    -------
    ProjectEstimate

    Examples
    --------
    >>> import tempfile
    >>> from karat.estimation import next_pairs
    >>> from karat.forms import load_form
    >>> from karat.judging import simulate_answers
    >>> from karat.store import create_project
    >>> from karat.world import careful, make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs, bench, form = simulate_systems(world)[:2], world.benchmark(), load_form("pair")
    >>> people = [careful(f"ann {k}") for k in range(6)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", bench, form, source="world") as project:
    ...         drawn = next_pairs(project, runs, "P@10", budget=100, direction="t2i")
    ...         answers = simulate_answers(world, project.pools.plan(), people, form).rows()
    ...         stored = project.answers.record(answers)
    ...         found = estimate_project(project, runs)
    >>> found.answered, found.differences[0].verdict
    (100, 'not yet')
    """
    if run is None:
        return estimate_goal(
            project, measure=measure, direction=direction, target=target, level=level, estimator=estimator,
            interval_method=interval_method, anytime=anytime, rule=rule, certain=certain, noisy=noisy,
            depth=depth, ties=ties, seed=seed, loading=loading, compute=compute,
        )  # fmt: skip
    kind = check_choice(interval_method, list(INTERVAL_KINDS), "method of the intervals")
    level = 0.95 if level is None else level
    error_rate(level)
    check_choice(target, list(TARGETS), "target")
    rules = [] if rule is None else parse_rules(rule)
    anytime = anytime or bool(rules)
    if anytime and kind not in DRAWN_METHODS:
        raise InputError(
            f"the method {interval_method} has no intervals that hold at any time",
            fix="choose the method difference, or leave out the rule",
        )
    compares = any(one.name == "winner" for one in rules)
    if compares:
        check_several(run, COMPARES)
    guess = parse_name(DEFAULT_ESTIMATOR if estimator is None else estimator, ESTIMATORS)
    known = read_project(
        project, run, measure, direction=direction, noisy=noisy, depth=depth, ties=ties, certain=certain,
        loading=loading, compute=compute,
    )  # fmt: skip
    if compares:
        check_several(known.candidates.runs, COMPARES)
    if guess.needs_scores:
        check_scores(known.candidates)
    options: dict[str, Any] = {"estimator": guess, "target": target, "level": level, "seed": seed}
    estimates, anytime, notes = best_estimates(project, known, kind, anytime, options)
    looked_at = int(known.candidates.matter(known.plain).sum())
    decision, more = None, None
    if rules:
        decision, more = decide_on(rules, estimates, len(known.labels), looked_at)
    return ProjectEstimate(
        estimates,
        ", ".join(dict.fromkeys(draw.design for draw in known.draws if len(draw))),
        known.drawn,
        len(known.labels),
        sum(len(draw) > 0 for draw in known.draws),
        looked_at,
        anytime,
        decision,
        ", ".join(map(str, rules)),
        more,
        (*known.notes, *notes, *estimates.notes),
    )


def best_estimates(
    project: Project, known: ProjectLabels, kind: str, anytime: bool, options: dict[str, Any]
) -> tuple[IntervalEstimates, bool, list[str]]:
    """Return estimates, or bounds where there are no draws or no answers; whether they hold at all looks."""
    options = options | {"cluster": known.cluster}
    if kind not in DRAWN_METHODS:
        return interval_estimates(known.census(project), (), known.plain, method=kind, **options), False, []
    question = ask_labels(known.labels, known.draws, known.plain, **options)
    if not question.answered:
        return without_draws(known, known.census(project), options), False, [lacking(known, question)]
    if not anytime:
        return answer(question, kind), False, []
    units, size = question.sizes
    level, whole = question.level, np.inf if question.target == "population" else float(size)
    wide = sequence_level(units, whole, level=level)
    if wide < 1:
        looks = answer(replace(question, level=wide), kind)
        return (
            each(looks, lambda one: replace(one, level=level, method=f"{one.method}, anytime")), True, []
        )  # fmt: skip
    what = "whole queries" if question.weights is None else "labels"
    note = f"an interval that may be looked at at any time needs {BURN_IN} {what}, and there are {units:,}"
    return each(answer(question, kind), lambda one: replace(one, low=np.nan, high=np.nan)), True, [note]


def each(
    estimates: IntervalEstimates, change: Callable[[IntervalEstimate], IntervalEstimate]
) -> IntervalEstimates:
    """Return estimates, each of them changed."""
    scores, differences = (tuple(map(change, some)) for some in (estimates.scores, estimates.differences))
    return replace(estimates, scores=scores, differences=differences)


def lacking(known: ProjectLabels, question: LabelQuestion) -> str:
    """Return why there is no interval."""
    draws = [draw for draw in known.draws if len(draw)]
    if not draws:
        return "no pairs were drawn, so that there is no interval: draw some with karat project next"
    if question.weights is None and all(draw.unit == "pair" for draw in draws):
        return (
            f"single pairs were drawn, and {known.measure} depends on all labels of a query together: draw "
            f"whole queries with karat project next -m {known.measure}"
        )
    return f"too few drawn pairs have an answer for an interval of {known.measure}"


def without_draws(known: ProjectLabels, labels: VettedLabels, options: dict[str, Any]) -> IntervalEstimates:
    """Return bounds; from 0 to 1 for measures that have no useful ones."""
    try:
        return interval_estimates(labels, (), known.plain, method="bounds", **options)
    except InputError:
        runs = known.candidates.runs
        same: dict[str, Any] = {
            "level": 1.0, "method": "bounds", "n": len(labels), "measure": str(known.measure),
            "direction": known.candidates.direction, "candidates": len(known.candidates), "value": np.nan,
            "effective": len(labels), "high": 1.0,
        }  # fmt: skip
        return IntervalEstimates(
            tuple(IntervalEstimate(**same, low=0.0, run=run) for run in runs),
            tuple(
                IntervalEstimate(**same, low=-1.0, run=a, other=b)
                for k, a in enumerate(runs)
                for b in runs[k + 1 :]
            ),
            known.measure,
            (f"bounds say nothing about {known.measure}: it needs whole queries (karat project next)",),
        )


def decide_on(
    rules: Sequence[StoppingRule], estimates: IntervalEstimates, labels: int, frame: int
) -> tuple[StoppingDecision, int | None]:
    """Return whether to stop, at the first rule that is fulfilled, and how many more labels it will take."""
    found = [decide_rule(rule, estimates, labels, frame) for rule in rules]
    for decision, _ in found:
        if decision.stop:
            return decision, None
    return min(found, key=lambda pair: np.inf if pair[1] is None else pair[1])


def decide_rule(
    rule: StoppingRule, estimates: IntervalEstimates, labels: int, frame: int
) -> tuple[StoppingDecision, int | None]:
    """Return what one rule says of all runs: the widest interval, or the best run against every other."""
    if rule.name == "budget":
        return RULES["budget"].decide(rule, look(estimates[0], labels, frame), ("", "")), max(
            int(np.ceil(rule.limit)) - labels, 0
        )
    if rule.name == "winner":
        best = max(range(len(estimates)), key=lambda k: estimates[k].value)
        against = [one for one in estimates.differences if estimates[best].run in (one.run, one.other)]
        found = [
            (RULES["winner"].decide(rule, look(one, labels, frame), (one.run, one.other or "")), one)
            for one in against
        ]
        left = [(decision, one) for decision, one in found if not decision.stop]
        if not left:
            return max(found, key=lambda pair: -abs(pair[1].value))[0], None
        # The one that will take longest.
        numbers = [further(one, abs(one.value), labels, frame) for _, one in left]
        worst = max(range(len(left)), key=lambda k: np.inf if numbers[k] is None else numbers[k] or 0)
        return left[worst][0], numbers[worst]
    widest = max(estimates, key=lambda one: np.nan_to_num(one.high - one.low, nan=np.inf))
    decision = RULES[rule.name].decide(rule, look(widest, labels, frame), ("", ""))
    goal = rule.limit / 2 if rule.name == "width" else rule.limit
    return decision, further(widest, goal, labels, frame)


def look(estimate: IntervalEstimate, labels: int, frame: int) -> ConfidenceSequence:
    """Return an estimate as the latest look of a sequence."""
    low, high = (
        np.nan_to_num(np.array([end]), nan=far)
        for end, far in ((estimate.low, -np.inf), (estimate.high, np.inf))
    )
    value = np.array([estimate.value])
    return ConfidenceSequence(np.array([labels]), value, low, high, estimate.level, frame)


def further(estimate: IntervalEstimate, goal: float, labels: int, frame: int) -> int | None:
    """Return about how many more labels make a half-width as small as a goal; None where nothing is known.

    The variance falls with 1 / n − 1 / N. Bounds have none.

    >>> known = IntervalEstimate(0.3, 0.26, 0.34, 0.95, "difference", 100, 100)
    >>> further(known, 0.02, 100, 10_000)
    289
    """
    half = estimate.half_width
    if estimate.method == "bounds" or not (np.isfinite(half) and half > 0 and labels):
        return None
    per_label = half**2 / max(1 / labels - 1 / frame, 1e-12)
    needed = 1 / (max(goal, 1e-9) ** 2 / per_label + 1 / frame)
    return max(int(np.ceil(min(needed, frame))) - labels, 0)


def estimate_goal(
    project: Project, goal: Goal | None = None, run: Run | Sequence[Run] | Any = None, **options: Any
) -> ProjectEstimate:
    """Estimate what the goal of a project asks for, and say whether it is reached.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    goal
        The stored one by default.
    run
        The runs of the goal where they are loaded already; its files by default.
    **options
        Further keyword arguments of `estimate_project`; what is None is as the goal says.

    Returns
    -------
    ProjectEstimate
        The same as `estimate_project` with the parameters of the goal.
    """
    goal = project.goals.read() if goal is None else goal
    if goal is None:
        raise InputError(
            "the project has no goal", where=project.where, fix="name runs (--run a.npy), or set a goal"
        )
    if options.pop("measure", None) is not None:
        raise InputError("the goal of the project names the measure", fix="name the runs, too: --run a.npy")
    if run is None:
        project.paths.check_runs(goal.runs)
    rule = {"width": "within"}.get(goal.rule, goal.rule)
    given: dict[str, Any] = {
        "direction": goal.direction,
        "level": goal.level,
        "estimator": goal.estimator or DEFAULT_ESTIMATOR,
        "rule": StoppingRule(rule, goal.number or 0.0),
    }
    given |= {name: value for name, value in options.items() if value is not None}
    given["certain"] = given.get("certain", False) or not goal.noisy
    return estimate_project(project, list(goal.runs) if run is None else run, goal.measure, **given)
