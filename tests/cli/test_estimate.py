"""``karat estimate`` and ``karat simulate`` as a user meets them."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Share, Truth, save_benchmark
from karat.estimation.relevance import labels_of
from karat.world import make_world, simulate_systems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A benchmark with truths of every kind, two tables of scores, and ranked lists."""
    place = tmp_path_factory.mktemp("estimate")
    world = make_world(images=20, captions=1, seed=1)
    bench, runs = world.benchmark(), simulate_systems(world)[:2]
    image, caption = np.divmod(np.flatnonzero(np.random.default_rng(0).random(400) < 0.4), 20)
    right = labels_of(bench.truth("complete"), "i2t", image, caption)
    people, share = Provenance("people"), Provenance("people", "0 to 1", Share(top=1))
    crowd = [Provenance("ann"), Provenance("bob")]
    judged = {
        "part": Judgments(image, caption, rating=right, sources=[people]),
        "empty": Judgments([], [], rating=[], sources=[people]),
        "graded": Judgments(image, caption, rating=right / 2, sources=[share]),
        "torn": Judgments([0, 0], [0, 0], rating=[1, 0], source=[0, 1], sources=crowd),
        "first": Judgments(np.arange(5), np.arange(5), sources=[people]),
        "last": Judgments([19], [19], sources=[people]),
    }
    asked = {"first": np.arange(5), "last": np.array([19])}
    for name, labels in judged.items():
        queries = asked.get(name, np.arange(20))
        bench.truths[name] = Truth(name, labels, {"i2t": queries, "t2i": queries})
    save_benchmark(bench, place / "b")
    for run in runs:
        np.save(place / f"{run.name}.npy", run.scores)
    images, captions = bench.images.values, bench.captions.values
    lines = [
        f"{images[i]} Q0 {captions[c]} {rank} {20 - rank} lists\n"
        for i, row in enumerate(runs[0].scores)
        for rank, c in enumerate(np.argsort(-row)[:10], 1)
    ]
    (place / "lists.trec").write_text("".join(lines), encoding="utf-8")
    return place


@pytest.fixture
def files(folder):
    return [folder / "seer.npy", folder / "learner.npy"]


def test_estimates_are_those_of_python(both, folder, files, tmp_path):
    options = ("-b", folder / "b", "--noisy", "original", "--vetted", "part", "--draws", 32)
    out = both("estimate", *files, *options, "-m", "P@5,AP", "--json", tmp_path / "e.json")
    found = karat.estimate(files, folder / "b", ["P@5", "AP"], noisy="original", vetted="part", draws=32)
    assert out.out.rstrip() == str(found).rstrip()
    assert json.loads((tmp_path / "e.json").read_text(encoding="utf-8")) == found.records()
    names = {"run", "direction", "measure", "estimator", "target", "value", "spread", "naive"}
    assert names <= set(found.records()[0])


def test_simulations_are_those_of_python(both, folder, files, tmp_path):
    out = both(
        "simulate", *files, "-b", folder / "b", "--noisy", "original", "--vetted", "complete",
        "--method", "random+naive,meec+mixed", "--times", 2, "--batch", "25%", "--budget", "0.5",
        "--direction", "t2i", "--json", tmp_path / "s.json", "--seed", 3,
    )  # fmt: skip
    done = karat.simulate(
        files, folder / "b", "P@10", noisy="original", vetted="complete", direction="t2i", times=2,
        method="random+naive,meec+mixed", batch=0.25, budget=0.5, seed=3,
    )  # fmt: skip
    assert out.out.rstrip() == str(done).rstrip()
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == done.records()


ESTIMATE = {
    ("--vetted", "empty"): "truth 'empty' has no labels; name another truth, or vet some pairs.",
    ("--vetted", "torn"): "truth 'torn' has contradictory labels of 1 pair, first of image 0 with caption 0",
    ("--vetted", "last", "--noisy", "first"): "all labels of truth 'last' are outside the candidates (i2t);",
    (
        "--vetted",
        "graded",
    ): "truth 'graded' has grades between 0 and 1, and an estimate is of labels that are",
    ("--vetted", "absent"): "world has no truth 'absent'; ",
    (
        "--vetted",
        "part",
        "--ties",
        "pessimistic",
    ): "ties is 'pessimistic', which orders equal scores by their",
    ("--vetted", "part", "-m", "MedR"): "MedR is not a mean of shares over queries; choose P@10,",
    ("--vetted", "part", "-m", "RSUM"): "RSUM is made of several columns; estimate its parts: R@1,R@5,R@10.",
    ("--vetted", "part", "--estimator", "magic"): "unknown estimator 'magic'; known: ",
    ("--vetted", "part", "--target", "both"): "target is 'both'; choose one of",
    ("--vetted", "part", "--depth", "0"): "--depth",
}
SIMULATE = {
    ("--method", "naive"): "'naive' is not a method; write STRATEGY+ESTIMATOR, as in random+naive.",
    ("--method", "magic+naive"): "unknown strategy 'magic'; known: ",
    ("--budget", "0"): "--budget is '0'; give a number of pairs, or a share such as 20% or 0.2.",
    ("--batch", "many"): "--batch is 'many'; give a number of pairs, or a share such as 20% or 0.2.",
    ("--batch", "120%"): "--batch is '120%'; give a number",
    ("--vetted", "empty"): "truth 'empty' has no labels; name another truth, or vet some pairs.",
    ("--vetted", "torn"): "truth 'torn' has contradictory labels of 1 pair",
    ("--ties", "optimistic"): "ties is 'optimistic', which orders equal scores by their labels",
}


@pytest.mark.parametrize("options", ESTIMATE, ids=" ".join)
def test_mistakes_of_estimates(command, folder, files, options):
    error = command("estimate", *files, "-b", folder / "b", "--noisy", "original", *options, code=2)
    assert ESTIMATE[options] in error


@pytest.mark.parametrize("options", SIMULATE, ids=" ".join)
def test_mistakes_of_simulations(command, folder, files, options):
    given = ("-b", folder / "b", "--noisy", "original", "--vetted", "complete", "--method", "random+naive")
    error = command("simulate", *files, *given, "--times", 1, *options, code=2)
    assert SIMULATE[options] in error


def test_a_run_without_scores(command, folder):
    given = (folder / "lists.trec", "-b", folder / "b", "--noisy", "original", "--direction", "i2t")
    error = command("estimate", *given, "--vetted", "part", "--estimator", "learned", code=2)
    assert "lists: ranked lists have no scores, and this estimator learns from scores; give a score" in error
    assert "or mixed" in error or "estimator mixed" in error
    same = command("simulate", *given, "--vetted", "complete", "--method", "random+learned", code=2)
    assert "ranked lists have no scores" in same
    assert "P@10" in command("estimate", *given, "--vetted", "part", "--estimator", "mixed", "-m", "P@10")


def test_one_pair_at_a_time(command, folder, files, tmp_path):
    given = ("--noisy", "original", "--vetted", "complete", "--method", "random+naive", "--times", 1)
    given += ("--budget", 3, "--batch", 1, "--direction", "t2i", "--json", tmp_path / "s.json")
    command("simulate", files[0], "-b", folder / "b", *given)
    records = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert [record["labels"] for record in records] == [1, 2, 3]
