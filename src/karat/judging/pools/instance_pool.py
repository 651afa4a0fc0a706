"""Pools of instances: objects whose masks annotators approve or reject, each with its own image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.benchmarks import Benchmark, overlaps
from karat.errors import InputError
from karat.forms import POOLED, Form, Pool, find, judged_keys, key_of, split_key
from karat.judging.pools.gold import GoldChoice, draw_gold
from karat.runs import Detections


def make_instance_pool(
    benchmark: Benchmark,
    runs: Sequence[Detections] = (),
    *,
    sample: int | None = None,
    form: Form | None = None,
    seed: int = 0,
) -> Pool:
    """Return the instances whose masks are to be vetted, each paired with its image.

    An instance has a mask in its file, is not a crowd, and no truth of the benchmark says whether the mask is
    right. Gold positives are masks that a truth says are right; gold negatives are instances over an image
    of the same size that shows no object of their category.

    Parameters
    ----------
    benchmark
        As ``load_benchmark("instances", file=…)`` returns it.
    runs
        Detections: only instances whose box one of them overlaps, with the same category, are pooled. The
        mask of any other instance changes no label. By default all are pooled.
    sample
        How many are drawn at random; all by default.
    form
        Decides how much gold is drawn; "mask" is the form for it.
    seed
        Of the draws.

    Examples
    --------
    ``make_instance_pool(load_benchmark("instances", file="instances_val2014_100.json"), sample=200)``
    """
    instances = benchmark.instances
    if instances is None:
        raise InputError(
            f"{benchmark.name} has no instances with masks", fix="load an instances_*.json of COCO's form"
        )
    known = judged_keys(benchmark, list(benchmark.truths))
    may = np.array([mask is not None for mask in instances.masks], bool) & ~instances.crowd
    seen = np.ones(len(instances), bool) if not runs else np.any([overlapped(run) for run in runs], axis=0)
    keys = np.sort(key_of(instances.image, np.arange(len(instances)))[may & seen])
    judged = find(known, keys) >= 0
    kept = keys[~judged]
    if sample is not None:
        rng = np.random.default_rng([seed, 2])
        kept = np.sort(rng.choice(kept, min(sample, len(kept)), replace=False))
    image, caption = split_key(kept)
    none = np.zeros(0, np.int64)
    pool = Pool(
        image, caption, np.full(len(kept), POOLED, np.int8),
        tuple(run.name for run in runs), none, none, none, none, np.zeros(0), {}, 0, int(judged.sum()),
        int((may & ~seen).sum()),
    )  # fmt: skip
    gold_image, gold_caption, right = draw_gold((), benchmark, pool, form, GoldChoice(depth=0), seed=seed)
    return replace(pool, gold_image=gold_image, gold_caption=gold_caption, gold_right=right)


def overlapped(run: Detections) -> np.ndarray:
    """Return per instance whether a detection of its category in its image overlaps its box."""
    instances = run.instances
    found = np.zeros(len(instances), bool)
    kinds = len(instances.categories)
    own, seen = instances.image * kinds + instances.category, run.image * kinds + run.category
    for group in np.intersect1d(own, seen):
        rows = np.flatnonzero(own == group)
        touching = overlaps(run.box[seen == group], instances.box[rows], np.zeros(len(rows), bool))
        found[rows] = touching.any(axis=0)
    return found
