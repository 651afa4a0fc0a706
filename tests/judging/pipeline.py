"""The whole way on a known-truth world: pool five systems, let people judge, publish, score again."""

from dataclasses import dataclass, replace

import numpy as np

import karat
from karat.forms import load_form
from karat.judging import AcceptanceRule, make_pool, make_tasks, simulate_answers
from karat.judging.publication.correction import correct
from karat.judging.publication.evidence import Evidence
from karat.judging.quality.assignments import accepted_answers
from karat.judging.quality.gold import GOLD_SHARE
from karat.world import adversarial, average, careful, lazy, make_world, simulate

GAP = 0.02
"""How far apart the systems truly are, at least: the requirement speaks of gaps of two points."""
PEOPLE = 30
METHODS = ("majority", "majority, control rule", "dawid-skene")
"""How labels are made of answers; the control rule leaves out people who fail too many known pairs."""


def strict_form():
    """The form with four answers, where only "100% yes" counts, as in the world's truth."""
    form = load_form("pair")
    grades = {"yes": 1.0, "partially": 0.0, "mostly_no": 0.0, "no": 0.0}
    return replace(form, name="strict", answers=tuple(replace(a, grade=grades[a.code]) for a in form.answers))


@dataclass(frozen=True)
class Outcome:
    """What one seed showed: precision and recall of labels, and whether systems are in the true order."""

    precision: dict
    recall: dict
    ordered: dict
    pairs: int


def people(rng):
    """Thirty people, one in five lazy or adversarial."""
    bad = PEOPLE // 5
    good = [
        careful(f"careful-{n}") if rng.random() < 0.5 else average(f"average-{n}")
        for n in range(PEOPLE - bad)
    ]
    habits = ("yes", "no", None)
    return good + [
        adversarial(f"bad-{n}") if rng.random() < 0.5 else lazy(f"bad-{n}", 0.3, habits[rng.integers(3)])
        for n in range(bad)
    ]


def scores(benchmark, runs, truth):
    """mAP@R of every run, the mean of both directions."""
    card = karat.evaluate(runs, benchmark, ["mAP@R"], truth=truth)
    return np.array([np.mean([c.value for c in card if c.run == run.name]) for run in runs])


def systems(world, benchmark, rng, kinds):
    """Five systems of random strength whose true scores lie at least GAP apart.

    With `kinds`, some are blind to something, and some have learned what annotators mention rather than what
    is true: labels that know the original pairs alone reward these.
    """
    while True:
        runs = []
        for n, strength in enumerate(rng.uniform(1.5, 7, 5)):
            odd = rng.random(2) < (0.4 if kinds else 0)
            settings = {"instance": rng.uniform(0.5, 2) if odd[0] else 0.0}
            settings["blind"] = (str(rng.choice(["colour", "number", "size"])),) if odd[1] else ()
            run = simulate(world, strength, seed=int(rng.integers(2**31)), name=f"system-{n}", **settings)
            runs.append(run.align(benchmark))
        true = scores(benchmark, runs, "complete")
        if np.diff(np.sort(true)).min() >= GAP:
            return runs, true


def same_order(values, true):
    return bool((np.argsort(values) == np.argsort(true)).all())


def one_seed(seed, images=120, captions=3, top=5, kinds=False):
    """Go the whole way once."""
    rng = np.random.default_rng([seed, 7])
    world = make_world(images=images, captions=captions, seed=seed)
    benchmark = world.benchmark()
    runs, true = systems(world, benchmark, rng, kinds)
    form = strict_form()
    # The world's own complete truth must not help: only the labels that a benchmark would have.
    known = replace(benchmark, truths={"original": benchmark.truths["original"]})
    pool = make_pool(runs, known, top=top, seed=seed)
    plan = make_tasks(pool, form, task_size=16, gold=2, overlap=3, seed=seed)
    # People answer the ordinary form; what "partially yes" is worth is decided when labels are made.
    answers = simulate_answers(world, plan, people(rng), load_form("pair"), seed=seed).table()
    holds = world.pair_relevance(pool.image, pool.caption)
    precision, recall, ordered = {}, {}, {}
    ordered["original"] = same_order(scores(benchmark, runs, "original"), true)
    for method in METHODS:
        aggregation, _, rule = method.partition(", ")
        used = accepted_answers(answers, form, gold_share=GOLD_SHARE if rule else None).kept
        evidence = Evidence(
            known, form, pool, answers, used, plan=plan, acceptance=AcceptanceRule(aggregation)
        )
        found = correct(evidence)
        judged = found.verdicts
        size = len(benchmark.captions)
        yes = np.isin(
            pool.image * size + pool.caption, (judged.image * size + judged.caption)[judged.grade > 0]
        )
        precision[method] = (yes & holds).sum() / yes.sum()
        recall[method] = (yes & holds).sum() / holds.sum()
        ordered[method] = same_order(scores(found.benchmark, runs, "corrected"), true)
    return Outcome(precision, recall, ordered, len(pool))
