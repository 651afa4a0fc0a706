"""k-means words, the nearest of them, and their cache: by content, by vocabulary, and never in the way."""

import numpy as np
import pytest

from karat.baselines.images import ImageFeatures, vocabulary
from karat.baselines.images.vocabulary import draw, fit_words, nearest_words
from karat.errors import KaratWarning
from strangers import UNIX, WRITTEN

from .pictures import SMALL


def test_words_find_groups(rng):
    middles = rng.normal(0, 10, (20, 5))
    sample = np.repeat(middles, 60, axis=0) + rng.normal(0, 0.01, (1200, 5))
    centres = fit_words(sample, 20, seed=0)
    assert centres.shape == (20, 5)
    spread = np.linalg.norm(sample - centres[nearest_words(sample, centres)], axis=1)
    assert np.median(spread) < 0.1


def test_the_seed_decides_everything(rng):
    sample = rng.normal(size=(3000, 8))
    assert np.array_equal(fit_words(sample, 30, seed=4), fit_words(sample, 30, seed=4))
    assert not np.array_equal(fit_words(sample, 30, seed=4), fit_words(sample, 30, seed=5))


@pytest.mark.parametrize("repeats", [1, 500])
def test_few_different_points_are_the_words(repeats: int):
    sample = np.tile(np.array([[3.0, 1], [1, 2], [2, 2]]), (repeats, 1))
    assert fit_words(sample, 3, seed=0).tolist() == [[1, 2], [2, 2], [3, 1]]
    assert len(fit_words(sample, 10, seed=0)) == 3


def test_nearest_equals_brute_force(rng):
    points, centres = rng.normal(size=(200, 6)), rng.normal(size=(17, 6))
    wanted = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_words(points, centres), wanted)


def test_samples_take_different_pictures_and_points():
    sample = draw(50, 20, 64, 30, seed=1)
    assert len({picture for picture, _ in sample}) == 20
    assert all(len(set(places.tolist())) == 30 for _, places in sample)
    assert len(draw(5, 20, 64, 100, seed=1)) == 5
    assert sorted(draw(5, 20, 64, 100, seed=1)[0][1].tolist()) == list(range(64))


def test_the_cache_answers_by_content(fitted, files, tmp_path, monkeypatch):
    wanted = fitted.transform(files)
    assert len(list((tmp_path / "cache" / "features").rglob("*.npy"))) == 8
    copies = [path.rename(path.with_name(f"copy-{path.name}")) for path in files]

    def never(*_, **__):
        raise AssertionError("a cached picture was decoded")

    monkeypatch.setattr(vocabulary, "decode_bytes", never)
    np.testing.assert_array_equal(fitted.transform(copies), wanted)
    with pytest.raises(AssertionError, match="decoded"):
        ImageFeatures(**SMALL, cache=False).fit(copies).transform(copies)


@pytest.mark.parametrize("change", [{"side": 48}, {"points": 8}, {"seed": 3}])
def test_the_cache_is_not_shared_between_vocabularies(scenes, files, tmp_path, change):
    ImageFeatures(**SMALL).fit(scenes).transform(files[:2])
    ImageFeatures(**{**SMALL, **change}).fit(scenes).transform(files[:2])
    assert len(list((tmp_path / "cache" / "features").iterdir())) == 2


def test_a_damaged_or_unwritable_cache_costs_time_only(fitted, files, tmp_path, monkeypatch):
    wanted = fitted.transform(files)
    entries = sorted((tmp_path / "cache").rglob("*.npy"))
    entries[0].write_bytes(b"")
    entries[1].write_bytes(entries[1].read_bytes()[:-10])
    np.save(entries[2], np.zeros((2, 2)))
    np.save(entries[3], np.full((3, 16, 16), 255, np.uint8))
    np.save(entries[4], np.array([{}], dtype=object))
    np.testing.assert_array_equal(fitted.transform(files), wanted)
    assert np.load(entries[3]).max() < 9
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "file"))
    np.testing.assert_array_equal(fitted.transform(files), wanted)


@UNIX
@pytest.mark.parametrize("spoil", WRITTEN)
def test_words_that_others_may_have_written_are_not_used(fitted, files, tmp_path, spoil):
    wanted = fitted.transform(files)
    entries = sorted((tmp_path / "cache").rglob("*.npy"))
    np.save(entries[0], np.zeros_like(np.load(entries[0])))
    spoil(entries[0])
    with pytest.warns(KaratWarning, match="it is not used, and made again"):
        np.testing.assert_array_equal(fitted.transform(files), wanted)
