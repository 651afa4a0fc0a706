"""Folders in karat's own formats from anywhere: parts that do not fit each other are one sentence."""

import json
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.errors import KaratError
from tiny_models import edit_json, save_pictures

FITTED = Path(__file__).parents[1] / "baselines" / "model-0.4.0"


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    return save_pictures(tmp_path_factory.mktemp("pictures"), 1)[0]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def trained(tmp_path):
    pytest.importorskip("torch")
    from karat.training import NetworkOptions, TrainedModel
    from karat.training.network import DualEncoder
    from karat.training.vocabulary import CaptionVocabulary

    vocabulary = CaptionVocabulary(["a", "dog"], 12)
    network = DualEncoder((3, 32, 32), len(vocabulary), NetworkOptions(dimensions=8, word_dimensions=6))
    TrainedModel(network.eval(), vocabulary, "pixels").save(tmp_path / "trained")
    return tmp_path / "trained"


def encode(folder, picture):
    model = karat.load_model(str(folder))
    model.encode_texts(["a dog"])
    model.encode_images([picture])


def refused(folder, picture):
    with pytest.raises(KaratError) as caught:
        encode(folder, picture)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": ["a", 3]}, "is not a description of a trained model"),
        ({"words": ["a", "\ud800"]}, "cannot be loaded ("),
        ({"length": 10**9}, "has the length 1,000,000,000; the most is 4,096"),
        ({"network": {"shape": [3, 10**5, 10**5]}}, "has the side 100,000; the most is 1,024"),
        ({"network": {"shape": [3, 0, 0]}}, "side is 0; give 1 or more pixels"),
    ],
)
def test_a_trained_model(trained, picture, changes, message):
    whole = json.loads((trained / "model.json").read_text())
    if "network" in changes:
        changes = {"network": {**whole["network"], **changes["network"]}}
    edit_json(trained / "model.json", **changes)
    assert message in refused(trained, picture)


def test_a_description_of_gigabytes_is_not_read(trained, picture):
    (trained / "model.json").write_bytes(bytes(1 << 27))
    assert "model.json: has 134,217,728 bytes" in refused(trained, picture)


@pytest.fixture
def fitted(tmp_path):
    for package in ("cv2", "sklearn", "PIL"):
        pytest.importorskip(package)
    return shutil.copytree(FITTED, tmp_path / "fitted")


def test_a_fitted_model_whose_arrays_do_not_fit(fitted, picture):
    with np.load(fitted / "model.npz") as stored:
        arrays = dict(stored)
    for name, change in (
        ("kcca_image_weights_", lambda table: table[:1]),
        ("kcca_caption_mean_", lambda table: table.astype("U3")),
    ):
        np.savez(fitted / "model.npz", **{**arrays, name: change(arrays[name])})
        assert "cannot be computed with (" in refused(fitted, picture)


def test_a_fitted_model_that_promises_arrays(fitted, picture):
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 1000000), }".ljust(117) + b"\n"
    with zipfile.ZipFile(fitted / "model.npz", "a") as packed:
        packed.writestr("more.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    assert "model.npz: does not contain the arrays of a model" in refused(fitted, picture)
