"""The classifiers of NUS-WIDE's tags: on made labels all of them, on the real ones a quick one."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import karat

FOLDER = Path(__file__).parents[2] / "replications"


@pytest.fixture
def systems(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("_nuswide_systems")
    sys.modules.pop("_nuswide_systems", None)


@pytest.fixture
def made(tmp_path, monkeypatch, rng):
    """The folder of an archive with nine dependent concepts, six of them search words."""
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "nuswide").mkdir()
    concepts = np.array([f"concept{k}" for k in range(9)])
    train, test = (rng.random((n, 3))[:, np.arange(9) // 3] > rng.random((n, 9)) for n in (6000, 900))
    np.savez(
        tmp_path / "nuswide" / "nuswide_gt81.npz",
        concepts=concepts,
        train_ids=np.arange(6000),
        test_ids=np.arange(900),
        train_packed=np.packbits(train, axis=1),
        test_packed=np.packbits(test, axis=1),
        test_folder=concepts[rng.integers(0, 6, 900)],
    )
    return tmp_path, train, test


def test_vectors_with_weights_are_the_same_as_images(systems, made):
    from sklearn.linear_model import LogisticRegression

    folder, train, test = made
    [(name, scores)] = systems.nuswide_runs(folder, ["logistic"])
    assert (name, scores.shape, scores.dtype, scores.flags.f_contiguous) == ("logistic", (900, 6), "f4", True)
    others = [0, 1, 3, 4, 5, 6, 7, 8]
    plain = LogisticRegression(C=1, tol=1e-10, max_iter=10_000).fit(train[:, others], train[:, 2])
    np.testing.assert_allclose(scores[:, 2], plain.decision_function(test[:, others]), atol=1e-4)
    assert len(np.unique(scores[:, 2])) <= len(np.unique(test[:, others], axis=0))
    [(_, again)] = systems.nuswide_runs(folder, ["logistic"])
    np.testing.assert_array_equal(again, scores)


def test_all_systems_on_made_labels(systems, made):
    folder, _, test = made
    bench = systems.load_nuswide(folder)
    for run in systems.matrix_runs(folder):
        value = karat.evaluate(run, bench, "P@48", ties="stable", direction="t2i").value(
            "P@48", truth="gt", direction="t2i"
        )
        first = np.argsort(-run.query_scores("t2i", np.arange(6)), axis=1, kind="stable")[:, :48]
        assert value == pytest.approx(np.mean([test[row, tag] for tag, row in enumerate(first)]), abs=1e-12)
        # By chance half of the images have the tag.
        assert value > 0.6


def test_a_quick_system_on_the_real_labels(systems, data):
    bench = systems.load_nuswide(data)
    [run] = systems.matrix_runs(data, ["logistic-0.2"])
    gt, words = systems.first_lists(run, bench)
    assert gt.shape == words.shape == (71, 48)
    assert gt.mean() == pytest.approx(0.2688, abs=0.005)
    assert words.mean() == pytest.approx(0.0144, abs=0.002)
