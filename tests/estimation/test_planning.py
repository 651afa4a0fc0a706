"""Plans: expected widths against formulas written out, against drawn samples, and on the command line."""

import json

import numpy as np
import pytest
from scipy import stats

import karat
from karat.benchmarks import Judgments, Provenance, Truth, save_benchmark
from karat.errors import InputError
from karat.estimation import (
    DESIGNS,
    VettedLabels,
    interval_estimates,
    make_candidates,
    parse_name,
    sequence_factor,
    truth_labels,
)
from karat.measures import parse_measure
from karat.stats import detection_reach
from karat.world import make_world, simulate_systems

P10 = parse_measure("P@10")


@pytest.fixture(scope="module")
def world():
    made = make_world(images=200, captions=2, seed=1)
    return made.benchmark(), simulate_systems(made)[1:3]


@pytest.fixture(scope="module")
def labelled(world):
    bench, runs = world
    pairs = make_candidates(runs, bench, "original", direction="t2i", depth=10, noisy_positives=False)
    return pairs, truth_labels(pairs, bench.truth("complete"), unlisted="no")


def pilot_of(labelled, number: int = 300, seed: int = 0) -> Truth:
    pairs, label = labelled
    rows = np.random.default_rng(seed).choice(len(pairs), number, replace=False)
    image, caption = (side[rows] for side in pairs.pairs)
    judgments = Judgments(image, caption, rating=label[rows], sources=[Provenance("pilot")])
    return Truth("pilot", judgments, {"i2t": np.arange(200), "t2i": np.arange(400)})


def test_one_run_with_an_assumed_correlation_follows_the_formula(world):
    bench, runs = world
    plan = karat.plan(runs[:1], bench, P10, direction="t2i", rho=0.7, prevalence=0.3)
    uniform = next(design for design in plan.designs if design.name == "uniform" and design.predicted)
    alone = next(design for design in plan.designs if design.name == "uniform" and not design.predicted)
    for n in (100, 1000, 3000):
        expected = 0.3 * 0.7 * (1 / n - 1 / 4000)
        assert alone.score(n) == pytest.approx(expected, rel=0.02)
        # Predictions are as good as assumed with 300 labels; those from fewer leave more, at most everything.
        grown = min((1 + 31 / n) / (1 + 31 / 300), 1 / (1 - 0.7**2))
        assert uniform.score(n) == pytest.approx(expected * (1 - 0.7**2) * grown, rel=0.03)
    assert plan.half_width(uniform, 1000) == pytest.approx(
        1.96 * np.sqrt(0.3 * 0.7 * 0.51 * (1 / 1000 - 1 / 4000) * (1 + 31 / 1000) / (1 + 31 / 300)), rel=0.03
    )
    assert plan.half_width(uniform, 4000) == 0
    assert plan.half_width(uniform, 1000, anytime=True) == pytest.approx(
        plan.half_width(uniform, 1000) * float(sequence_factor(np.array(1000), 4000)) / 1.96, rel=1e-3
    )


def test_the_needed_labels_give_the_wanted_width(world):
    bench, runs = world
    plan = karat.plan(runs, bench, P10, direction="t2i", rho=0.6, prevalence=0.4, within=3)
    for design in plan.designs:
        n = plan.needed_score(design)
        assert plan.half_width(design, n) <= 0.03 < plan.half_width(design, n - 1)
    assert plan.labels("proportional") < plan.labels("uniform")
    assert plan.labels() == min(plan.needed_score(design) for design in plan.designs if design.predicted)


def test_nothing_known_is_the_worst_case(world):
    bench, runs = world
    plan = karat.plan(runs[:1], bench, P10, direction="t2i")
    assert plan.basis.prevalence == 0.5
    assert "label 100 pairs and plan again" in str(plan)
    assert plan.labels("uniform") > karat.plan(runs[:1], bench, P10, direction="t2i", prevalence=0.2).labels(
        "uniform"
    )


