"""Labels of a project: what was drawn, and what people answered, as estimates need it.

A project stores draws as images and captions. Candidates are made again from the runs, so that runs may be
added later. What a batch could have drawn is known from the lists of its runs: of each, the batch keeps a
fingerprint. A pair that an earlier batch could not have drawn is not covered by it (`Draw.covers`). A
drawn pair whose batch cannot be made again, since its runs have changed, keeps its label, and stands for
itself alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction, Truth, in_order
from karat.errors import InputError
from karat.estimation.candidates import (
    DEPTH,
    Candidates,
    VettedLabels,
    check_ties,
    scan_candidates,
)
from karat.estimation.inputs import (
    check_directions,
    check_drawn,
    check_measures,
    check_one_direction,
    depth_of,
    directions_of,
    one_direction,
    request_for,
)
from karat.estimation.label_file import find_truth
from karat.estimation.query_means import clusters_of
from karat.estimation.relevance import check_graded, without_grade
from karat.estimation.statistics import (
    IN_OTHER_TASKS,
    IN_OWN_TASKS,
    NOWHERE,
    Draw,
    answer_errors,
    answer_posterior,
)
from karat.forms import NOT_GOLD, DrawBatch, TaskPlan, key_of
from karat.judging import DrawnLabels, count_answers, drawn_labels
from karat.measures import Measure, Named
from karat.runs import Compute, Loading, Run, load_runs, notes_on_loading

if TYPE_CHECKING:
    from karat.store import Project

DEFAULT_MEASURE = "P@10"
ENOUGH_GOLD = 10
"""How many answers about gold pairs of each kind tell how often annotators err."""
VERSIONS = 50
"""How many versions of labels are drawn from what gold leaves open."""


@dataclass(frozen=True, eq=False)
class ProjectLabels:
    """What a project knows about the candidates of some runs; `read_project` makes it.

    Parameters
    ----------
    benchmark, measure, candidates
        What is estimated.
    labels
        The labels of drawn pairs: whether they are relevant, or with which probability.
    draws
        What was drawn, as far as the candidates have it.
    taken
        Per candidate, whether it was drawn, whatever for.
    stored
        All batches of the project.
    settings
        What a batch keeps about its candidates.
    drawn
        How many of the drawn pairs are candidates.
    notes
        What a reader should know.
    """

    benchmark: Benchmark
    measure: Measure
    candidates: Candidates
    labels: VettedLabels
    draws: tuple[Draw, ...]
    taken: np.ndarray
    stored: tuple[DrawBatch, ...]
    settings: dict[str, Any]
    drawn: int
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> Measure:
        """The measure of labels that are 1 or 0."""
        return without_grade(self.measure)

    @property
    def cluster(self) -> np.ndarray:
        """Per query, its cluster."""
        return clusters_of(self.benchmark, self.candidates)

    def census(self, project: Project) -> VettedLabels:
        """Return all labels of candidates that people have given, drawn or not."""
        image, caption = self.candidates.pairs
        runs, n = self.candidates.runs, len(image)
        every = DrawBatch(
            "all", str(self.measure), self.candidates.direction, runs, 0, n, image, caption, np.ones(n)
        )
        relevant = drawn_labels(project, [every]).relevant
        rows = np.flatnonzero(~np.isnan(relevant))
        return VettedLabels(self.candidates, rows, relevant[rows] > 0)


@dataclass(frozen=True, eq=False)
class ProjectQuestion:
    """What is to be estimated in a project; `ask_project` makes it, before anything is read of the runs.

    Parameters
    ----------
    benchmark, measure, noisy, direction, depth, ties
        As for `read_project`, with those of the latest batch where none were given.
    stored
        All batches of the project.
    """

    benchmark: Benchmark
    measure: Measure
    noisy: Truth
    direction: list[Direction] | None
    depth: int
    ties: str
    stored: tuple[DrawBatch, ...]

    @property
    def cut(self) -> int:
        """How many first items of each run are candidates."""
        return depth_of([self.measure], self.depth)


def read_project(
    project: Project,
    runs: Run | Sequence[Run] | Any,
    measure: Iterable[str | Named] | str | Named | None = None,
    *,
    direction: Iterable[str] | str | None = None,
    noisy: str | Truth | None = None,
    depth: int | None = None,
    ties: str | None = None,
    certain: bool = False,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> ProjectLabels:
    """Return what a project knows about the candidates of some runs.

    Parameters
    ----------
    project
        As `karat.store.open_project` returns it.
    runs
        What `karat.evaluate` takes.
    measure
        One measure. What is not given, this and the following, is that of the latest batch.
    direction
        A direction of the benchmark; before the first batch that of a search, as "t2i", if the runs have it.
    noisy, depth, ties
        As in `karat.estimate`; before the first batch the benchmark's first truth,
        50 and "stable".
    certain
        Take verdicts as right, instead of as probable as the answers make them.
    loading, compute
        How runs are read, and what the work is done with.
    """
    question = ask_project(project, measure, direction, noisy, depth, ties)
    bench, first, stored = question.benchmark, question.noisy, question.stored
    loaded = [run.align(bench) for run in load_runs(as_list(runs), bench, loading, compute)]
    if loaded[0].benchmark is not None and loaded[0].benchmark is not bench:
        raise InputError(
            f"the runs list items that {bench.name} does not have",
            fix="leave them out: people can be asked about what the benchmark has",
        )
    way, way_notes = one_direction(directions_of(question.direction, loaded, (first,)))
    request = request_for(
        first, way, [question.measure], question.depth, ties=question.ties,
        list_depth=deepest_cut(stored, way),
    )  # fmt: skip
    (candidates,) = scan_candidates(loaded, bench, [request], compute)
    known = drawn_labels(project, stored)
    values, versions, doubts = probable_labels(project, stored, known, certain)
    place = np.concatenate([np.zeros(0, np.int64), *(find_pairs(candidates, batch) for batch in stored)])
    inside, labelled = place >= 0, ~np.isnan(values)
    draws, counts = numbered_draws(project, candidates, stored, first, place, labelled)
    rows = inside & labelled
    taken = np.zeros(len(candidates), bool)
    taken[place[inside]] = True
    number = np.repeat(np.arange(len(stored)), [len(batch) for batch in stored])
    settings = {
        "noisy": first.name, "depth": question.depth, "ties": question.ties, "cut": question.cut,
        "positives": first.name if request.noisy_positives else None,
        "lists": fingerprints(candidates, question.cut),
    }  # fmt: skip
    notes = [*notes_on_loading(loaded), *candidates.notes, *way_notes, *known.notes, *doubts]
    notes += lost_notes(stored, inside, counts, number, way)
    labels = VettedLabels(
        candidates, place[rows], values[rows], np.where(counts[rows], 0, number[rows] + 1),
        versions[:, rows],
    )  # fmt: skip
    return ProjectLabels(
        bench, question.measure, candidates, labels, tuple(draws), taken, stored, settings,
        int(inside.sum()), tuple(notes),
    )  # fmt: skip


def ask_project(
    project: Project,
    measure: Iterable[str | Named] | str | Named | None,
    direction: Iterable[str] | str | None,
    noisy: str | Truth | None,
    depth: int | None,
    ties: str | None,
) -> ProjectQuestion:
    """Return what is to be estimated, checked as far as that is possible without the runs."""
    if project.form.regions:
        raise InputError(
            "a project of instances has no rankings",
            where=project.where,
            fix="score detections: karat estimate detections.json -b instances.json --noisy boxes --vetted "
            "project.db",
        )
    stored = tuple(project.draws.read())
    last = stored[-1] if stored else None
    kept = dict(last.settings) if last is not None else {}
    if measure is None:
        measure = DEFAULT_MEASURE if last is None else last.measure
    measures = check_measures([measure] if isinstance(measure, Named) else measure)
    if len(measures) > 1:
        raise InputError("pairs are drawn for one measure", fix=f"choose {measures[0]}")
    bench = project.benchmark()
    check_drawn(bench.directions[0])
    truth, _ = find_truth(bench, kept.get("noisy", next(iter(bench.truths))) if noisy is None else noisy)
    check_graded(measures[0], (truth,))
    if direction is None and last is not None:
        direction = last.direction
    check_one_direction(direction)
    question = ProjectQuestion(
        bench, measures[0], truth, check_directions(direction, bench, (truth,)),
        int(kept.get("depth", DEPTH)) if depth is None else depth,
        check_ties(str(kept.get("ties", "stable")) if ties is None else ties), stored,
    )  # fmt: skip
    depth_of(measures, question.depth)
    return question


def numbered_draws(
    project: Project,
    candidates: Candidates,
    stored: Sequence[DrawBatch],
    noisy: Truth,
    place: np.ndarray,
    labelled: np.ndarray,
) -> tuple[list[Draw], np.ndarray]:
    """Return stored batches as draws of candidates, and which drawn pairs count in them.

    Parameters
    ----------
    project, candidates, stored, noisy
        What was drawn, and from what.
    place, labelled
        Of each drawn pair, its candidate, −1 where it is none; and whether it has a label.
    """
    frame = frames([covered(candidates, batch, noisy) for batch in stored], len(candidates))
    number = np.repeat(np.arange(len(stored)), [len(batch) for batch in stored])
    inside = place >= 0
    counts = inside.copy()
    counts[inside] = frame[place[inside]] <= number[inside]
    # What was drawn and is not answered cannot be drawn again; nothing stands for it.
    frame[place[inside & ~counts & ~labelled]] = len(stored)
    plan = project.pools.plan()
    draws = [
        as_draw(candidates, batch, place[number == b], counts[number == b], frame <= b, plan)
        for b, batch in enumerate(stored)
    ]
    return draws, counts


def probable_labels(
    project: Project, batches: Sequence[DrawBatch], known: DrawnLabels, certain: bool
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return how probable it is that each drawn pair is relevant, other versions of that, and notes.

    Where several annotators answer, agreement tells how often they err (Dawid–Skene). One answer per pair
    has nothing to agree with; then hidden gold tells. With `certain`, verdicts are taken as right.
    """
    none, asked = np.zeros((0, len(known))), known.answers > 0
    if certain:
        return np.where(np.isnan(known.relevant), np.nan, known.relevant > 0.5), none, []
    if not asked.any() or np.median(known.answers[asked]) > 1:
        return np.where(np.isnan(known.probability), known.relevant, known.probability), none, []
    counts = count_answers(project, batches)
    values = known.relevant.copy()
    possible: list[np.ndarray] = []
    if min(counts.gold_yes[1], counts.gold_no[1]) >= ENOUGH_GOLD:
        tau, drawn = answer_posterior(
            counts.yes[asked], counts.answers[asked], counts.gold_yes, counts.gold_no, versions=VERSIONS
        )
        for some in (tau, *drawn):
            version = known.relevant.copy()
            version[asked] = some
            possible += [version] if tells(version) else []
        values[asked] = tau
    # Some rates that few gold pairs allow would explain every answer as an error.
    if not tells(values) or 2 * len(possible) < VERSIONS:
        note = (
            "one answer per pair, and too few gold pairs to tell how often annotators err: answers are taken "
            "as right"
        )
        return known.relevant, none, [note]
    return values, np.array(possible[1:]), []


