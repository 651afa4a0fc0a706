import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.lexicon.syntax import load_parser
from karat.lexicon.syntax.feature_kernels import find
from karat.lexicon.syntax.model import KEY_BITS, Model, SparseWeights


def rows(keys) -> SparseWeights:
    keys = np.array(sorted(keys), np.uint32)
    blank = np.ones(len(keys), np.uint8)
    return SparseWeights(keys, blank, blank, blank)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.one_of(st.integers(1, 40), st.integers(1, (1 << KEY_BITS) - 1)), max_size=60))
def test_every_key_is_found_and_no_other(keys):
    slots, shift, limits = rows(keys).laid_out()
    for rank, key in enumerate(sorted(keys)):
        place = find(key << 8, slots, shift)
        assert slots[place] == key
        # Rows lie in the order of their keys.
        assert (limits[place], limits[place + 1]) == (rank, rank + 1)
    for key in set(range(1, 60)) - keys:
        assert find(key << 8, slots, shift) == -1


def test_from_dense_leaves_out_zeros():
    dense = np.array([[0, 3, 0], [0, 0, 0], [-1, 0, 2]], np.int16)
    sparse = SparseWeights.from_dense(np.array([5, 6, 9], np.uint32), dense)
    assert sparse.keys.tolist() == [5, 9]
    assert sparse.count.tolist() == [1, 2]
    assert sparse.column.tolist() == [1, 0, 2]
    assert sparse.value.tolist() == [3, -1, 2]


def test_saving_and_loading(tmp_path):
    model = load_parser().model
    model.save(tmp_path / "a.npz")
    again = Model.load(tmp_path / "a.npz")
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert np.array_equal(again.keys, model.keys)
    assert np.array_equal(again.facts, model.facts)
    for name in ("tagger", "actions", "labels"):
        for column in ("keys", "count", "column", "value"):
            assert np.array_equal(
                getattr(getattr(again, name), column), getattr(getattr(model, name), column)
            )


def test_the_file_is_small(tmp_path):
    load_parser().model.save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_size < 5_000_000


@pytest.mark.parametrize("content", [b"no archive", b"PK\x03\x04 broken"])
def test_a_broken_file(tmp_path, content):
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a model of karat's parser"):
        Model.load(path)


def test_an_archive_of_something_else(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    with pytest.raises(InputError, match="is not a model of karat's parser"):
        Model.load(tmp_path / "other.npz")
