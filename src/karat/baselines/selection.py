"""Settings chosen on the dev split: the best few for each measure and direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karat._util import plural
from karat.benchmarks import Benchmark, Direction
from karat.errors import InputError
from karat.measures import parse_measure
from karat.runs import Run

RECALLS = ("R@1", "R@5", "R@10")


class Setting(NamedTuple):
    """A regularisation and a number of dimensions of KCCA."""

    kappa: float
    n: int


def dev_scores(
    candidates: Iterable[tuple[Any, Run | Callable[[], Run] | Any]],
    benchmark: Benchmark,
    measures: Sequence[str] = RECALLS,
    *,
    truth: str | None = None,
    directions: Sequence[Direction] | None = None,
) -> dict[Direction, dict[Any, dict[str, float]]]:
    """Return, per direction and setting, the value of every measure on the dev split.

    Parameters
    ----------
    candidates
        Settings with what they returned: a run, what `karat.load_run` takes (such as a table of
        `KCCAPath.scores`), or a function that makes either. One is held at a time.
    benchmark
        The dev split.
    measures
        Those that settings are chosen by.
    truth
        Its name; by default the benchmark's first.
    directions
        Which; by default those that the truth has queries of.
    """
    from karat.scores import evaluate

    truth = truth or next(iter(benchmark.truths))
    directions = directions or benchmark.truth(truth).directions
    scores: dict[Direction, dict[Any, dict[str, float]]] = {direction: {} for direction in directions}
    for setting, candidate in candidates:
        run = candidate() if callable(candidate) else candidate
        card = evaluate(run, benchmark, measures, truth=truth, direction=directions)
        for direction in directions:
            if setting in scores[direction]:
                raise InputError(f"{setting} is a duplicate", fix="give each setting once")
            values = {name: card.value(name, direction=direction, truth=truth) for name in measures}
            scores[direction][setting] = {name: check_value(value, name) for name, value in values.items()}
    return scores


def check_value(value: float | None, measure: str) -> float:
    """Return a value, or raise where the benchmark gives none to choose by."""
    if value is None:
        raise InputError(f"{measure} has no value on the dev split", fix="choose by another measure")
    return value


def best_settings(
    scores: Mapping[Any, Mapping[str, float]], measures: Sequence[str] = RECALLS, each: int = 5
) -> list[Any]:
    """Return the `each` best settings for every measure: fifteen for three recalls (§4.1.3).

    A setting that is among the best for several measures is repeated, and so counts as often when
    the rankings are fused, as in Hodosh et al. (2013), where 15 models vote in any case. Settings
    of the same value go by the sum of all measures, then by the order in which they were given.

    Parameters
    ----------
    scores
        Per setting, the value of every measure on the dev split: one direction of `dev_scores`.
    measures
        Those that the settings are to be best for.
    each
        How many settings for each.

    Examples
    --------
    >>> scores = {
    ...     Setting(0.1, 10): {"R@1": 0.10, "R@5": 0.30},
    ...     Setting(0.1, 50): {"R@1": 0.12, "R@5": 0.28},
    ...     Setting(1.0, 50): {"R@1": 0.10, "R@5": 0.29},
    ... }
    >>> [tuple(setting) for setting in best_settings(scores, ("R@1", "R@5"), each=2)]
    [(0.1, 50), (0.1, 10), (0.1, 10), (1.0, 50)]
    """
    if each < 1 or len(scores) < each:
        raise InputError(
            f"the best {each} of {plural(len(scores), 'setting')} were requested",
            fix="try more settings, or request fewer",
        )
    sign = {name: 1 if parse_measure(name).better == "high" else -1 for name in measures}
    total = {
        setting: sum(sign[name] * values[name] for name in measures) for setting, values in scores.items()
    }
    chosen: list[Any] = []
    for name in measures:
        # sorted keeps the given order of what is equal.
        ranked = sorted(scores, key=lambda setting: (-sign[name] * scores[setting][name], -total[setting]))
        chosen += ranked[:each]
    return chosen
