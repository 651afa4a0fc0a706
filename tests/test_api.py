"""The top level: what a notebook needs is there, as in its package, and costs nothing to import."""

import importlib
import inspect
import subprocess
import sys

import pytest

import karat

from house import MODULES, exports_of

NEW = ("convert", "fit", "fuse", "inspect", "list_benchmarks", "list_measures", "write_report")


def test_what_a_notebook_needs_is_at_the_top_level():
    assert {*NEW} < {*karat.__all__}
    for name, package in exports_of("karat").items():
        assert getattr(karat, name) is getattr(importlib.import_module(package), name)


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
    from karat.models import ImageTextModel
    from karat.world import make_world

    make_world(images=4, captions=2, seed=2).save(tmp_path / "world")
    asked = []
    monkeypatch.setattr(ImageTextModel, "fit", lambda self, *items, says: asked.append(items) or self)
    model = karat.fit(tmp_path / "world", text="TRI5", n=7)
    assert (model.text, model.n, model.kappa) == ("TRI5", 7, 0.1)
    ((pictures, captions),) = asked
    assert len(pictures) == len(captions) == 4
    assert all(len(own) == 2 for own in captions)
    with pytest.raises(karat.KaratError, match="does not say where its pictures are"):
        karat.fit("coco")
