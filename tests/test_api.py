"""The top level: what a notebook needs is there, as in its package, and costs nothing to import."""

import importlib
import inspect
import subprocess
import sys

import pytest

import karat

from house import MODULES, doors_of

NEW = ("convert", "fit", "fuse", "inspect", "estimate", "explain", "search", "train", "write_report")


def test_what_a_notebook_needs_is_at_the_top_level():
    assert {*NEW} < {*karat.__all__}
    for name, (package, original) in doors_of("karat").items():
        assert getattr(karat, name) is getattr(importlib.import_module(package), original)


MEANT = {
    "publish": "karat.project.publish",
    "pool": "karat.project.pool or karat.detections.pool",
    "tasks": "karat.project.tasks",
    "backup": "karat.project.backup",
    "calibrate": "karat.project.calibrate",
    "evalute": "karat.evaluate",
    "eval": "karat.evaluate",
    "score": "karat.evaluate",
    "metrics": "karat.measures",
    "Benchmarks": "karat.benchmarks",
    "load": "karat.load_run",
    "load_runs": "karat.runs.load_runs",
    "loadbenchmark": "karat.load_benchmark",
    "correlate": "karat.board.correlate",
    "leaderboard": "karat.board",
    "parse": "karat.captions.parse",
    "significance": "karat.compare",
    "normalize": "karat.normalise",
    "tokenise": "karat.captions.tokenise",
    "Scorecrad": "karat.Scorecard",
    "estimate_scores": "karat.estimate",
    "embed": "karat.encode",
    "load_dataset": "karat.load_benchmark",
    "nDCG": "karat.measures",
    "spice": "",
    "zzz": "",
    "q": "",
}
"""Names that people guess or mistype, and what they are told."""
EXCEPT = {"find_duplicates", "parse_measure", "save_benchmark", "write_report", "InputError", "KaratError"}
"""Names that the docstring of karat leaves to the reference."""


@pytest.mark.parametrize("name", MEANT)
def test_a_wrong_name_is_told_what_it_may_be(name):
    with pytest.raises(AttributeError, match=rf"^module 'karat' has no attribute '{name}'") as error:
        getattr(karat, name)
    said = str(error.value)
    assert f"; did you mean {MEANT[name]}" in said if MEANT[name] else "mean" not in said
    assert not hasattr(karat, name)


GUESSED = (
    "estimate", "explain", "search", "train", "plan", "simulate", "perturb", "robustness", "rules", "fit",
    "fuse", "encode", "inspect", "convert", "agree", "serve", "settings", "progress", "open_project",
)  # fmt: skip


@pytest.mark.parametrize("name", GUESSED)
def test_names_that_people_guess_are_there(name):
    assert callable(getattr(karat, name))
    assert name in dir(karat)


def test_a_wrong_name_in_a_package_is_told_its_neighbours():
    with pytest.raises(AttributeError, match=r"did you mean load_benchmark or"):
        _ = karat.benchmarks.load_benchmrk


def test_help_groups_what_one_can_do():
    for name in karat.__all__:
        if not name.startswith("_") and name not in EXCEPT:
            assert name in karat.__doc__, name


def test_no_module_takes_the_place_of_a_name():
    # Commands are called as functions are; importing them must not hide these.
    for name in ("fit", "fuse", "inspect"):
        importlib.import_module(f"karat.cli.{name}")
        assert callable(getattr(karat, name))
        assert f"karat.{name}" not in MODULES
    # Nor is Python's own module of that name touched.
    assert inspect.signature(karat.inspect).parameters["benchmark"].default is None


def test_the_top_level_loads_neither_plotly_nor_pandas():
    code = (
        "import sys, numpy as np, karat\n"
        "from karat.world import make_world\n"
        "world = make_world(images=4, captions=2, seed=1)\n"
        "card = karat.evaluate(np.ones((4, 8)), world.benchmark(), 'R@1')\n"
        "card._repr_html_(), karat.inspect, karat.fuse, karat.write_report\n"
        "print(*({'plotly', 'pandas', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_inspect_takes_a_run_and_a_benchmark_as_evaluate_does(tmp_path):
    from karat.world import make_world, simulate_systems

    world = make_world(images=12, captions=2, seed=2)
    bench, run = world.benchmark(), simulate_systems(world)[0]
    karat.save_benchmark(bench, tmp_path / "world")
    expected = karat.inspect(run.scores, benchmark=bench).records()
    assert expected == karat.inspect(run, bench).records()
    assert len(expected) == len(karat.inspect(run, benchmark=tmp_path / "world").records())
    with pytest.raises(karat.KaratError, match="no benchmark was given"):
        karat.inspect(run)


def test_fuse_takes_runs_and_a_benchmark_as_evaluate_does(tmp_path):
    from karat.world import make_world, simulate_systems

    world = make_world(images=12, captions=2, seed=2)
    bench, runs = world.benchmark(), simulate_systems(world)[:2]
    karat.save_benchmark(bench, tmp_path / "world")
    lists = karat.fuse(runs, bench).raw["i2t"]
    expected = {str(query): listed.tolist() for query, listed in lists.items()}
    for given in ({"a": runs[0], "b": runs[1].scores}, [run.scores for run in runs], tuple(runs)):
        fused = karat.fuse(given, tmp_path / "world").raw["i2t"]
        assert {str(query): listed.tolist() for query, listed in fused.items()} == expected
    with pytest.raises(karat.KaratError, match="not aligned with a benchmark"):
        karat.fuse([runs[0].scores])


def test_fit_takes_a_benchmark_as_evaluate_does(tmp_path, monkeypatch):
    from karat.baselines import ImageTextModel
    from karat.world import make_world

    make_world(images=4, captions=2, seed=2).save(tmp_path / "world")
    asked = []
    monkeypatch.setattr(ImageTextModel, "fit", lambda self, *items: asked.append(items) or self)
    model = karat.fit(tmp_path / "world", text="TRI5", n=7)
    assert (model.text, model.n, model.kappa) == ("TRI5", 7, 0.1)
    ((pictures, captions),) = asked
    assert len(pictures) == len(captions) == 4
    assert all(len(own) == 2 for own in captions)
    with pytest.raises(karat.KaratError, match="does not say where its pictures are"):
        karat.fit("coco")
