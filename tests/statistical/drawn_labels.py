"""Repeated draws of labels from populations whose labels are all known."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from karat.estimation import (
    DESIGNS,
    ESTIMATORS,
    Candidates,
    LabelEstimator,
    Ranking,
    VettedLabels,
    answer_posterior,
    clusters_of,
    make_candidates,
    parse_name,
    truth_labels,
)
from karat.estimation.score_intervals import ask_labels, drawn_totals
from karat.estimation.statistics import IN_OTHER_TASKS, IN_OWN_TASKS, NOWHERE, interval
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems

RUNS = ("learner", "memoriser", "difference")
GOLD = 200
"""Gold pairs of each kind, from which the annotators' error rates are known."""


@dataclass(frozen=True)
class LabelledPairs:
    """Candidates with all their labels."""

    candidates: Candidates
    truth: np.ndarray
    cluster: np.ndarray

    def take(self, clusters: np.ndarray) -> "LabelledPairs":
        """Return the queries of given clusters; one that is given twice counts as two."""
        old = self.candidates
        members = [np.flatnonzero(self.cluster == cluster) for cluster in clusters]
        queries = np.concatenate(members)
        length = np.diff(old.ptr)[queries]
        ptr = np.r_[0, np.cumsum(length)]
        rows = np.arange(ptr[-1]) + np.repeat(old.ptr[queries] - ptr[:-1], length)
        rankings = {}
        for run, ranking in old.rankings.items():
            ranked = ranking.ranked
            assert (ranked.ptr == old.ptr).all()
            names = ("start", "width", "count", "grade", "hidden")
            fields = {name: getattr(ranked, name)[rows] for name in names}
            fields |= {name: getattr(ranked, name)[queries] for name in ("size", "depth")}
            shift = np.repeat(ptr[:-1] - old.ptr[queries], length)
            rankings[run] = Ranking(ranking.row[rows] + shift, replace(ranked, ptr=ptr, **fields))
        candidates = Candidates(
            old.direction,
            np.arange(len(queries)),
            ptr,
            old.item[rows],
            old.noisy[rows],
            rankings,
            {run: scores[rows] for run, scores in old.scores.items()},
        )
        cluster = np.repeat(np.arange(len(members)), [len(some) for some in members])
        return LabelledPairs(candidates, self.truth[rows], cluster)


def labelled_pairs(images: int, depth: int, captions: int = 2, seed: int = 1) -> LabelledPairs:
    """Return the captions of a world as queries of two systems."""
    world = make_world(images=images, captions=captions, seed=seed)
    benchmark = world.benchmark()
    candidates = make_candidates(
        simulate_systems(world)[1:3], benchmark, "original", direction="t2i", depth=depth,
        noisy_positives=depth > 10,
    )  # fmt: skip
    truth = truth_labels(candidates, benchmark.truth("complete"))
    return LabelledPairs(candidates, truth, clusters_of(benchmark, candidates))


def answered(truth, rng, error, answers=3):
    """Return probabilities and versions of them, from annotators who err, with gold."""
    if not error:
        return truth, None
    right = 1 - error
    yes = rng.binomial(answers, np.where(truth > 0, right, error))
    gold = [(int(rng.binomial(GOLD, right)), GOLD) for _ in range(2)]
    seed = int(rng.integers(1 << 30))
    return answer_posterior(yes, np.full(len(yes), answers), *gold, versions=10, seed=seed)


def asked_before(candidates, rng, known):
    """Return where each candidate is asked about apart from the batch's own tasks, and what is answered.

    With `known`, a third of the noisy positives is gold, and earlier tasks ask about the first two items of
    every run; the share `known` of these is answered.
    """
    asked = np.full(len(candidates), IN_OWN_TASKS)
    if known is None:
        return asked, np.zeros(len(candidates), bool)
    asked[np.min(list(candidates.places.values()), axis=0) < 2] = IN_OTHER_TASKS
    asked[candidates.noisy & (rng.random(len(candidates)) < 1 / 3)] = NOWHERE
    earlier = (asked == IN_OTHER_TASKS) & (rng.random(len(candidates)) < known)
    return asked, earlier | (asked == NOWHERE)


