"""``karat explain`` as a user meets it."""

import json

import numpy as np
import pytest

import karat
from karat.explanations import ConceptComparison, find_slices
from karat.world import make_world, simulate_systems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("explain")
    world = make_world(images=20, captions=2, seed=1)
    world.save(place / "world", pictures=False)
    for run in simulate_systems(world)[:2]:
        np.save(place / f"{run.name}.npy", run.scores)
    return place


def test_it_prints_and_writes_what_python_computes(both, folder, tmp_path):
    files = [folder / "seer.npy", folder / "learner.npy"]
    options = ("--direction", "t2i", "--rank", "1,2")
    written = ("--json", tmp_path / "e.json", "-o", tmp_path / "e.csv", "--local", tmp_path / "all.json")
    out = both("explain", *files, "-b", folder / "world", *options, "--query-informed", *written)
    expected = karat.explain(
        files, folder / "world", direction="t2i", rank=[1, 2],
        comparison=ConceptComparison(query_informed=True),
    )  # fmt: skip
    assert out.out.rstrip() == str(expected).rstrip()
    assert json.loads((tmp_path / "e.json").read_text(encoding="utf-8")) == expected.records()
    local = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert local == expected.local.records()
    assert len((tmp_path / "e.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(expected.records())


def test_concepts_from_captions_and_a_page(command, folder, tmp_path):
    text = command(
        "explain",
        folder / "seer.npy",
        "-b",
        folder / "world",
        "--concepts",
        "captions",
        "-o",
        tmp_path / "e.html",
    )
    assert "concepts from captions" in text
    assert "Most frequent confusions" in (tmp_path / "e.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rank", "0"), "rank is 0; give whole numbers from 1."),
        (("--rank", "1.5"), "--rank is 1.5; give whole numbers from 1."),
        (("--rank", "first"), "--rank is 'first'; give numbers"),
        (("--ties", "expected"), "ties is 'expected'"),
        (("--concepts", "boxes"), "concepts is 'boxes'"),
        (("--concepts", "gone.json"), "gone.json: there is no such file"),
        (("--synset-map", "gone.json"), "gone.json: there is no such file"),
        (("--truth", "nope"), "has no truth 'nope'"),
        (("-o", "x.png"), "x.png"),
        (("--local", "x.png"), "x.png"),
    ],
)
def test_wrong_options_are_one_sentence(command, folder, options, words):
    assert words in command("explain", folder / "seer.npy", "-b", folder / "world", *options, code=2)


def test_slices_of_each_run_and_of_the_first_against_others(both, tmp_path):
    world = make_world(images=250, captions=4, seed=2)
    world.save(tmp_path / "world", pictures=False)
    files = []
    for run in simulate_systems(world):
        if run.name in ("colour-blind", "seer"):
            files.append(tmp_path / f"{run.name}.npy")
            np.save(files[-1], run.scores)
    out = both("explain", *sorted(files), "-b", tmp_path / "world", "--direction", "t2i", "--slices")
    found = karat.explain(sorted(files), tmp_path / "world", direction="t2i", slices=True)
    assert out.out.rstrip() == str(found).rstrip()
    pairs = [(report.run, report.against) for report in found.slice_reports]
    blind, seer = "colour-blind", "seer"
    assert pairs == [(blind, None), (seer, None), (blind, seer), (seer, blind)]
    assert found.slice_reports[2].slices[0].name == "colour: any"
    assert "Where colour-blind is weaker than seer" in out.out
    inside = found.slices["t2i"]["colour: any"]
    direct = find_slices(sorted(files)[0], world.benchmark(), against=sorted(files)[1])
    assert np.array_equal(inside[direct.table.queries], direct.table["colour: any"])
