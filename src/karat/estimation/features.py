"""Features: what is cheaply known about a candidate, as columns for estimators that learn.

Scores and places of the runs, the noisy label, and whatever else may tell whether a pair is relevant: the
scores of further runs, similarities of captions, answers of approved machine judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from karat._util import plural
from karat.benchmarks import in_order
from karat.errors import InputError
from karat.estimation.candidates import Candidates, VettedLabels, rank_candidates
from karat.estimation.estimator import ESTIMATORS
from karat.measures import Measure
from karat.runs import Run, TableRun
from karat.scores import run_scores

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.store import Project

SCORES, PLACES, NOISY, OTHERS = "scores", "places", "noisy", "others"
"""Groups of columns."""
KEPT: WeakKeyDictionary[Candidates, dict[tuple[str, ...], np.ndarray]] = WeakKeyDictionary()
"""Columns that do not change from batch to batch."""


def columns(candidates: Candidates, *groups: str) -> np.ndarray:
    """Return the columns [J, F] of groups of features, each with mean 0 and variance 1 over the candidates.

    Parameters
    ----------
    candidates
        The pairs.
    groups
        Out of SCORES (of the runs that have them), PLACES (log(1 + place) in each run: `log_places`), NOISY
        (the noisy label) and OTHERS (`Candidates.features`; a column says where one is missing).
    """
    kept = KEPT.setdefault(candidates, {})
    if groups not in kept:
        made = [standardise(column) for group in groups for column in MAKERS[group](candidates)]
        kept[groups] = np.column_stack(made) if made else np.zeros((len(candidates), 0))
    return kept[groups]


def training_rows(labels: VettedLabels, measure: Measure) -> np.ndarray:
    """Return the vetted candidates that a measure looks at; raise where there are none."""
    rows = labels.rows[labels.candidates.matter(measure)[labels.rows]]
    if not len(rows):
        missing = f"none of the {plural(len(labels), 'vetted pair')} is one that {measure} looks at"
        raise InputError(
            missing if len(labels) else "nothing is vetted, and this estimator learns from vetted pairs",
            fix="vet some pairs at random first, or choose the estimator naive",
        )
    return rows


def check_scores(candidates: Candidates) -> None:
    """Raise where no run has scores."""
    if not candidates.scores:
        usable = [kind.name for kind in ESTIMATORS.values() if kind.recommended and not kind.needs_scores]
        raise InputError(
            "ranked lists have no scores, and this estimator learns from scores",
            where=candidates.runs[0],
            fix=f"give a score table or embeddings, or choose the estimator {' or '.join(usable)}",
        )


def top_columns(candidates: Candidates, measure: Measure) -> np.ndarray:
    """Return, for a measure that looks at the first K of several runs, which candidates are there [J, R].

    A model with these columns fits the vetted share inside the first K of every run.
    """
    cut = None if measure.cutoff is None else getattr(measure, measure.cutoff.name)
    if cut is None or len(candidates.runs) < 2:
        return np.zeros((len(candidates), 0))
    return np.column_stack([place < cut for place in candidates.places.values()]).astype(np.float64)


def standardise(column: np.ndarray) -> np.ndarray:
    """Return a column with mean 0 and variance 1; a constant becomes 0."""
    column = np.asarray(column, dtype=np.float64)
    deviation = column.std()
    return (column - column.mean()) / deviation if deviation > 1e-12 else np.zeros(len(column))


def log_places(candidates: Candidates) -> list[np.ndarray]:
    """Return log(1 + place) of every run; below its list, how far a score lies below, if places are unknown.

    Where only another run lists a pair, its place would take a second pass over the scores, and says no more
    about the label than how far its score lies below the list, g: the column goes on as log(1 + depth) +
    log(1 + g), with the list's own range as the unit. Without scores, the place is the one after the last.
    """
    made = []
    for run, place in candidates.places.items():
        inside, last = np.isfinite(place), 0.0
        if not inside.all() and candidates.lists is not None and candidates.lists.depth:
            last = candidates.lists.depth
            inside = place < last
        elif inside.any():
            last = place[inside].max() + 1
        column = np.log1p(np.where(inside, place, last))
        if run in candidates.scores and not inside.all():
            column[~inside] += np.log1p(gaps_below(candidates, candidates.scores[run], inside))[~inside]
        made.append(column)
    return made


def gaps_below(candidates: Candidates, score: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return how far each score lies below the lowest of its query's list, in ranges of such lists.

    >>> from karat.world import make_world, simulate_systems
    >>> from karat.estimation import make_candidates
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> candidates = make_candidates(
    ...     simulate_systems(world)[:2], world.benchmark(), "original", direction="t2i", depth=5
    ... )
    >>> inside = candidates.places["seer"] < 5
    >>> gaps = gaps_below(candidates, candidates.scores["seer"], inside)
    >>> bool((gaps[inside] == 0).all()), bool((gaps[~inside] > 0).all())
    (True, True)
    """
    query, queries = candidates.query, len(candidates.queries)
    lowest, highest = np.full(queries, np.inf), np.full(queries, -np.inf)
    np.minimum.at(lowest, query[inside], score[inside])
    np.maximum.at(highest, query[inside], score[inside])
    listed = lowest < np.inf
    lowest[~listed], highest[~listed] = score.max(initial=0.0), score.max(initial=0.0)
    span = highest - lowest
    # Lists whose scores are all alike would make any gap endless.
    span = np.maximum(span, 0.1 * span[listed].mean() if listed.any() else 0.0)
    gap = np.maximum(lowest[query] - score, 0.0)
    return np.divide(gap, span[query], out=np.zeros(len(score)), where=span[query] > 0)


