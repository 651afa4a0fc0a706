"""From pictures to counts: fit, transform, unreadable pictures, wrong parameters; saved and loaded again."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from karat._util import reporting
from karat.baselines.images import ImageFeatures, pyramid_kernel
from karat.errors import InputError, MissingDataError
from told import Told

from .pictures import SMALL, photo


def test_counts_have_the_shape_and_totals_of_pyramids(fitted, scenes):
    counts = fitted.transform(scenes)
    assert counts.shape == (8, 21 * 20) == (8, fitted.n_features_out_)
    assert counts.dtype == np.uint16
    parts = counts.reshape(8, 21, 20)
    for first, last in ((0, 6), (6, 15), (15, 20)):
        for begin, end in ((0, 1), (1, 5), (5, 21)):
            assert (parts[:, begin:end, first:last].sum(axis=(1, 2)) == 256).all()
    assert (np.diag(pyramid_kernel(counts)) == 1).all()


def test_the_default_is_the_papers_size(scenes):
    counts = ImageFeatures(sample_images=3).fit_transform(scenes[:3])
    assert counts.shape == (3, 13_440)
    assert (counts[:, :640].sum(axis=1) == 3 * 4096).all()


def test_a_mirrored_picture_swaps_its_cells(fitted, scenes):
    plain, mirrored = fitted.transform([scenes[0], scenes[0][:, ::-1]]).reshape(2, 21, 20)[:, 1:5, :6]
    # Colour words only: textures and descriptors have a direction.
    assert np.abs(plain[[1, 0, 3, 2]].astype(int) - mirrored).sum() <= 0.05 * plain.sum()
    assert np.abs(plain.astype(int) - mirrored).sum() > 0.1 * plain.sum()


def test_the_seed_decides_and_threads_do_not(scenes, fitted):
    again = ImageFeatures(**SMALL, threads=3).fit(scenes)
    for name, centres in fitted.vocabularies_.items():
        assert np.array_equal(centres, again.vocabularies_[name])
    np.testing.assert_array_equal(fitted.transform(scenes), again.transform(scenes))
    other = ImageFeatures(**SMALL, seed=1).fit(scenes)
    assert not np.array_equal(other.vocabularies_["sift"], fitted.vocabularies_["sift"])


def test_files_equal_arrays_and_progress_counts(fitted, scenes, files):
    told = Told()
    with reporting(told):
        found = fitted.transform([*map(str, files[:4]), *files[4:]])
    np.testing.assert_array_equal(found, fitted.transform(scenes))
    assert told.numbers("reading pictures") == [(number, 8) for number in range(9)]


def test_pictures_with_few_colours_make_few_words(scenes):
    grey = [np.full((5, 5), value, np.uint8) for value in (10, 200)]
    features = ImageFeatures(**SMALL).fit(grey)
    assert len(features.vocabularies_["colour"]) == 2
    assert len(features.vocabularies_["sift"]) == 1
    counts = features.transform([*grey, np.array([[7]], np.uint8)])
    assert counts.shape == (3, 420)
    found = pyramid_kernel(counts)
    assert found[0, 2] == 1
    assert found[0, 1] == pytest.approx(2 / 3)


def test_unreadable_pictures_raise_or_are_zero(fitted, scenes, files):
    files[2].write_bytes(files[2].read_bytes()[:200])
    files[5].unlink()
    with pytest.raises(InputError, match=r"2\.png: is damaged"):
        fitted.transform(files)
    lenient = ImageFeatures(**SMALL, unreadable="zero").fit(files)
    with pytest.warns(UserWarning, match="2 pictures cannot be read; the first is number 2"):
        counts = lenient.transform(files)
    assert np.flatnonzero(counts.sum(axis=1) == 0).tolist() == [2, 5]
    with pytest.raises(InputError, match="none of the sampled"):
        lenient.fit([files[5]])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"points": 18}, "multiple of 4"), ({"points": 148}, "147"), ({"side": 0}, "side"),
        ({"seed": -1}, "seed"), ({"levels": 2.0}, "levels"), ({"sift_words": True}, "sift_words"),
        ({"unreadable": "skip"}, "raise or zero"), ({"threads": 0}, "threads"),
    ],
)  # fmt: skip
def test_parameters_are_checked_by_fit(scenes, change, what: str):
    with pytest.raises(InputError, match=what):
        ImageFeatures(**change).fit(scenes)


def test_what_is_no_list_of_pictures(fitted):
    for images in ("a.png", photo(0), photo(0)[:, :, 0]):
        with pytest.raises(InputError, match="single picture"):
            fitted.transform(images)
    with pytest.raises(InputError, match="picture 1 is a int"):
        fitted.transform([photo(0), 3])
    with pytest.raises(InputError, match="no pictures"):
        ImageFeatures().fit([])
    assert fitted.transform([]).shape == (0, 420)
    assert fitted.transform(np.stack([photo(0), photo(1)])).shape == (2, 420)
    with pytest.raises(InputError, match="not fitted"):
        ImageFeatures().transform([photo(0)])


def test_parameters_changed_after_fit(scenes, fitted):
    again = ImageFeatures(**SMALL).fit(scenes)
    with pytest.raises(InputError, match="9 words were learned; call fit again"):
        again.set_params(texture_words=8).transform(scenes)
    # More levels of the same words need no new words.
    again.set_params(texture_words=9, levels=2)
    np.testing.assert_array_equal(again.transform(scenes), fitted.transform(scenes)[:, : 5 * 20])


def test_scikit_learn_can_clone_it():
    from sklearn.base import clone

    assert clone(ImageFeatures(**SMALL)).get_params() == ImageFeatures(**SMALL).get_params()


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("cv2", "opencv-python-headless", "models"), ("PIL.Image", "Pillow", "images"),
        ("sklearn.cluster", "scikit-learn", "models"),
    ],
)  # fmt: skip
def test_a_missing_package_names_its_extra(monkeypatch, scenes, module: str, package: str, extra: str):
    monkeypatch.setitem(sys.modules, module, None)
    # Not even "zero" takes a missing package for damaged pictures.
    with pytest.raises(MissingDataError, match=rf"{package}.*pip install 'karat\[{extra}\]'"):
        ImageFeatures(**SMALL, unreadable="zero").fit(scenes)


def test_importing_loads_nothing_heavy():
    code = "import sys, karat.baselines.images; print(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"cv2", "PIL", "sklearn", "scipy", "numba"} & set(done.stdout.split())


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
    with pytest.raises(InputError, match="not a complete safetensors"):
        ImageFeatures.load(tmp_path)
