"""Saved vocabularies come back, damaged ones do not."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from karat.systems.images import ImageFeatures
from karat.validation import InputError, MissingDataError


def test_saved_features_come_back(fitted, scenes, tmp_path):
    fitted.save(tmp_path / "a" / "b")
    back = ImageFeatures.load(tmp_path / "a" / "b")
    assert back.get_params() == fitted.get_params()
    np.testing.assert_array_equal(back.transform(scenes), fitted.transform(scenes))
    with pytest.raises(InputError, match="not fitted"):
        ImageFeatures().save(tmp_path)


def test_damaged_saves_are_refused(fitted, tmp_path):
    with pytest.raises(MissingDataError, match=r"image-features\.json"):
        ImageFeatures.load(tmp_path)
    fitted.save(tmp_path)
    head, table = tmp_path / "image-features.json", tmp_path / "image-features.safetensors"
    good, tables = head.read_text(), load_file(table)
    for change in ({"points": 10**9}, {"side": "x"}, {"levels": None}):
        read = json.loads(good)
        read["parameters"].update(change)
        head.write_text(json.dumps(read))
        with pytest.raises(InputError):
            ImageFeatures.load(tmp_path)
    for text in ("", "[]", good.replace("karat-image", "other")):
        head.write_text(text)
        with pytest.raises(InputError, match=r"image-features\.json"):
            ImageFeatures.load(tmp_path)
    head.write_text(good)
    for name, bad in (
        ("colour", np.zeros((6, 4), np.float32)), ("texture", np.full((9, 24), np.nan, np.float32)),
        ("sift", np.zeros((50, 128), np.float32)), ("sift", np.zeros((5, 128))),
    ):  # fmt: skip
        save_file({**tables, name: bad}, table)
        with pytest.raises(InputError, match=name):
            ImageFeatures.load(tmp_path)
    table.write_bytes(b"nothing")
    with pytest.raises(InputError, match="no complete safetensors"):
        ImageFeatures.load(tmp_path)
