"""``karat fuse``: one ranking out of several runs, or a sentence that says why not."""

import json

import numpy as np
import pytest

import karat
from karat.baselines import fuse
from karat.benchmarks import save_benchmark
from searches import make_search

from made import make_benchmark


@pytest.fixture
def bench(tmp_path, monkeypatch, rng):
    """A saved benchmark, two score tables, two embedding tables and ranked lists."""
    monkeypatch.chdir(tmp_path)
    bench = make_benchmark(6, 2)
    save_benchmark(bench, "made")
    for name in ("a", "b"):
        np.save(f"{name}.npy", rng.random((6, 12)))
    np.save("img.npy", rng.normal(size=(6, 4)))
    np.save("txt.npy", rng.normal(size=(12, 4)))
    lists = {"i2t": {str(q): [1003, 1001] for q in range(6)}}
    (tmp_path / "lists.json").write_text(json.dumps(lists))
    return bench


def by_hand(bench, *names, method="borda", **options):
    runs = [karat.load_run(*name) if isinstance(name, tuple) else karat.load_run(name) for name in names]
    return {
        direction: {str(query): listed.tolist() for query, listed in found.items()}
        for direction, found in fuse(runs, bench, method, **options).raw.items()
    }


def written(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def test_two_tables_by_borda_counts(command, bench):
    out = command("fuse", "a.npy", "b.npy", "-b", "made", "-o", "fused.json")
    assert out == "wrote fused.json\n"
    assert written("fused.json") == by_hand(bench, "a.npy", "b.npy")
    # What was written is a run again.
    assert "fused" in command("evaluate", "fused.json", "a.npy", "-b", "made", "-m", "R@1")


def test_options_reach_the_library(command, bench):
    options = ["--method", "rrf", "--method-set", "k=5", "--weight", "2,1", "--top", 3, "--direction", "t2i"]
    command("fuse", "a.npy", "img.npy", "txt.npy", "-b", "made", *options, "-o", "fused.json")
    assert written("fused.json") == by_hand(
        bench, "a.npy", ("img.npy", "txt.npy"), method="rrf", k=5, weight=[2, 1], top=3, direction=["t2i"]
    )
    command("fuse", "a.npy", "b.npy", "-b", "made", "--method", "zscore", "-o", "fused.json")
    assert written("fused.json") == by_hand(bench, "a.npy", "b.npy", method="zscore")


def test_lists_and_other_formats(command, bench):
    command("fuse", "a.npy", "lists.json", "-b", "made", "-o", "fused.csv")
    again = karat.load_run("fused.csv", benchmark=bench)
    assert again.directions == ("i2t",)
    wanted = by_hand(bench, "a.npy", "lists.json")["i2t"]
    assert [list(row) for row in again.raw["i2t"].values()] == list(wanted.values())


def test_two_trec_runs_on_qrels(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search = make_search(tmp_path, "q2d")
    command("fuse", "one.run", "two.run", "-b", "qrels.txt", "-o", "fused.run", "--method", "rrf")
    lists = fuse(search.files, search.benchmark, "rrf").raw["q2d"]
    lines = [line.split() for line in (tmp_path / "fused.run").read_text().splitlines()]
    assert [[line[0], line[2]] for line in lines] == [[q, d] for q, own in lists.items() for d in own]
    command("fuse", "one.run", "two.run", "-b", "qrels.txt", "-o", "again.run", "--direction", "q2d")
    out = command("evaluate", "one.run", "two.run", "fused.run", "-b", "qrels.txt", "-m", "AP")
    assert "query→document" in out
    *_, error = command(
        "fuse", "one.run", "two.run", "-b", "qrels.txt", "-o", "f.run", "--direction", "t2v", code=2
    ).splitlines()
    assert error == "karat: unknown direction 't2v'; known: q2d, d2q."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.npy", "-o", "f.json"], "only the run 'a' to fuse; give two or more"),
        (["a.npy", "b.npy", "-o", "f.npy"], "f.npy: takes no ranked lists"),
        (["a.npy", "b.npy", "-o", "f.xls"], "has the extension '.xls'"),
        (["a.npy", "b.npy", "-o", "no/f.json"], "there is no folder no"),
        (["a.npy", "b.npy", "-o", "f.json", "--method", "bora"], "did you mean borda?"),
        (["a.npy", "b.npy", "-o", "f.json", "--method-set", "k=3"], "borda has no parameter 'k'"),
        (["a.npy", "b.npy", "-o", "f.json", "--weight", "1"], "1 weight for 2 runs"),
        (["a.npy", "b.npy", "-o", "f.json", "--weight", "1,x"], "--weight is '1,x'"),
        (["a.npy", "b.npy", "-o", "f.json", "--direction", "both"], "unknown direction 'both'"),
        (["a.npy", "lists.json", "-o", "f.json", "--method", "mean"], "ranked lists have no scores"),
        (["a.npy", "b.npy", "-o", "f.trec"], "f.trec"),
        (["a.npy", "c.npy", "-o", "f.json"], "there is no such file"),
        (["a.npy", "b.npy"], "output"),
    ],
)
def test_mistakes_are_one_line(command, bench, arguments, message):
    error = command("fuse", *arguments, "-b", "made", code=2)
    assert message in error
    assert error.count("\n") == 1