def tells(values: np.ndarray) -> bool:
    """Whether probable labels tell relevant pairs from others; NaN where there is none."""
    try:
        answer_errors(values[~np.isnan(values)])
    except InputError:
        return False
    return True


def as_list(runs: Any) -> Any:
    """Return runs as `load_runs` takes them, or raise where there are none."""
    if runs is None or (isinstance(runs, Sequence) and not len(runs)):
        raise InputError("no run was given", fix="name the files of the runs: --run a.npy")
    return list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else runs


def deepest_cut(stored: Sequence[DrawBatch], direction: Direction) -> int:
    """Return how deep lists have to go to tell what stored batches could draw."""
    return max((int(b.settings.get("cut") or 0) for b in stored if b.direction == direction), default=0)


def fingerprints(candidates: Candidates, depth: int) -> dict[str, str]:
    """Return per run a fingerprint of which items are the first `depth` of each query."""
    assert candidates.lists is not None
    return candidates.lists.fingerprints(depth)


def find_pairs(candidates: Candidates, batch: DrawBatch) -> np.ndarray:
    """Return the candidates that a batch drew, −1 for what is none."""
    return candidates.find(*in_order(candidates.direction, batch.image, batch.caption))


def covered(candidates: Candidates, batch: DrawBatch, noisy: Truth) -> np.ndarray:
    """Return which candidates a batch could have drawn, unless an earlier one had them."""
    out = np.zeros(len(candidates), bool)
    if batch.direction != candidates.direction:
        return out
    cut = batch.settings.get("cut")
    if cut is None:
        # A batch that was drawn by other means says no more than the names of its runs.
        for run in (run for run in candidates.runs if run in batch.runs):
            out |= np.isfinite(candidates.exact.places[run])
        return out
    then = set(batch.settings["lists"].values())
    for run, print_of in fingerprints(candidates, int(cut)).items():
        if print_of in then:
            out |= candidates.places[run] < cut
    if batch.settings["positives"] == noisy.name:
        out |= candidates.noisy
    return out


