"""Next pairs: which pairs are worth a person's time now, into the judging queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import TEXT_FORMATS, Part, Result, plural
from karat.benchmarks import Benchmark, Truth, direction_title
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.design import DESIGNS, SamplingDesign, pair_weights, run_weights
from karat.estimation.estimation import DEFAULT_ESTIMATOR
from karat.estimation.estimator import ESTIMATORS, LabelEstimator, run_probabilities, shared
from karat.estimation.features import check_scores
from karat.estimation.project_labels import ProjectLabels, read_project, reordered
from karat.estimation.statistics import Draw
from karat.forms import DrawBatch, TaskPlan
from karat.judging import Cost, Rates, plan_draws
from karat.judging.pools import cost_of_tasks
from karat.judging.tasks import plan_cost
from karat.measures import Named, parse_name
from karat.runs import Compute, Loading, Run

if TYPE_CHECKING:
    from karat.store import Project

PAIR_DESIGN, QUERY_DESIGN = "proportional", "whole-queries"
"""The designs that are taken where none is named: for measures that are sums over pairs, and for others."""


@dataclass(frozen=True, eq=False)
class NextPairs(Result):
    """Pairs that were drawn, and what asking about them will cost; `next_pairs` makes it.

    Parameters
    ----------
    batch
        What was drawn, with its probabilities.
    design
        Which design drew it.
    cost
        Of the new questions.
    before, batches
        How many pairs had been drawn before, and in how many batches.
    answered
        How many of these have a label.
    stored
        Whether the batch is in the project now.
    benchmark
        Of the pairs.
    notes
        What a reader should know.
    """

    batch: DrawBatch
    design: SamplingDesign
    cost: Cost
    before: int
    batches: int
    answered: int
    stored: bool
    benchmark: Benchmark
    notes: tuple[str, ...] = ()

    formats = TEXT_FORMATS

    def __len__(self) -> int:
        return len(self.batch)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per drawn pair, in the order in which they are asked about."""
        images, captions = self.benchmark.images.values, self.benchmark.captions.values
        batch = self.batch
        columns = zip(
            batch.image.tolist(), batch.caption.tolist(), batch.probability.tolist(), batch.stratum.tolist()
        )
        return [
            {
                "image": images[image],
                "caption": captions[caption],
                "probability": probability,
                "stratum": None if stratum < 0 else stratum,
                "design": batch.design,
                "batch": batch.number,
            }
            for image, caption, probability, stratum in columns
        ]

    def parts(self) -> Sequence[Part]:
        """Return what was drawn and why, and what it costs."""
        batch = self.batch
        what, whole = plural(len(batch), "pair"), batch.query >= 0
        if whole.all():
            queries = len(np.unique(batch.query))
            what += f" of {queries:,} whole {'query' if queries == 1 else 'queries'}"
        low, high = batch.probability.min(), batch.probability.max()
        chance = chance_in_percent(low)
        if high - low >= 1e-9:
            chance += f" to {chance_in_percent(high)}"
        verb = "Drew" if self.stored else "Would draw"
        lines = [
            f"{verb} {what} out of {batch.frame:,} for {batch.measure} "
            f"{direction_title(batch.direction)} of {', '.join(batch.runs)}.",
            f"Design {self.design}: {reason(self.design)} The chances were {chance}.",
        ]
        if self.before:
            lines.append(
                f"{self.before:,} had been drawn in {self.batches:,} batch{'es' * (self.batches > 1)}, "
                f"{self.answered:,} of them have a label; none is drawn twice."
            )
        if not self.cost.pairs:
            lines.append("No question is needed: all of them are answered already.")
            return ["\n".join(lines)]
        return ["\n".join(lines), "\n".join(self.cost.sentences())]


def chance_in_percent(chance: float) -> str:
    """Return a chance in percent with two digits.

    >>> chance_in_percent(0.01234), chance_in_percent(1.0)
    ('1.2%', '100%')
    """
    return f"{100 * chance:.2g}%" if chance < 0.995 else "100%"


def reason(design: SamplingDesign) -> str:
    """Return in a sentence what a design does."""
    return (getdoc(type(design)) or "").partition("\n")[0]


