"""``karat normalise``: writes what the library returns, and says what the step used."""

import numpy as np
import pytest

import karat
from karat.benchmarks import save_benchmark

from made import make_benchmark


@pytest.fixture
def bench(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    bench = make_benchmark(6, 2)
    save_benchmark(bench, "made")
    np.save("sims.npy", rng.random((6, 12)).astype(np.float32))
    np.save("img.npy", rng.normal(size=(6, 4)))
    np.save("txt.npy", rng.normal(size=(12, 4)))
    np.save("train.npy", rng.random((9, 12)))
    return bench


def test_a_table(both, bench):
    captured = both(
        "normalise", "sims.npy", "-b", "made", "--how", "dual-softmax", "--how-set", "temperature=0.1",
        "-o", "out.npy",
    )  # fmt: skip
    assert captured.out.startswith("wrote out.npy")
    assert "dual-softmax(temperature=0.1), which uses the whole test set" in captured.err
    expected = karat.normalise("sims.npy", how="dual-softmax", temperature=0.1)
    assert (np.load("out.npy") == expected.scores).all()


def test_embeddings_become_a_table(command, bench):
    command("normalise", "img.npy", "txt.npy", "-b", "made", "--how", "csls", "-o", "out.npy")
    assert np.load("out.npy").shape == (6, 12)


def test_a_bank_gives_lists(both, bench):
    captured = both(
        "normalise", "sims.npy", "-b", "made", "--how", "querybank", "--bank", "train.npy", "--top", 3,
        "-o", "out.json",
    )  # fmt: skip
    assert "bank=train.npy, direction=i2t), with queries from elsewhere" in captured.err
    expected = karat.normalise("sims.npy", how="querybank", bank="train.npy", benchmark=bench, top=3)
    written = karat.load_run("out.json", benchmark=bench)
    assert (written.lists["i2t"].item == expected.lists["i2t"].item).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--how", "querybank", "-o", "out.json"], "querybank needs a bank"),
        (["--how", "csl", "-o", "out.npy"], "csls"),
        (["--how", "csls", "-o", "out.xyz"], "has the extension '.xyz'"),
        (["--how", "querybank", "--bank", "train.npy", "-o", "out.npy"], "ranked lists"),
    ],
)
def test_what_is_wrong(command, bench, arguments, message):
    assert message in command("normalise", "sims.npy", "-b", "made", *arguments, code=2)
