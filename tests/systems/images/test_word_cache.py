"""The cache of words: by content, by vocabulary, and never in the way."""

import numpy as np
import pytest

from karat.systems.images import ImageFeatures
from karat.systems.images import words as words_module

from .pictures import SMALL


def test_the_cache_answers_by_content(fitted, files, tmp_path, monkeypatch):
    wanted = fitted.transform(files)
    assert len(list((tmp_path / "cache" / "features").rglob("*.npy"))) == 8
    copies = [path.rename(path.with_name(f"copy-{path.name}")) for path in files]

    def never(*_, **__):
        raise AssertionError("a cached picture was decoded")

    monkeypatch.setattr(words_module, "decode_bytes", never)
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
