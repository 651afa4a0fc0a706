"""Settings chosen on a dev split, and the fifteen models fused, against a literal version."""

import numpy as np
import pytest

import karat
from karat.baselines import KCCAPath, Setting, best_settings, dev_scores, fuse
from karat.errors import InputError

from made import make_benchmark, make_run


def test_five_settings_for_each_recall():
    rng = np.random.default_rng(1)
    settings = [Setting(kappa, n) for kappa in (0.1, 0.5, 1.0, 5.0) for n in (10, 20, 50)]
    # Coarse values, so that some tie.
    values = {
        one: {name: round(float(rng.random()), 1) for name in ("R@1", "R@5", "R@10")} for one in settings
    }
    chosen = best_settings(values)
    assert len(chosen) == 15
    for part, name in zip((chosen[:5], chosen[5:10], chosen[10:]), ("R@1", "R@5", "R@10")):
        worst = min(values[one][name] for one in part)
        assert all(values[one][name] <= worst for one in settings if one not in part)
        assert len(set(part)) == 5


def test_ties_go_by_all_measures_then_by_the_given_order():
    values = {
        "first": {"R@1": 0.5, "R@5": 0.6},
        "second": {"R@1": 0.5, "R@5": 0.7},
        "third": {"R@1": 0.5, "R@5": 0.6},
    }
    assert best_settings(values, ("R@1", "R@5"), each=2) == ["second", "first", "second", "first"]
    turned = dict(reversed(values.items()))
    assert best_settings(turned, ("R@1", "R@5"), each=2) == ["second", "third", "second", "third"]


def test_of_ranks_the_lowest_is_best():
    values = {"low": {"MedR": 3.0, "R@1": 0.1}, "high": {"MedR": 40.0, "R@1": 0.2}}
    assert best_settings(values, ("MedR",), each=1) == ["low"]
    assert best_settings(values, ("MedR", "R@1"), each=1) == ["low", "high"]


def test_too_few_settings_are_refused():
    with pytest.raises(InputError, match="best 5 of 1 setting were requested"):
        best_settings({"only": {"R@1": 1.0, "R@5": 1.0, "R@10": 1.0}})


def test_dev_scores_of_runs_tables_and_functions():
    bench = make_benchmark()
    runs = {name: make_run(bench, signal, 3, name) for name, signal in (("weak", 0.5), ("strong", 3.0))}
    candidates = [
        ("weak", runs["weak"]),
        ("strong", lambda: runs["strong"]),
        ("table", runs["strong"].scores),
    ]
    found = dev_scores(candidates, bench, truth="own")
    for direction in ("i2t", "t2i"):
        assert found[direction]["strong"] == found[direction]["table"]
        for name, run in runs.items():
            card = karat.evaluate(run, bench, ["R@5"], truth="own")
            assert found[direction][name]["R@5"] == card.value("R@5", direction=direction)
        assert found[direction]["strong"]["R@1"] > found[direction]["weak"]["R@1"]
    with pytest.raises(InputError, match="weak is a duplicate"):
        dev_scores([("weak", runs["weak"])] * 2, bench)


def test_from_a_path_to_one_fused_run_per_direction():
    rng = np.random.default_rng(5)
    bench = make_benchmark(30, 1)
    shared = rng.normal(size=(120, 4))
    x, y = (shared @ rng.normal(size=(4, 8)) + 0.7 * rng.normal(size=(120, 8)) for _ in range(2))
    train, dev, test = slice(0, 60), slice(60, 90), slice(90, 120)
    path = KCCAPath(kappas=(0.1, 1.0, 10.0), inputs="features").fit(x[train], y[train])
    ns = (1, 2, 3, 4, 6, 8)
    candidates = ((Setting(kappa, n), table) for kappa, n, table in path.scores(x[dev], y[dev], ns))
    found = dev_scores(candidates, bench, truth="own")
    for direction in ("i2t", "t2i"):
        chosen = best_settings(found[direction])
        assert len(chosen) == 15
        runs = path.runs(x[test], y[test], chosen)
        for run, setting in zip(runs, chosen):
            np.testing.assert_allclose(
                run.scores, path.model(*setting).similarity(x[test], y[test]), atol=1e-12
            )
        fused = fuse(runs, bench, direction=[direction])
        assert fused.directions == (direction,)
        card = karat.evaluate(fused, bench, ["R@10"], truth="own", direction=[direction])
        assert card.value("R@10", direction=direction) > 2 / 3  # chance: a third