def next_pairs(
    project: Project,
    run: Run | Sequence[Run] | Any,
    measure: Iterable[str | Named] | str | Named | None = None,
    *,
    budget: int = 200,
    design: str | SamplingDesign | None = None,
    estimator: str | LabelEstimator = DEFAULT_ESTIMATOR,
    noisy: str | Truth | None = None,
    direction: Iterable[str] | str | None = None,
    depth: int | None = None,
    ties: str | None = None,
    task_size: int | None = None,
    gold: int | None = None,
    overlap: int = 3,
    rates: Rates | None = None,
    dry_run: bool = False,
    seed: int = 0,
    loading: Loading | None = None,
    compute: Compute | None = None,
) -> NextPairs:
    """Draw the next pairs that people should judge, and put them into a project's queue.

    Pairs are drawn at random, and each is stored with the probability that it had, so that `estimate_project`
    can say what the answers prove. No pair is drawn twice. Answers that are there already are used to choose.

    Parameters
    ----------
    project
        An open project; `karat.project.next` takes its file or address, too.
    run
        What `karat.evaluate` takes, one run or several: those whose scores are wanted.
    measure
        A measure that is a mean over queries; that of the latest batch by default, or P@10.
    budget
        How many pairs at most.
    design
        How they are drawn: see `karat.estimation.DESIGNS`. By default "proportional" for P@K and its like,
        and "whole-queries" for measures that depend on all labels of a query together.
    estimator
        What guesses labels, so that pairs that may move the score have a larger chance.
    noisy, direction, depth, ties
        What the candidates are, as in `karat.estimate`; as for the latest batch by default.
    task_size, gold, overlap
        Of the tasks, as for `karat.judging.make_tasks`.
    rates
        How long an answer takes, and what annotators are paid.
    dry_run
        Store nothing.
    seed
        Of the draw; with the same seed, later batches are other ones.
    loading, compute
        How runs are read, and what the work is done with.

    Returns
    -------
    NextPairs

    Examples
    --------
    >>> import tempfile
    >>> from karat.forms import load_form
    >>> from karat.store import create_project
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs, bench = simulate_systems(world)[:2], world.benchmark()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_project(f"{folder}/own.db", bench, load_form("pair"), source="world") as project:
    ...         drawn = next_pairs(project, runs, "P@10", budget=50, direction="t2i")
    ...         len(drawn), drawn.batch, project.pools.plan().tasks
    (50, DrawBatch(50 of 1,826 pairs by proportional for P@10 t2i), 4)
    """
    if budget < 1:
        raise InputError(f"the budget is {plural(budget, 'pair')}", fix="give 1 or more, such as 200")
    chosen = None if design is None else parse_name(design, DESIGNS)
    guess = parse_name(estimator, ESTIMATORS)
    known = read_project(
        project, run, measure, direction=direction, noisy=noisy, depth=depth, ties=ties,
        loading=loading, compute=compute,
    )  # fmt: skip
    chosen = fitting(chosen, known)
    candidates, plain = known.candidates, known.plain
    if guess.needs_scores:
        check_scores(candidates)
    open_rows = np.flatnonzero(candidates.matter(plain) & ~known.taken)
    if not len(open_rows):
        raise InputError(
            f"all {plural(len(candidates), 'pair')} that {known.measure} looks at are drawn already",
            fix="wait for the answers, or add another run",
        )
    labels = VettedLabels(candidates, known.labels.rows, np.asarray(known.labels.relevant) > 0.5)
    number = len(known.stored)
    rng = np.random.default_rng([seed, 13, number])
    # Before the first answer nothing is known, and designs take all labels as equally uncertain.
    probability = np.full(len(candidates), np.nan)
    if len(labels):
        probability = shared(run_probabilities(guess, labels, plain, rng))
    draw = reordered(chosen.draw(labels, probability, plain, open_rows, budget, rng), rng)
    batch = as_batch(known, draw, len(open_rows), seed, guess)
    plan = plan_draws(project, batch, task_size=task_size, gold=gold, overlap=overlap, seed=seed)
    cost = draws_cost(project, plan, overlap, rates)
    notes = [*known.notes, *cost.notes]
    if len(batch) < budget and len(batch) == len(open_rows):
        notes.append(f"these are all {plural(len(batch), 'pair')} that were left")
    if not dry_run:
        batch = replace(batch, number=project.draws.add(batch, plan))
    return NextPairs(
        batch, chosen, cost, sum(map(len, known.stored)), number, len(known.labels), not dry_run,
        known.benchmark, tuple(notes),
    )  # fmt: skip


def fitting(design: SamplingDesign | None, known: ProjectLabels) -> SamplingDesign:
    """Return the design, the default one where none is named; raise where it does not fit the measure."""
    if design is None:
        single = run_weights(known.candidates, known.plain) is not None
        return parse_name(PAIR_DESIGN if single else QUERY_DESIGN, DESIGNS)
    if design.unit == "pair":
        pair_weights(known.candidates, known.plain, design)
    return design


def as_batch(known: ProjectLabels, draw: Draw, frame: int, seed: int, estimator: LabelEstimator) -> DrawBatch:
    """Return a draw of candidates as it is stored: as pairs of the benchmark."""
    candidates = known.candidates
    image, caption = (side[draw.rows] for side in candidates.pairs)
    query = np.where(draw.query >= 0, candidates.queries[draw.query], -1)
    return DrawBatch(
        draw.design, str(known.measure), candidates.direction, candidates.runs, seed, frame, image, caption,
        draw.probability, draw.stratum, query, known.settings | {"estimator": str(estimator)},
    )  # fmt: skip


def draws_cost(project: Project, plan: TaskPlan | None, overlap: int, rates: Rates | None) -> Cost:
    """Return what the new tasks cost."""
    if plan is None:
        return cost_of_tasks(0, 0, 0, overlap, project.form, rates)
    planned = project.pools.plan()
    wanted = np.bincount(project.queue.assignments().task, minlength=planned.tasks)
    return plan_cost(plan, project.form, planned=planned, wanted=wanted, rates=rates)
