"""Dawid–Skene: of published positives, what is claimed and what is right (docs/judging-quality.md)."""

import numpy as np
import pytest

from karat.forms import load_form, make_answers
from karat.judging import aggregate
from karat.world import average, careful, lazy

CROWDS = {
    "3 careful, 6 average, 3 lazy; 2,000 pairs": (
        [careful()] * 3 + [average()] * 6 + [lazy(looks=0.6)] * 3,
        2000,
    ),
    "8 average, 12 lazy; 3,000 pairs": ([average()] * 8 + [lazy(looks=0.4)] * 12, 3000),
    "8 average, 12 lazy; 600 pairs": ([average()] * 8 + [lazy(looks=0.4)] * 12, 600),
}
SEEDS = 8


def one_seed(crowd, pairs, prevalence, seed):
    """Claimed and actual share of right pairs among those that are relevant by three answers and 10% gold."""
    rng = np.random.default_rng([seed, 5])
    hidden = pairs // 10
    relevant = np.concatenate([rng.random(pairs) < prevalence, np.arange(hidden) < hidden // 2])
    total = pairs + hidden
    near = rng.random(total) < 0.5
    right = np.where(relevant, np.where(near, 2, 3), np.where(near, 1, 0))
    who = np.array([rng.choice(len(crowd), 3, replace=False) for _ in range(total)])
    edges = np.cumsum(np.array([one.confusion for one in crowd])[who, right[:, None]], axis=-1)
    code = (rng.random(who.shape)[..., None] >= edges[..., :3]).sum(axis=-1)
    gold = np.where(np.arange(total) < pairs, -1, relevant.astype(np.int64))
    image = np.repeat(np.arange(total), 3)
    names = tuple(f"w{number}" for number in range(len(crowd)))
    answers = make_answers(
        image, np.zeros_like(image), who.ravel(), code.ravel() + 1, names, gold=np.repeat(gold, 3)
    )
    found = aggregate(answers, load_form("pair"), "dawid-skene")
    positive = found.relevant & (np.arange(total) < pairs)
    return found.relevance[positive].mean(), relevant[positive].mean()


@pytest.mark.statistical
@pytest.mark.parametrize("name", CROWDS)
@pytest.mark.parametrize("prevalence", [0.08, 0.25, 0.5])
def test_claimed_and_actual(name, prevalence):
    claimed, actual = np.mean([one_seed(*CROWDS[name], prevalence, seed) for seed in range(SEEDS)], axis=0)
    print(f"\n{name}, {prevalence:.0%} relevant: claimed {100 * claimed:.1f}%, right {100 * actual:.1f}%")
    # Never too sure, beyond three points.
    assert claimed - actual < 0.03
    if name.startswith("3 careful"):
        assert actual - claimed < 0.03
