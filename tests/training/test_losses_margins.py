"""Margins: φ by caption metrics, kept whole or sparse, in memory and in files."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")

from karat.captions import CAPTION_METRICS  # noqa: E402
from karat.errors import InputError, MissingDataError  # noqa: E402
from karat.training import Margins, SemanticAdaptiveMargin  # noqa: E402

CAPTIONS = [
    ["a black dog runs on the beach", "the dog runs", "a dog near the sea"],
    ["two men sit on a bench in the park", "men on a bench"],
    ["a man runs on the beach with a dog", "a man and his dog run", "a runner by the sea", "a man"],
]
N = 9


def literal(metric: str, leave_out: bool) -> np.ndarray:
    """Return φ cell by cell; document frequencies from all references, in both cases."""
    texts = [text for group in CAPTIONS for text in group]
    prepared = CAPTION_METRICS[metric].prepare(CAPTIONS, texts)
    table = np.zeros((3, N))
    for i, group in enumerate(CAPTIONS):
        for j in range(N):
            first = sum(len(before) for before in CAPTIONS[:i])
            own = j - first if leave_out and 0 <= j - first < len(group) else -1
            table[i, j] = prepared.at([i], [j], [own])[0]
    return table


@pytest.mark.parametrize("own", ["in", "out"])
@pytest.mark.parametrize("metric", ["cider", "rouge-l"])
def test_margins_equal_the_metric(own, metric):
    margins = Margins.from_captions(CAPTIONS, metric, own=own, dtype=torch.float32)
    expected = literal(metric, own == "out") * 10 / CAPTION_METRICS[metric].highest
    np.testing.assert_allclose(margins.table.numpy(), expected, atol=1e-5)
    assert (margins.own, margins.metric, margins.scale) == (own, metric, 10.0)


def test_cider_is_pycocoevalcaps_with_frequencies_of_the_training_captions():
    cider = pytest.importorskip("pycocoevalcap.cider.cider", reason="pycocoevalcap is not installed")
    margins = Margins.from_captions(CAPTIONS, dtype=torch.float64)
    texts = [text for group in CAPTIONS for text in group]
    for j, text in enumerate(texts):
        # Every image is scored with the same candidate; its references make the document frequencies.
        _, scores = cider.Cider().compute_score(dict(enumerate(CAPTIONS)), {i: [text] for i in range(3)})
        np.testing.assert_allclose(margins.table[:, j].numpy(), scores, atol=1e-5)


def test_half_precision_rounds_as_stated():
    exact = Margins.from_captions(CAPTIONS, dtype=torch.float64).table
    rounded = Margins.from_captions(CAPTIONS).table
    assert rounded.dtype == torch.float16
    assert (rounded.double() - exact).abs().max() <= 0.004


def test_a_batch_holds_all_pairs_and_its_positives():
    margins = Margins.from_captions(CAPTIONS, dtype=torch.float32)
    images, captions = torch.tensor([2, 0, 2]), torch.tensor([5, 1, 8])
    fit, positive = margins.batch(images, captions)
    assert torch.equal(fit, margins.table[[2, 0, 2]][:, [5, 1, 8]])
    assert torch.equal(positive, margins.table[[2, 0, 2], [5, 1, 8]])


@pytest.mark.parametrize("own", ["in", "out"])
def test_a_sparse_table_equals_the_whole_one_down_to_the_cut(own):
    whole = Margins.from_captions(CAPTIONS, own=own)
    sparse = Margins.from_captions(CAPTIONS, own=own, sparse=True, cut=0.5)
    every = torch.arange(3)[:, None], torch.arange(N)
    # The cut is applied before the rounding to half precision.
    exact = Margins.from_captions(CAPTIONS, own=own, dtype=torch.float32).at(*every)
    expected = torch.where(exact >= 0.5, whole.at(*every), 0)
    assert torch.equal(sparse.at(*every), expected)
    assert 0 < len(sparse.values) < 3 * N
    assert "of cells from 0.5" in str(sparse)
    images, captions = torch.tensor([2, 0, 1]), torch.tensor([5, 1, 3])
    features = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3, 4)))
    values = [
        SemanticAdaptiveMargin(kept)(*features, images=images, captions=captions).item()
        for kept in (sparse, Margins(expected, own=own))
    ]
    assert values[0] == values[1]


def test_sparse_rows_take_over_beyond_the_largest_table(monkeypatch):
    monkeypatch.setattr("karat.training.margins.DENSE_CELLS", 3 * N - 1)
    assert Margins.from_captions(CAPTIONS).table is None
    monkeypatch.setattr("karat.training.margins.DENSE_CELLS", 3 * N)
    assert Margins.from_captions(CAPTIONS).table is not None


@pytest.mark.parametrize("sparse", [False, True])
def test_margins_are_saved_and_loaded(tmp_path, sparse):
    margins = Margins.from_captions(CAPTIONS, own="out", sparse=sparse, scale=1.0, cut=0.02)
    path = tmp_path / "margins.safetensors"
    margins.save(path)
    again = Margins.load(path, shape=(3, N))
    assert repr(again) == repr(margins)
    every = torch.arange(3)[:, None], torch.arange(N)
    assert torch.equal(again.at(*every), margins.at(*every))
    assert Margins.load(path, dtype=torch.float64).at(*every).dtype == torch.float64


def test_numbers_of_many_captions_survive_the_file(tmp_path):
    for n in (1 << 16, (1 << 16) + 1):
        margins = Margins.sparse([0, 2, 2, 3], torch.tensor([5, n - 1, 40_000]), torch.ones(3), n)
        margins.save(tmp_path / "m.safetensors")
        again = Margins.load(tmp_path / "m.safetensors")
        assert again.columns.tolist() == [5, n - 1, 40_000]
        image, caption = torch.tensor([0, 0, 1, 2, 2]), torch.tensor([n - 1, 6, 5, 40_000, n - 1])
        assert again.at(image, caption).tolist() == [1, 0, 0, 1, 0]


def test_sparse_cells_are_found_wherever_they_are():
    rng = np.random.default_rng(1)
    table = rng.random((12, 50)) * (rng.random((12, 50)) < rng.random((12, 1)))
    # Images without any cell: the first, the last, and one in between.
    table[[0, 5, 11]] = 0
    rows = np.r_[0, np.count_nonzero(table, axis=1).cumsum()]
    sparse = Margins.sparse(rows, np.nonzero(table)[1], table[table > 0], 50)
    assert sparse.at(torch.arange(12)[:, None], torch.arange(50)).tolist() == table.tolist()


def test_a_ready_table_is_read(tmp_path):
    table = np.array([[1.0, 0.25], [0.5, 2.0]], np.float16)
    np.save(tmp_path / "phi.npy", table)
    margins = Margins.load(tmp_path / "phi.npy", own="out", shape=(2, 2))
    assert margins.table.tolist() == table.tolist()
    assert str(margins) == "Margins(2 images x 2 captions, phi.npy, own='out', scale=10.0, float16)"
    with pytest.raises(InputError, match="is for 2 images and 2 captions"):
        Margins.load(tmp_path / "phi.npy", shape=(2, 3))


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(MissingDataError, match="no such file"):
        Margins.load(tmp_path / "none.safetensors")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="is not a table of numbers"):
        Margins.load(tmp_path / "objects.npy")
    (tmp_path / "cut.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{")
    with pytest.raises(InputError, match="is not a complete file of margins"):
        Margins.load(tmp_path / "cut.safetensors")
    margins = Margins(np.ones((2, 3)))
    with pytest.raises(InputError, match=r"extension '\.npz'"):
        margins.save(tmp_path / "m.npz")
    with pytest.raises(InputError, match="row 1, column 0 is nan"):
        Margins(np.array([[1.0, 2.0], [np.nan, 1.0]]))
    with pytest.raises(InputError, match="own is 'both'"):
        Margins(np.ones((2, 3)), own="both")
    with pytest.raises(InputError, match="has 1 dimension"):
        Margins(np.ones(3))
    with pytest.raises(InputError, match="columns do not rise"):
        Margins.sparse([0, 1, 3], torch.tensor([2, 1, 1]), torch.ones(3), 3)
    with pytest.raises(InputError, match="a column is not a caption"):
        Margins.sparse([0, 2], torch.tensor([1, 3]), torch.ones(2), 3)
    with pytest.raises(InputError, match="do not fit"):
        Margins.sparse([0, 3], torch.tensor([1, 2]), torch.ones(2), 3)
    with pytest.raises(InputError, match="there are no captions"):
        Margins.from_captions([[], []])
    with pytest.raises(InputError, match="unknown caption metric"):
        Margins.from_captions(CAPTIONS, "cidr")
