"""What work is done with: one device for models and for the pass, and no change of any result."""

import numpy as np
import pytest

import karat
from karat.runs import DEVICES, Compute, Loading, MatrixRun, load_runs
from karat.world import make_world

WORLD = make_world(30, captions=2, seed=5)


def encoded(device):
    run = MatrixRun(np.eye(2))
    run.device = device
    return run


@pytest.mark.parametrize(
    ("named", "encoded_on", "expected"),
    [
        (None, None, "cpu"),
        (None, "cpu", "cpu"),
        # A model on a GPU is scored there, too.
        (None, "cuda", "cuda"),
        ("auto", "cuda", "cuda"),
        ("auto", None, "cpu"),
        ("cpu", "cuda", "cpu"),
        ("cuda", None, "cuda"),
    ],
)
def test_one_device(named, encoded_on, expected):
    runs = [encoded(None), encoded(encoded_on)]
    assert Compute(device=named).passing(runs).device == expected


def test_the_pass_uses_the_named_device(monkeypatch):
    used = []

    class Watched:
        def __getattr__(self, name):
            return getattr(DEVICES["cpu"], name)

        def add(self, *arguments):
            used.append("watched")
            return DEVICES["cpu"].add(*arguments)

    monkeypatch.setattr("karat.runs.one_pass.DEVICES", {"watched": Watched(), "cpu": DEVICES["cpu"]})
    scores = np.random.default_rng(0).random((30, 60))
    card = karat.evaluate(scores, WORLD.benchmark(), "R@1", compute=Compute(device="watched"))
    assert used
    assert card.records() == karat.evaluate(scores, WORLD.benchmark(), "R@1").records()


def test_names_of_models_get_the_device(monkeypatch):
    asked = []

    def load(name, device=None, **how):
        asked.append((name, device))
        return lambda texts: [[float(len(text)), 1.0] for text in texts]

    monkeypatch.setattr("karat.models.encoding.load_model", lambda model, **how: load(model, **how))
    monkeypatch.setattr("karat.runs.files.is_model", lambda source: source == "hf:somewhere")
    with pytest.raises(AttributeError):
        # The stand-in is not an encoder; what counts is what it was asked for.
        load_runs("hf:somewhere", WORLD.benchmark(), compute=Compute(device="cpu"))
    assert asked[0] == ("hf:somewhere", "cpu")


def test_records_of_loading():
    bench = WORLD.benchmark()
    scores = np.random.default_rng(0).random((60, 30))
    run = load_runs(scores, bench, Loading(name="turned", transpose=True))[0]
    assert run.name == "turned"
    assert run.pairs("i2t", np.array([2]), np.array([7])) == scores[7, 2]
    with pytest.raises(TypeError, match="threads"):
        karat.evaluate(scores.T, bench, "R@1", threads=1)
