"""No command reads the scores of a run twice; an interrupted one says how to go on."""

import os

import numpy as np
import pytest

from karat.benchmarks import save_benchmark
from karat.runs import MatrixRun
from karat.runs.devices import cpu
from karat.world import make_world, simulate, simulate_systems


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A saved world with two score tables, and how many scores were read from each, part by part."""
    monkeypatch.chdir(tmp_path)
    world = make_world(images=60, captions=3, seed=3)
    save_benchmark(world.benchmark(), "my")
    for run in simulate_systems(world)[:2]:
        np.save(f"{run.name}.npy", run.scores)
    read: dict[str, list[int]] = {}
    tile_scores, query_scores = MatrixRun.tile_scores, MatrixRun.query_scores

    def tile(run, tile, before):
        read.setdefault(run.name, []).append(int(np.prod(tile.shape)))
        return tile_scores(run, tile, before)

    def queries(run, direction, some):
        scores = query_scores(run, direction, some)
        read.setdefault(run.name, []).append(scores.size)
        return scores

    monkeypatch.setattr(MatrixRun, "tile_scores", tile)
    monkeypatch.setattr(MatrixRun, "query_scores", queries)
    return read


@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate seer.npy learner.npy -b my",
        "evaluate seer.npy learner.npy -b my -m NCS(bleu-1)@5,R@1,SR(bleu-1,m=2)@3",
        "evaluate seer.npy -b my -o page.html",
        "report seer.npy learner.npy -b my -o page.html --resamples 199",
        "compare seer.npy learner.npy -b my --resamples 199",
        "project pool seer.npy learner.npy -b my --gold-depth 5 --dry-run",
    ],
)
def test_scores_are_read_once(arguments, command, cells):
    command(*arguments.split())
    assert cells, "nothing was counted"
    for name, sizes in cells.items():
        if name in ("seer", "learner"):
            assert sum(sizes) <= 60 * 180, name


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (words, number)
        for words in (
            "evaluate {} -b my --intervals --resamples 50",
            "compare {} -b my --resamples 199",
            "report {} -b my -o page.html --resamples 199",
            "project pool {} -b my --gold-depth 5 --dry-run",
        )
        for number in (1, 2, 5)
        if number > 1 or not words.startswith("compare")
    ],
)
def test_each_of_several_runs_is_read_once(words, number, command, cells):
    world = make_world(images=60, captions=3, seed=3)
    names = [f"run{k}" for k in range(number)]
    for k, name in enumerate(names):
        scores = simulate(world, 4 + k, seed=k).scores
        # Without ties: equal scores are looked up again, query by query.
        np.save(f"{name}.npy", scores + 1e-6 * np.random.default_rng(k).random(scores.shape))
    command(*words.format(" ".join(f"{name}.npy" for name in names)).split())
    assert {name: sum(cells[name]) for name in names} == dict.fromkeys(names, 60 * 180)


@pytest.mark.usefixtures("cells")
def test_an_interrupted_command_goes_on(both, monkeypatch):
    monkeypatch.setenv("KARAT_CHECKPOINT", "kept")
    arguments = ("evaluate", "seer.npy", "-b", "my", "-m", "R@1")
    whole = both(*arguments).out
    monkeypatch.setattr(cpu.Processor, "step", (10, 50))
    add, computed = cpu.Processor.add, []

    def interrupt(self, scores, partial, threads):
        computed.append(scores.tile)
        if len(computed) == 7:
            os.kill(os.getpid(), 2)
        add(self, scores, partial, threads)

    monkeypatch.setattr(cpu.Processor, "add", interrupt)
    said = both(*arguments, code=130)
    assert said.err == "karat: stopped with 7 of 24 tiles done; the same command goes on from there\n"
    assert both(*arguments).out == whole
    assert len(computed) == len(set(computed)) == 24
