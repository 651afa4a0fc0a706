"""Intervals of B_Θ, compared with their definition: draw by draw, query by query."""

from itertools import combinations

import numpy as np
import pytest

from karat.judging.bias import resampled_bias as module
from karat.judging.bias.resampled_bias import bias_tables
from karat.judging.bias.subsets import SubsetScorer, bias_measures, choose_subsets, suggested_labels
from karat.stats.intervals import Intervals
from tests.judging.bias import plain_bias
from tests.judging.bias.test_subsets import ASKED, BENCH, QUERIES, WORLD, as_pairs, case

DRAWS = 40
SUBSETS = [s for size in range(1, 4) for s in combinations(range(3), size)]


def image_of(direction, query):
    return query if direction == "i2t" else int(WORLD.caption_image[query])


def plain_draws(values, images, drawn):
    """Per draw of images, the differences s_Θ(φ) − s_All(φ) of every subset and model."""
    out = []
    for draw in drawn:
        queries = [query for image in draw for query in images[image]]
        scores = {
            subset: [sum(model[query] for query in queries) / len(queries) for model in models]
            for subset, models in values.items()
        }
        every = scores[0, 1, 2]
        out.append({s: [a - b for a, b in zip(scores[s], every)] for s in scores})
    return out


def plain_kinds(differences, signs, subset):
    """The mean over all models, those of the subset, and the others; |d|, or d times a sign."""
    terms = [abs(d) if signs is None else d * np.sign(s) for d, s in zip(differences, signs or differences)]
    parts = (range(3), subset, [model for model in range(3) if model not in subset])
    return [np.mean([terms[model] for model in part]) if len(part) else np.nan for part in parts]


@pytest.mark.parametrize("block", [1, 1 << 22])
@pytest.mark.parametrize("seed", [11, 4])
def test_they_are_percentiles_of_resampled_images(seed, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    tables, pool, judged, runs = case(seed)
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(judged)), runs, BENCH, ASKED)
    inside = choose_subsets(3).inside
    found, _ = bias_tables(
        scorer, inside, bias_measures(["R@1", "RP"]), Intervals(level=0.9, resamples=DRAWS, seed=5)
    )
    assert len(found) == 4
    for (direction, measure), table in found.items():
        everything = plain_bias.labels_of(pool, judged, {}, range(3))
        values = {
            subset: [
                plain_bias.query_values(
                    scores, plain_bias.labels_of(pool, judged, {}, subset), everything, QUERIES[direction],
                    direction, measure,
                )
                for scores in tables
            ]
            for subset in SUBSETS
        }  # fmt: skip
        images = {}
        for query in values[0, 1, 2][0]:
            images.setdefault(image_of(direction, query), []).append(query)
        known = np.array(sorted(images))
        picked = known[np.random.default_rng(5).integers(0, len(known), (DRAWS, len(known)))]
        (own,) = plain_draws(values, images, [known.tolist()])
        draws = plain_draws(values, images, picked.tolist())
        by_size = {}
        for row, subset in enumerate(SUBSETS):
            assert table.names(row) == tuple(f"s{model}" for model in subset)
            value = plain_kinds(own[subset], None, subset)
            low = np.array([plain_kinds(draw[subset], own[subset], subset) for draw in draws])
            high = np.array([plain_kinds(draw[subset], None, subset) for draw in draws])
            np.testing.assert_allclose(table.biases[:, row], value, atol=1e-12)
            expected = np.maximum(np.percentile(low, 5, axis=0), 0), np.percentile(high, 95, axis=0)
            np.testing.assert_allclose(table.intervals.low[:, row], expected[0], atol=1e-12)
            np.testing.assert_allclose(table.intervals.high[:, row], expected[1], atol=1e-12)
            by_size.setdefault(len(subset), []).append((low, high))
        for number, size in enumerate((1, 2, 3)):
            low, high = (np.mean(side, axis=0) for side in zip(*by_size[size]))
            point = table.curve()[number]
            for kind, name in enumerate(("bias", "self_bias", "other_bias")):
                ends = getattr(point, f"{name}_low"), getattr(point, f"{name}_high")
                if size == 3 and name == "other_bias":
                    assert ends == (None, None)
                    continue
                expected = max(np.percentile(low[:, kind], 5), 0), np.percentile(high[:, kind], 95)
                assert ends == pytest.approx(expected, abs=1e-12)


def test_bca_and_subsets_without_labels():
    """Where queries without a label are left out, a subset may have no bias in some resamples, or in none."""
    _, pool, judged, runs = case(11)
    wrong = pool.suggested_by(0)
    grades = {
        (int(image), int(caption)): 0.0 if bad else judged.get((int(image), int(caption)), 0.5)
        for image, caption, bad in zip(pool.image, pool.caption, wrong)
    }
    scorer = SubsetScorer(suggested_labels(pool, as_pairs(grades)), runs, BENCH, ASKED, fixed=False)
    inside = choose_subsets(3).inside
    for method in ("percentile", "bca"):
        found, _ = bias_tables(scorer, inside, bias_measures(["RP"]), Intervals(method, resamples=50))
        for table in found.values():
            assert np.isnan(table.bias[0])
            assert np.isnan(table.intervals.low[:, 0]).all()
            known = ~np.isnan(table.biases)
            low, high = table.intervals.low[known], table.intervals.high[known]
            assert ((low >= 0) & (low <= high + 1e-12)).all()
            assert table.records()[0]["bias_low"] is None
