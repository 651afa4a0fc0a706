"""Tables of all pairs: blocks, threads, files and captions left out agree with single pairs."""

import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat._util import reporting
from karat.captions import metric as metric_module
from karat.captions.metric import CAPTION_METRICS
from karat.captions.metrics.cider import Cider
from karat.captions.metrics.hodosh import HodoshBleu
from karat.errors import InputError
from told import Told

NAMES = sorted(
    {*CAPTION_METRICS} - {"bleu-2", "bleu-3", "bleu-pre"}
)  # these differ from others in one number
CAPTION = st.lists(st.sampled_from(["dog", "cat", "runs", "red", "big"]), max_size=9).map(" ".join)
REFERENCES = st.lists(st.lists(CAPTION, max_size=4), min_size=1, max_size=6)


def every_pair(prepared) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.indices((prepared.n_images, prepared.n_captions))
    return i.ravel(), j.ravel()


@settings(max_examples=30, deadline=None)
@given(REFERENCES, st.lists(CAPTION, min_size=1, max_size=8), st.sampled_from(NAMES), st.integers(1, 3))
def test_tables_agree_with_single_pairs(references, candidates, name, threads):
    prepared = CAPTION_METRICS[name].prepare(references, candidates)
    single = prepared.at(*every_pair(prepared)).reshape(len(references), len(candidates))
    table = np.concatenate([prepared.block(i, i + 1, threads) for i in range(len(references))])
    assert table.dtype == np.float32
    np.testing.assert_allclose(table, single, atol=1e-5)
    np.testing.assert_array_equal(table, prepared.block(0, len(references), threads))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(CAPTION, min_size=1, max_size=4), min_size=2, max_size=5), st.sampled_from(NAMES))
def test_leaving_out_is_scoring_without_that_reference(references, name):
    metric = CAPTION_METRICS[name]
    if hasattr(metric, "frequencies"):
        # The one left out still counts in the frequencies, so these are fixed for both sides.
        from karat.captions.frequencies import DocumentFrequencies

        metric = type(metric)(frequencies=DocumentFrequencies.from_references(references))
    candidates = [caption for group in references for caption in group]
    image = np.repeat(np.arange(len(references)), [len(group) for group in references])
    number = np.concatenate([np.arange(len(group)) for group in references])
    table = metric.matrix(references, candidates, own=(image, number))
    plain = metric.matrix(references, candidates)
    others = [group[:n] + group[n + 1 :] for group, n in ((references[i], n) for i, n in zip(image, number))]
    np.testing.assert_allclose(
        table[image, np.arange(len(image))], metric.scores(others, candidates), atol=1e-5
    )
    table[image, np.arange(len(image))] = plain[image, np.arange(len(image))]
    np.testing.assert_array_equal(table, plain)


def test_blocks_in_a_file_equal_the_table_in_memory(tmp_path, monkeypatch, rng):
    words = np.array(["a", "red", "dog", "cat", "runs", "big", "house"])
    references = [[" ".join(rng.choice(words, 6)) for _ in range(3)] for _ in range(20)]
    candidates = [caption for group in references for caption in group]
    expected = Cider().matrix(references, candidates)
    monkeypatch.setattr(metric_module, "CELLS_PER_BLOCK", 7 * len(candidates))
    told = Told()
    path = tmp_path / "N.npy"
    begins, parts = zip(*Cider().blocks(references, candidates))
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    assert list(begins) == np.cumsum([0, *map(len, parts)])[:-1].tolist()
    with reporting(told):
        written = Cider().matrix(references, candidates, out=path)
    assert isinstance(written, np.memmap)
    np.testing.assert_array_equal(written, expected)
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), expected)
    assert told.numbers("comparing images with captions") == [(0, 20), (7, 20), (14, 20), (20, 20)]
    assert [file.name for file in tmp_path.iterdir()] == ["N.npy"]


def test_an_interrupted_table_leaves_no_file(tmp_path):
    path = tmp_path / "N.npy"
    path.write_bytes(b"what was there before")

    def stop(stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reporting(Told(stop)):
        HodoshBleu().matrix([["a dog"]], ["a dog"], out=path)
    assert [file.name for file in tmp_path.iterdir()] == ["N.npy"]
    assert path.read_bytes() == b"what was there before"


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch):
    """Blocks are written one by one; a file mapped into memory would end the process when one fails."""
    told = Told()
    monkeypatch.setattr(metric_module, "CELLS_PER_BLOCK", 100)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing beyond the limit fails as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        with pytest.raises(InputError, match="cannot be written"), reporting(told):
            HodoshBleu().matrix([["a dog"]] * 300, ["a dog"] * 100, out=tmp_path / "N.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert 0 < len(told.heard) < 300
    assert list(tmp_path.iterdir()) == []


def test_an_empty_table_in_a_file(tmp_path):
    path = tmp_path / "N.npy"
    assert HodoshBleu().matrix([["a dog"]], [], out=path).shape == (1, 0)
    assert np.load(path).shape == (1, 0)


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        HodoshBleu().matrix([["a dog"]], ["a dog"], out=tmp_path / "none" / "N.npy")


@pytest.mark.parametrize(
    ("own", "says"),
    [(([0], [0]), "one of each for the 2 candidates"), (([0, 9], [0, 0]), "own names image 9")],
)
def test_owners_are_checked(own, says):
    with pytest.raises(InputError, match=says):
        HodoshBleu().matrix([["a dog"]], ["a dog", "a cat"], own=own)


def test_candidates_without_an_image_stay_as_they_are():
    own = np.array([0, -1]), np.array([0, 0])
    table = HodoshBleu().matrix([["a dog", "a cat"]], ["a dog", "a cat"], own=own)
    np.testing.assert_array_equal(table, np.float32([[0.5, 1.0]]))


def test_threads_must_be_at_least_one():
    with pytest.raises(InputError, match="0 threads"):
        HodoshBleu().matrix([["a dog"]], ["a dog"], threads=0)


@pytest.mark.parametrize(
    ("image", "caption", "says"), [(1, 0, "image 1"), (-1, 0, "image -1"), (0, 2, "caption 2")]
)
@pytest.mark.parametrize("name", NAMES)
def test_pairs_that_are_not_there_are_refused(name, image, caption, says):
    prepared = CAPTION_METRICS[name].prepare([["a dog"]], ["a dog", "a cat"])
    with pytest.raises(InputError, match=says):
        prepared.at(np.array([image]), np.array([caption]))


@pytest.mark.parametrize("name", NAMES)
def test_one_image_stands_for_all_pairs(name):
    prepared = CAPTION_METRICS[name].prepare([["a big dog"], ["red cat"]], ["a dog", "a red cat"])
    np.testing.assert_array_equal(prepared.at(1, [0, 1]), prepared.at([1, 1], [0, 1], -1))
    assert prepared.at(1, 1).shape == (1,)
    for image, left in (([0, 1, 0], None), ([[0, 1]], None), ([0, 1], [0, 0, 0])):
        with pytest.raises(InputError, match="give one of each per pair"):
            prepared.at(image, [0, 1], left)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 40])
def test_every_candidate_is_filled_by_some_thread(number):
    candidates = ["", "dog", "dog " * 500, "a red dog", "", "cat"]
    for name in NAMES:
        prepared = CAPTION_METRICS[name].prepare([["a dog"], ["red cat"]], candidates)
        np.testing.assert_array_equal(prepared.block(0, 2, number), prepared.block(0, 2, 1))
