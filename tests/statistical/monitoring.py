"""Projects that are looked at all the time, simulated many at once in the known-truth world."""

from functools import cache

import numpy as np

from karat.estimation import make_candidates, truth_labels
from karat.world import make_world, simulate_systems


@cache
def labelled_pairs(images: int = 200, run: str = "learner", seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of a run's first ten items of all queries, and what predicts them.

    P@10 is the mean of the labels. The prediction comes from another world: the share of relevant items with
    this place, noisy label and similar score there.
    """
    label, cell = [], []
    for world_seed in (seed, seed + 1000):
        world = make_world(images=images, captions=2, seed=world_seed)
        runs = [one for one in simulate_systems(world, seed=world_seed) if one.name == run]
        pairs = make_candidates(
            runs, world.benchmark(), "original", direction="t2i", depth=10, noisy_positives=False
        )
        label.append(truth_labels(pairs, world.benchmark().truth("complete"), unlisted="no"))
        order = np.argsort(np.argsort(pairs.scores[run]))
        cell.append(order * 20 // len(order) * 2 + pairs.noisy)
    hits, number = (np.bincount(cell[1], weight, 40) for weight in (label[1], None))
    return label[0], ((hits + 0.5) / (number + 1))[cell[0]]


def uniform_looks(y: np.ndarray, p: np.ndarray, last: int, times: int, seed: int = 0):
    """Return estimates and variances [times, last] after every label: the difference estimator, tuned."""
    rng = np.random.default_rng(seed)
    size = len(y)
    drawn = np.stack([rng.permutation(size)[:last] for _ in range(times)])
    n = np.arange(1, last + 1)
    ys, ps = y[drawn], p[drawn]
    sums = [np.cumsum(values, axis=1) for values in (ys, ps, ys * ys, ps * ps, ys * ps)]
    my, mp, yy, pp, yp = (values / n for values in sums)
    vy, vp, cov = yy - my**2, pp - mp**2, yp - my * mp
    beta = np.where((vp > 1e-12) & (n >= 20), cov / np.maximum(vp, 1e-12), 0.0)
    value = my + beta * (p.mean() - mp)
    spread = np.maximum(vy - 2 * beta * cov + beta**2 * vp, 0.0) * n / np.maximum(n - 2, 1)
    return drawn, value, spread / n * (1 - n / size)


def proportional_looks(y: np.ndarray, p: np.ndarray, last: int, batch: int, times: int, seed: int = 0):
    """Return estimates and variances [times, looks] after every batch, drawn in proportion to √(p (1 − p)).

    Randomised systematic draws from what is open, corrected predictions per batch, Hájek's variance, batches
    weighted by 1/|O_next| − 1/|O|: written anew, in another way than `karat.estimation.statistics`.
    """
    rng = np.random.default_rng(seed)
    size = len(y)
    spread = np.sqrt(p * (1 - p))
    importance = 0.8 * spread / spread.mean() + 0.2
    is_open = np.ones((times, size), bool)
    rows = np.arange(times)[:, None]
    total, noise, clock = np.zeros(times), np.zeros(times), 0.0
    values, variances = [], []
    for first in range(0, last, batch):
        weight = importance * is_open
        chance = weight * (batch / weight.sum(axis=1, keepdims=True))
        assert chance.max() < 1
        order = rng.permuted(np.broadcast_to(np.arange(size), (times, size)), axis=1)
        ends = np.cumsum(chance[rows, order], axis=1)
        ends *= batch / ends[:, -1:]
        points = rng.random((times, 1)) + np.arange(batch)
        at = np.stack([np.searchsorted(line, hit) for line, hit in zip(ends, points)])
        drawn = order[rows, np.minimum(at, size - 1)]
        pi = chance[rows, drawn]
        d = (y[drawn] - p[drawn]) / pi
        known = np.where(is_open, p, y).sum(axis=1)
        estimate = (known + d.sum(axis=1)) / size
        c = (1 - pi) / (1 - pi).sum(axis=1, keepdims=True)
        middle = (c * d).sum(axis=1, keepdims=True)
        own = ((1 - pi) * (d - middle) ** 2).sum(axis=1) / (1 - (c**2).sum(axis=1)) / size**2
        left = size - first
        step = 1 / (left - batch) - 1 / left
        clock += step
        total += step * estimate
        noise += step**2 * own
        values.append(total / clock)
        variances.append(noise / clock**2)
        is_open[rows, drawn] = False
    labels = np.arange(batch, last + 1, batch)
    return labels, np.stack(values, axis=1), np.stack(variances, axis=1)
