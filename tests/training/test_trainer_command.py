"""`karat train`, then `encode` and `evaluate`, on tiny worlds."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from karat._util import reporting

pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

import karat
from karat.baselines.images import ImageFeatures
from karat.errors import KaratError
from karat.models import load_model
from karat.training import NetworkOptions, TrainedModel, TrainingOptions
from karat.world import make_world, save_world
from told import Told

SIZE = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "world"
    save_world(make_world(SIZE, captions=3, seed=4), folder)
    return folder


def call(*arguments):
    words = [sys.executable, "-m", "karat", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


def test_train_encode_evaluate(world, tmp_path):
    options = (
        "--image-input",
        "pixels",
        "--epochs",
        2,
        "--dimensions",
        16,
        "--batch-size",
        16,
        "--loss-set",
        "tau=3",
    )
    options = (*options, "--device", "cpu")
    done = call("train", world, "-o", tmp_path / "model", *options)
    assert done.returncode == 0, done.stderr
    assert "epoch 2 of 2: loss" in done.stdout + done.stderr
    assert "left out of training" in done.stdout + done.stderr
    assert not list((tmp_path / "model").glob("checkpoint*"))
    again = call("train", world, "-o", tmp_path / "again", *options)
    assert again.returncode == 0
    names = ("weights.safetensors", "model.json")
    assert all((tmp_path / "model" / k).read_bytes() == (tmp_path / "again" / k).read_bytes() for k in names)
    done = call("encode", tmp_path / "model", "-b", world, "-o", tmp_path / "run.npz")
    assert done.returncode == 0, done.stderr
    card = karat.evaluate(tmp_path / "run.npz", world)
    assert 0 <= card.value("R@10", truth="original") <= 1


def test_counts_of_visual_words_come_back_from_disk(world, tmp_path, monkeypatch):
    small = {"side": 64, "points": 16, "colour_words": 8, "texture_words": 8, "sift_words": 8, "cache": False}
    monkeypatch.setattr("karat.training.training.ImageFeatures", partial(ImageFeatures, **small))
    options = TrainingOptions(epochs=3, batch_size=16)
    model = karat.train(world, loss="infonce", network=NetworkOptions(dimensions=16), options=options)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    bench = karat.load_benchmark(world)
    pictures, texts = bench.image_paths[:3], [*bench.texts[:3], "", "zorb"]
    # Products of two threads are not always added up in the same order.
    np.testing.assert_allclose(again.encode_images(pictures), model.encode_images(pictures), atol=1e-6)
    vectors = again.encode_texts(texts)
    np.testing.assert_allclose(vectors, model.encode_texts(texts), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0, 0], atol=1e-6)
    assert again.unknown_words("a zorb") == ["zorb"]
    assert model.history == TrainedModel.load(tmp_path / "model").history


def test_features_of_a_file_and_a_dev_benchmark(world, tmp_path):
    features = np.random.default_rng(0).normal(size=(SIZE, 6)).astype(np.float32)
    np.save(tmp_path / "features.npy", features)
    common = ("--epochs", 1, "--dimensions", 8, "--loss", "triplet", "--features", tmp_path / "features.npy")
    done = call("train", world, "-o", tmp_path / "model", *common, "--dev", world, "--dev-features",
                tmp_path / "features.npy")  # fmt: skip
    assert done.returncode == 0, done.stderr
    model = TrainedModel.load(tmp_path / "model")
    assert model.encode_features(features).shape == (SIZE, 8)
    with pytest.raises(KaratError, match="cannot make from pictures"):
        model.encode_images(["1.jpg"])
    with pytest.raises(KaratError, match=r"give one row of the shape \(6,\) per image"):
        model.encode_features(features[:, :5])


def test_what_is_wrong_is_a_sentence(world, tmp_path):
    short = tmp_path / "short.npy"
    np.save(short, np.ones((3, 6)))
    with pytest.raises(KaratError, match="the file has 3 rows; give one row for each of 40 images"):
        karat.train(world, features=short)
    with pytest.raises(KaratError, match="the loss infonce has no option 'tau'; known: temperature"):
        karat.train(world, loss="infonce", loss_set={"tau": 3})
    with pytest.raises(KaratError, match="no such file"):
        karat.train(world, features=tmp_path / "none.npy")
    with pytest.raises(KaratError, match="features were given without dev_features"):
        karat.train(world, features=short, dev=world)
    with pytest.raises(KaratError, match="dev_features were given without features"):
        karat.train(world, dev_features=short)
    with pytest.raises(KaratError, match="dev_features were given without dev; name"):
        karat.train(world, features=short, dev_features=short)
    with pytest.raises(KaratError, match="lr is 0; give a number above 0"):
        TrainingOptions(lr=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "abacus"}, "there is no device 'abacus'; give cpu, or cuda"),
        ({"loss_set": {"sampling": "hard"}}, "unknown sampler 'hard'; known: nearest, furthest, random"),
        ({"loss_set": {"tau": 0}}, "tau is 0; give a number above 0"),
        ({"loss_set": {"own": "maybe"}}, "own is 'maybe'; choose one of in, out"),
    ],
)
def test_options_are_checked_before_pictures_are_read(world, wrong, message):
    told = Told()
    device = wrong.pop("device", None)
    with pytest.raises(KaratError, match=message), reporting(told):
        karat.train(world, compute=karat.Compute(device=device), **wrong)
    assert not told.heard
    assert not told.said


def test_losses_of_trainings_are_means_over_pairs(world):
    """A loss of eq. 6 is at most 2 (2 + α) for a pair, whatever the size of the batch."""
    features = np.random.default_rng(0).normal(size=(SIZE, 6)).astype(np.float32)
    model = karat.train(world, features=features, loss="triplet", options=TrainingOptions(epochs=1))
    assert 0 < model.history[0]["loss"] < 4.4


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("weights.safetensors", lambda content: content[:-9]),
        ("model.json", lambda content: content[:90]),
        ("model.json", lambda content: content.replace(b'"version": 1', b'"version": 7')),
        ("model.json", lambda content: content.replace(b'"dimensions": 8', b'"dimensions": 9')),
        # A network of terabytes.
        ("model.json", lambda content: content.replace(b'"dimensions": 8', b'"dimensions": 99999999999')),
    ],
)
def test_a_damaged_folder_is_a_sentence(world, tmp_path, file, change):
    features = np.random.default_rng(0).normal(size=(SIZE, 6)).astype(np.float32)
    options = TrainingOptions(epochs=1)
    network = NetworkOptions(dimensions=8)
    karat.train(world, features=features, loss="triplet", network=network, options=options).save(tmp_path)
    content = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(change(content))
    assert change(content) != content
    with pytest.raises(KaratError, match=r"(weights\.safetensors|model\.json): .*karat"):
        load_model(tmp_path)
