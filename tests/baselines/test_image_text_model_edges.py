"""Odd pictures and captions through the whole baseline: what happens to each is decided."""

import numpy as np
import pytest

from karat.baselines import ImageTextModel
from karat.baselines.images import ImageFeatures
from karat.errors import InputError
from karat.world import make_world

SMALL = {"side": 48, "points": 12, "colour_words": 16, "texture_words": 16, "sift_words": 16, "cache": False}
SIZE = 12


@pytest.fixture(scope="module")
def world():
    return make_world(SIZE, captions=2, seed=4)


@pytest.fixture
def files(world, tmp_path):
    """Twelve pictures as jpeg files."""
    image = pytest.importorskip("PIL.Image")
    paths = [tmp_path / f"{number}.jpg" for number in range(SIZE)]
    for number, path in enumerate(paths):
        image.fromarray(world.picture(number)).save(path)
    return paths


@pytest.fixture
def captions(world):
    return np.reshape(world.texts, (SIZE, 2)).tolist()


def fitted(files, captions, n=5, **features):
    return ImageTextModel(n=n, features=ImageFeatures(**{**SMALL, **features})).fit(files, captions)


def write_grey(image, path):
    image.linear_gradient("L").save(path)


def write_one_pixel(image, path):
    image.new("RGB", (1, 1), "red").save(path)


def write_cmyk(image, path):
    image.linear_gradient("L").convert("CMYK").save(path)


@pytest.mark.parametrize("write", [write_grey, write_one_pixel, write_cmyk])
def test_odd_pictures_are_pictures(files, captions, write):
    from PIL import Image

    write(Image, files[3])
    model = fitted(files, captions)
    vectors = model.encode_images(files)
    assert np.isfinite(vectors).all()
    assert vectors[3].any()
    # As a new picture it is what it was in training.
    np.testing.assert_allclose(model.encode_images([files[3]])[0], vectors[3])


def test_grey_is_colour_with_three_equal_channels(files, captions, world):
    from PIL import Image

    model = fitted(files, captions)
    grey = np.asarray(Image.fromarray(world.picture(0)).convert("L"))
    thrice = np.repeat(grey[:, :, None], 3, axis=2)
    one, other = model.encode_images([grey, thrice])
    np.testing.assert_array_equal(one, other)


def test_a_corrupt_jpeg_is_named_or_left_out_with_a_warning(files, captions):
    whole = files[3].read_bytes()
    files[3].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"3\.jpg: is damaged"):
        fitted(files, captions)
    with pytest.warns(UserWarning, match="1 picture cannot be read; the first is number 3"):
        model = fitted(files, captions, unreadable="zero")
    assert not model.counts_[3].any()
    assert np.isfinite(model.encode_images(files[:3])).all()
    with pytest.warns(UserWarning, match="1 picture cannot be read"):
        assert np.isfinite(model.encode_images([files[3]])).all()


def test_a_corrupt_picture_among_those_searched_is_named(files, captions):
    model = fitted(files, captions)
    files[3].write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"3\.jpg: is not a readable picture"):
        model.search(captions[0][0], files)


@pytest.mark.parametrize("empty", ["", "  \n", "the of a", "!?"])
def test_an_empty_caption_says_nothing(files, captions, empty):
    captions[3][1] = empty
    model = fitted(files, captions)
    assert np.isfinite(model.kcca_.correlations_).all()
    assert not model.encode_captions([empty]).any()
    assert model.encode_captions([captions[0][0]]).any()
    assert model.search(empty, files) == []


def test_a_picture_with_nothing_but_an_empty_caption_still_fits(files, captions):
    captions[3] = [""]
    model = fitted(files, captions)
    assert np.isfinite(model.encode_images(files)).all()


def test_captions_without_any_word_are_refused(files):
    with pytest.raises(InputError) as caught:
        fitted(files, [[""]] * SIZE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["BoW1", "BoW5", "BoW5-idf", "TRI5", "TAGRANK"])
def test_one_caption_per_image(files, captions, text):
    single = [own[:1] for own in captions]
    model = ImageTextModel(text, n=5, features=ImageFeatures(**SMALL)).fit(files, single)
    vectors = model.encode_captions([own[0] for own in single])
    assert vectors.shape == (SIZE, 5)
    assert np.isfinite(vectors).all()


def test_fewer_items_than_dimensions_gives_what_there_is(files, captions, tmp_path):
    model = fitted(files, captions, n=500)
    assert 1 <= model.kcca_.n_ < SIZE
    assert model.encode_images(files).shape == (SIZE, model.kcca_.n_)
    model.save(tmp_path / "model")
    again = ImageTextModel.load(tmp_path / "model")
    assert (again.n, again.kcca_.n_) == (500, model.kcca_.n_)


def test_two_pictures_are_enough(files, captions):
    model = fitted(files[:2], captions[:2], n=50)
    assert model.encode_captions(captions[0]).shape == (2, model.kcca_.n_)