@pytest.mark.parametrize("number", [200, 400, 1500])
def test_widths_are_those_of_drawn_samples(world, labelled, number):
    bench, runs = world
    pairs, label = labelled
    rows = np.flatnonzero(pairs.matter(P10))
    plans = [
        karat.plan(runs, bench, P10, direction="t2i", pilot=pilot_of(labelled, seed=seed))
        for seed in range(2)
    ]
    for method, predicted in (("difference", True), ("hajek", False)):
        widths = []
        for seed in range(4):
            batch = parse_name("uniform", DESIGNS).draw(
                VettedLabels.none(pairs), pairs.noisy * 1.0, P10, rows, number, np.random.default_rng(seed)
            )
            some = VettedLabels(pairs, batch.rows, label[batch.rows] > 0)
            widths.append(
                max(one.half_width for one in interval_estimates(some, [batch], P10, method=method))
            )
        planned = [
            plan.half_width(design, number)
            for plan in plans
            for design in plan.designs
            if design.name == "uniform" and design.predicted == predicted
        ]
        assert np.mean(planned) == pytest.approx(np.mean(widths), rel=0.1)


def test_power_over_queries_is_the_usual_formula(world):
    bench, runs = world
    plan = karat.plan(runs, bench, P10, direction="t2i", rho=0.5, prevalence=0.3)
    # Noncentral t: a true difference of this size is found in 80% of samples.
    n, alpha = 300, 0.05
    gap = plan.detectable_over_queries(n) / (plan.spread / np.sqrt(n))
    found = stats.nct.sf(stats.t.ppf(1 - alpha / 2, n - 1), n - 1, gap)
    assert found == pytest.approx(0.8, abs=0.005)
    assert detection_reach(n, alpha, 0.8) == pytest.approx(gap)


def test_other_measures_are_planned_by_whole_queries(world):
    bench, runs = world
    plan = karat.plan(runs, bench, "RP", direction="t2i", rho=0.6, prevalence=0.15, depth=20)
    assert {design.name for design in plan.designs} == {"whole-queries"}


def test_a_plan_fits_into_a_hundred_columns(world):
    bench, runs = world
    plan = karat.plan(runs, bench, P10, direction="t2i", world=True)
    lines = str(plan).splitlines()
    assert max(len(line) for line in lines if not line.startswith("note:")) <= 100
    assert "As in the known-truth world" in lines[1]
    assert {"half_width", "anytime_half_width", "hours", "money"} <= set(plan.records()[0])


def test_the_picture_has_a_line_for_each_design(world):
    pytest.importorskip("plotly")
    bench, runs = world
    plan = karat.plan(runs, bench, P10, direction="t2i", rho=0.7, prevalence=0.3)
    lines = plan.plot().data
    assert [line.name for line in lines] == [design.title for design in plan.designs]
    assert lines[0].y[-1] == 0
    assert plan.plot(anytime=True).data[1].y[5] > lines[1].y[5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within": 0}, "within is 0"),
        ({"rho": 1.0}, "rho is 1"),
        ({"prevalence": 0.0}, "prevalence is 0"),
        ({"power": 0.2}, "power is 0.2"),
        ({"level": 1.0}, "level is 1"),
        ({"measure": "P@10,RP"}, "for one measure"),
    ],
)
def test_what_makes_no_sense_is_refused(world, options, message):
    bench, runs = world
    with pytest.raises(InputError, match=message):
        karat.plan(runs, bench, direction="t2i", **options)


def test_a_small_pilot_is_refused(world, labelled):
    bench, runs = world
    with pytest.raises(InputError, match="too few for a plan"):
        karat.plan(runs, bench, P10, direction="t2i", pilot=pilot_of(labelled, 12))


def test_the_command_prints_the_plan(tmp_path, monkeypatch, capsys):
    import sys

    from karat.cli.main import main

    made = make_world(images=40, captions=2, seed=1)
    bench, runs = made.benchmark(), simulate_systems(made)[1:3]
    save_benchmark(bench, tmp_path / "my")
    for run in runs:
        np.save(tmp_path / f"{run.name}.npy", run.scores)
    files = [str(tmp_path / f"{run.name}.npy") for run in runs]
    options = ["-b", str(tmp_path / "my"), "-m", "P@10", "--within", "3", "--direction", "t2i", "--rho",
               "0.7", "--prevalence", "0.3", "--json", str(tmp_path / "plan.json")]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["karat", "plan", *files, *options])
    with pytest.raises(SystemExit) as stop:
        main()
    printed = capsys.readouterr()
    assert not stop.value.code, printed.err
    plan = karat.plan(runs, bench, P10, within=3, direction="t2i", rho=0.7, prevalence=0.3)
    assert f"{plan.labels():,} labels" in printed.out
    assert len(json.loads((tmp_path / "plan.json").read_text())) == len(plan.records())
