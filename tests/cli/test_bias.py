"""``karat project bias`` as a user meets it."""

import json

import numpy as np
import pytest

from karat.forms import AnswerRows, load_form
from karat.judging import make_pool
from karat.store import create_project, open_project
from karat.world import make_world, simulate_systems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A world in a folder, five runs, and a project in which one careful person judged the whole pool."""
    place = tmp_path_factory.mktemp("bias")
    world = make_world(images=40, captions=2, seed=4)
    world.save(place / "world", pictures=False)
    bench, runs = world.benchmark(), simulate_systems(world)[:5]
    for run in runs:
        np.save(place / f"{run.name}.npy", run.scores)
    pool = make_pool(runs, bench, top=4)
    form = load_form("pair")
    right = world.pair_relevance(pool.image, pool.caption)
    codes = np.where(right, form.code_of(4), form.code_of(1))
    with create_project(place / "p.db", bench, form, source=str(place / "world")) as project:
        project.pools.set(pool)
        project.answers.record(
            AnswerRows(np.full(len(pool), -1), pool.image, pool.caption, ["ann"] * len(pool), codes)
        )
    with create_project(place / "empty.db", bench, form, source=str(place / "world")) as project:
        project.pools.set(pool)
    return place


@pytest.fixture
def files(folder):
    return sorted(folder.glob("*.npy"))


def test_with_runs_and_the_truth(both, folder, files, tmp_path):
    given = ",".join(map(str, files))
    out = both("project", "bias", folder / "p.db", "--run", given, "--complete", "complete",
        "--json", tmp_path / "b.json", "--resamples", 50,
    )  # fmt: skip
    for title in (
        "Kendall's tau of the first 25, text→image",
        "R@1, image→text: bias by the number of models",
        "RP, text→image: scores on the labels of each model",
        "A model that does not contribute to the pool",
        "All labels against complete",
    ):
        assert title in out.out
    assert "█" in out.out
    assert "from 50 resamples of images with their captions" in out.out
    found = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert [(one["direction"], one["measure"]) for one in found["bias"]] == [
        ("i2t", "R@1"), ("i2t", "RP"), ("t2i", "R@1"), ("t2i", "RP"),
    ]  # fmt: skip
    for one in found["bias"]:
        assert [point["size"] for point in one["curve"]] == list(range(6))
        if one["measure"] == "R@1":
            assert all(not subset["self_bias"] for subset in one["subsets"])


def test_the_pool_alone(both, folder):
    out = both(
        "project", "bias", folder / "p.db", "--direction", "t2i", "--original", "none", "--resamples", 50
    )
    assert "R@1, text→image: bias by the number of models" in out.out
    assert "RP" not in out.out
    assert "image→text" not in out.out
    assert "without the runs, places below 4 are not known" in out.err
    error = both("project", "bias", folder / "p.db", "--measure", "RP", code=2).err
    assert "RP needs more places than are known" in error
    assert "--run" in error


def test_mistakes(both, folder, files, tmp_path):
    assert "the project has no answers" in both("project", "bias", folder / "empty.db", code=2).err
    assert (
        "there is no run"
        in both("project", "bias", folder / "p.db", "--run", ",".join(map(str, files[:3])), code=2).err
    )
    assert (
        "'original' is not complete"
        in both("project", "bias", folder / "p.db", "--complete", "original", code=2).err
    )
    up = both("project", "bias", folder / "p.db", "--direction", "up", code=2).err
    assert "unknown direction 'up'" in up
    assert "bias of MedR is not defined" in both("project", "bias", folder / "p.db", "-m", "MedR", code=2).err
    both("project", "bias", tmp_path / "none.db", code=2)
    both("project", "bias", folder / "p.db", "--json", tmp_path / "no" / "b.json", code=2)


def test_nothing_is_changed(both, folder):
    before = (folder / "p.db").read_bytes()
    both("project", "bias", folder / "p.db", "--resamples", 20)
    with open_project(folder / "p.db") as project:
        assert len(project.answers.read()) == len(project.pools.read())
    assert (folder / "p.db").read_bytes() == before