def other_columns(candidates: Candidates) -> list[np.ndarray]:
    """Return the further features, the mean where they are missing, and where they are missing."""
    made = []
    for values in candidates.features.values():
        missing = ~np.isfinite(values)
        if missing.all():
            continue
        made.append(np.where(missing, values[~missing].mean(), values))
        if missing.any():
            made.append(missing)
    return made


MAKERS = {
    SCORES: lambda candidates: list(candidates.scores.values()),
    PLACES: log_places,
    NOISY: lambda candidates: [candidates.noisy],
    OTHERS: other_columns,
}


def score_features(
    runs: Mapping[str, Run], benchmark: Benchmark, candidates: Candidates
) -> dict[str, np.ndarray]:
    """Return what further runs say of the candidates, for `Candidates.with_features`.

    The runs are not estimated; they only tell which pairs may be relevant. Score tables and embeddings give
    their scores, ranked lists −log(1 + place), and NaN for what they do not list.

    Examples
    --------
    >>> from karat.estimation import make_candidates
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=40, captions=2, seed=1)
    >>> first, second = simulate_systems(world)[:2]
    >>> candidates = make_candidates([first], world.benchmark(), "original", direction="t2i", depth=5)
    >>> features = score_features({"second": second}, world.benchmark(), candidates)
    >>> list(candidates.with_features(features).features)
    ['second']
    """
    image, caption = candidates.pairs
    made = {}
    for name, run in runs.items():
        run = run.align(benchmark)
        if isinstance(run, TableRun):
            made[name] = run_scores(run, image, caption)
            continue
        ranking = rank_candidates(run, candidates, "stable")
        made[name] = np.empty(len(candidates))
        made[name][ranking.row] = -np.log1p(ranking.ranked.start)
        made[name][np.isinf(made[name])] = np.nan
    return made


def judge_features(
    project: Project,
    benchmark: Benchmark,
    candidates: Candidates,
    *,
    min_pairs: int | None = None,
    min_kappa: float | None = None,
) -> dict[str, np.ndarray]:
    """Return the answers of a project's machine judges about the candidates; NaN where there is none.

    Parameters
    ----------
    project, benchmark
        The judging project, and the benchmark of the candidates: the project must be about the same.
    candidates
        The pairs.
    min_pairs, min_kappa
        What the comparison with people must have shown; see `karat.judging.machine_judges.Calibration`.

    Raises
    ------
    InputError
        Where a machine judge has answers and was not compared with people, or does not agree with them
        enough.
    """
    from karat.forms import MACHINE, fingerprint
    from karat.judging.machine_judges import MIN_KAPPA, MIN_PAIRS, calibrations

    if fingerprint(project.benchmark()) != fingerprint(benchmark):
        items = " and ".join(dict.fromkeys(side.many for side in benchmark.sides))
        raise InputError(
            f"the project {project.name!r} is about other {items} than {benchmark.name}",
            fix="open the project of this benchmark",
        )
    compared = {calibration.version: calibration for calibration in calibrations(project)}
    answers = project.answers.read()
    row = candidates.find(*in_order(candidates.direction, answers.image, answers.caption))
    made = {}
    for number, (annotator, kind) in enumerate(zip(answers.annotators, answers.kinds)):
        own = (answers.annotator == number) & (row >= 0)
        if kind != MACHINE or not own.any():
            continue
        calibration = compared.get(annotator.rpartition("@")[2])
        objections = (
            ["it was never compared with people"]
            if calibration is None
            else calibration.objections(
                MIN_PAIRS if min_pairs is None else min_pairs, MIN_KAPPA if min_kappa is None else min_kappa
            )
        )
        if objections:
            raise InputError(
                f"the answers of {annotator} are not fit to be features: {' and '.join(objections)}",
                fix="compare it with people on more pairs (karat project calibrate), or leave it out",
            )
        made[annotator] = np.full(len(candidates), np.nan)
        made[annotator][row[own]] = answers.rating[own]
    return made