def draw_labels(
    pairs, design, measure, share, rng, *, batches=1, error=0.0, answers=3, part=1.0, known=None,
    aim="direct",
):  # fmt: skip
    """Return what annotators say about a random `part` of the questions, and the draws."""
    chosen = parse_name(design, DESIGNS)
    candidates = pairs.candidates
    looked_at = candidates.matter(measure)
    p = candidates.noisy * 0.6 + 0.2
    labels, samples, drawn = VettedLabels.none(candidates), [], np.zeros(len(candidates), bool)
    asked, there = asked_before(candidates, rng, known)
    for _ in range(batches):
        open_rows = np.flatnonzero(looked_at & ~drawn)
        n = round(share * looked_at.sum() / batches)
        sample = chosen.draw(labels, p, measure, open_rows, n, rng)
        samples.append(replace(sample, asked=asked[sample.rows]))
        drawn[sample.rows] = True
        own = rng.permutation(sample.rows[asked[sample.rows] == IN_OWN_TASKS])
        there[own[: round(part * len(own))]] = True
        rows = sample.rows[there[sample.rows]]
        labels = labels.add(rows, pairs.truth[rows] > 0)
        if batches > 1:
            # The next batch is aimed by what was learned from the labels so far.
            p = parse_name(aim, ESTIMATORS).probabilities(labels, measure, rng)
    tau, versions = answered(pairs.truth[labels.rows], rng, error, answers)
    relevant = tau if error else labels.relevant
    return VettedLabels(candidates, labels.rows, relevant, versions=versions), samples


class Remembered(LabelEstimator):
    """An estimator that fits once per set of labels, however many measures ask."""

    name = "remembered"

    def __init__(self, name="direct"):
        super().__init__()
        self.inner, self.known = parse_name(name, ESTIMATORS), {}

    def probabilities(self, labels, measure, rng):
        """Return what the inner estimator returns, from memory where the labels are the same."""
        key = labels.rows.tobytes() + np.packbits(labels.relevant).tobytes()
        if key not in self.known:
            self.known[key] = self.inner.probabilities(labels, measure, rng)
        return self.known[key]


def simulate(
    pairs, measures, design, share, *, times, images, seed=0, method="difference", estimator="direct",
    proxy=None, **drawing,
):  # fmt: skip
    """Draw images and labels again and again; return how often intervals hold, and how wide they are.

    Returns one record per measure and target, with an entry for both runs and one for their difference:
    `held`, `width`, `spread` (of the estimates around what is estimated, as the width of an interval) and
    `labels`. The score of this test set is that of the drawn images; the score of the population is that of
    all images.
    """
    parsed = [parse_measure(name) for name in measures]
    everything = {name: with_difference(values_per_query(pairs.candidates, pairs.truth, m).mean(axis=1))
                  for name, m in zip(measures, parsed)}  # fmt: skip
    rng = np.random.default_rng([seed, 13])
    names = np.unique(pairs.cluster)
    rows = {}
    for turn in range(times):
        sample = pairs.take(rng.choice(names, images))
        labels, samples = draw_labels(sample, design, parsed[0], share, rng, **drawing)
        more = {"proxies": None if proxy is None else {"given": proxy(sample, rng)}}
        how = None if estimator is None else Remembered(estimator)
        for name, measure in zip(measures, parsed):
            own = with_difference(values_per_query(sample.candidates, sample.truth, measure).mean(axis=1))
            question = ask_labels(
                labels, samples, measure, estimator=how, cluster=sample.cluster, seed=turn, **more
            )
            totals, _ = drawn_totals(question, method)
            for target, true in (("test_set", own), ("population", everything[name])):
                every = [
                    interval(totals, *pair, target=target, method=method, level=0.95)
                    for pair in ((0,), (1,), (0, 1))
                ]
                numbers = [[one.value, one.low, one.high] for one in every]
                rows.setdefault((name, target), []).append(np.c_[numbers, true])
    out = {}
    for key, tables in rows.items():
        value, low, high, true = np.moveaxis(np.array(tables), -1, 0)
        out[key] = SimpleNamespace(
            held=((low <= true + 1e-12) & (true - 1e-12 <= high)).mean(axis=0),
            width=(high - low).mean(axis=0),
            spread=3.92 * np.sqrt(((value - true) ** 2).mean(axis=0)),
            bias=(value - true).mean(axis=0),
            labels=len(labels),
        )
    return out


def with_difference(scores):
    """Return the scores of two runs and their difference."""
    return np.r_[scores, scores[0] - scores[1]]


def report(title, made, least=0.93, most=0.97, runs=RUNS):
    """Print a table of coverage and width, and check the coverage."""
    for (measure, target), one in made.items():
        shown = " ".join(
            f"{name} {100 * held:.1f}% ± {100 * width / 2:.2f}"
            for name, held, width in zip(runs, one.held, one.width)
        )
        print(f"\n{title} | {measure} | {target} | {one.labels} labels | {shown}", end="")
    held = np.array([one.held for one in made.values()])
    # Of a thousand repetitions, the share that holds is itself known to ± 0.7% (one standard deviation).
    assert held.min() > least
    assert held.max() < most + 0.01