def frames(covers: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Return per candidate the first batch from which on all batches cover it.

    >>> frames([np.array([True, True, False]), np.array([True, False, True])], 3).tolist()
    [0, 2, 1]
    """
    frame = np.zeros(size, np.int64)
    for b, covers_row in enumerate(covers):
        frame[~covers_row] = b + 1
    return frame


def as_draw(
    candidates: Candidates,
    batch: DrawBatch,
    place: np.ndarray,
    keep: np.ndarray,
    covers: np.ndarray,
    plan: TaskPlan,
) -> Draw:
    """Return what counts of a stored batch, given the candidates of its pairs; `plan` are all tasks."""
    query = batch.query[keep]
    first, end = batch.settings.get("tasks", (0, 0))
    own = (first <= plan.task) & (plan.task < end)
    asked = np.full(int(keep.sum()), NOWHERE)
    for where, tasks in ((IN_OTHER_TASKS, ~own), (IN_OWN_TASKS, own)):
        rows = tasks & (plan.gold == NOT_GOLD)
        asked[np.isin(batch.keys[keep], key_of(plan.image[rows], plan.caption[rows]))] = where
    asked[batch.gold[keep] != NOT_GOLD] = NOWHERE
    return Draw(
        place[keep],
        batch.probability[keep],
        batch.stratum[keep],
        np.where(query >= 0, np.searchsorted(candidates.queries, query), -1),
        batch.design,
        asked,
        covers,
    )


def lost_notes(
    stored: Sequence[DrawBatch], inside: np.ndarray, counts: np.ndarray, number: np.ndarray, way: Direction
) -> list[str]:
    """Return how many draws say less than they did, and why."""
    notes = []
    gone = int((~inside).sum())
    if gone:
        notes.append(
            f"{gone:,} of {plural(len(inside), 'drawn pair')} are not among the first items of these runs, "
            "and do not count"
        )
    alone = inside & ~counts
    if alone.any():
        which = sorted({stored[b].number or b + 1 for b in number[alone].tolist()})
        others = any(stored[b].direction != way for b in np.unique(number[alone]))
        why = "was for the other direction" if others else "was drawn from the lists of other runs"
        numbers = ", ".join(map(str, which))
        notes.append(
            f"{plural(int(alone.sum()), 'drawn pair')} of batch {numbers} stand for themselves alone: the "
            f"batch {why}"
        )
    return notes


def reordered(draw: Draw, rng: np.random.Generator) -> Draw:
    """Return a draw in random order, queries as a whole, so that its first part is a smaller one."""
    together = draw.query if draw.unit == "query" else draw.rows
    _, member = np.unique(together, return_inverse=True)
    return draw.take(np.argsort(rng.permutation(int(member.max(initial=-1)) + 1)[member], kind="stable"))
