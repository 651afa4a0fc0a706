"""The precomputed lists of VSE++ and SCAN, with images once, five times, or not there."""

import numpy as np
import pytest

import karat

RNG = np.random.default_rng(0)
FEATURES = RNG.random((4, 36, 8)).astype(np.float32)


def write(folder, *, split="test", features=None, ids=None, captions=20):
    (folder / f"{split}_caps.txt").write_text("".join(f"Caption {n} , café .\n" for n in range(captions)))
    if features is not None:
        np.save(folder / f"{split}_ims.npy", features)
    if ids is not None:
        (folder / f"{split}_ids.txt").write_text("".join(f"{name}\n" for name in ids))


@pytest.mark.parametrize(
    ("features", "ids", "images"),
    [
        (FEATURES, None, [0, 1, 2, 3]),
        (np.repeat(FEATURES, 5, axis=0), None, [0, 1, 2, 3]),
        (None, None, [0, 1, 2, 3]),
        (FEATURES, [9, 7, 5, 3], ["9", "7", "5", "3"]),
        (None, np.repeat([9, 7, 5, 3], 5), ["9", "7", "5", "3"]),
        # An id per caption that no two share: the features say which captions are one image's.
        (np.repeat(FEATURES, 5, axis=0), range(20), ["0", "5", "10", "15"]),
        (RNG.random((20, 4)), None, list(range(20))),
    ],
)
def test_which_captions_belong_to_an_image(tmp_path, features, ids, images):
    write(tmp_path, features=features, ids=ids)
    bench = karat.load_benchmark(tmp_path)
    assert bench.name == "precomp"
    assert bench.images.gallery.tolist() == images
    assert bench.captions.gallery.tolist() == list(range(20))
    assert (bench.caption_image == np.arange(20) // (20 // len(images))).all()
    assert bench.texts[7] == "Caption 7 , café ."


def test_scores_are_those_of_the_usual_evaluation(tmp_path):
    write(tmp_path, features=np.repeat(FEATURES, 5, axis=0))
    scores = RNG.random((4, 20)).astype(np.float32)
    # The rank of an image's best caption among all, as VSE++ computes it from every fifth row.
    order = (-scores).argsort(axis=1)
    ranks = [min(int(np.flatnonzero(order[i] == 5 * i + k)[0]) for k in range(5)) for i in range(4)]
    card = karat.evaluate(scores, karat.load_benchmark(tmp_path), ["R@1", "R@5"], direction="i2t")
    for depth in (1, 5):
        assert card.value(f"R@{depth}", direction="i2t") == np.mean(np.array(ranks) < depth)


def test_caption_ids_and_unequal_groups(tmp_path):
    write(tmp_path, split="testall", ids=["a", "a", "b", "b", "b"], captions=5)
    (tmp_path / "testall_caption_ids.txt").write_text("11\n12\n13\n14\n15\n")
    bench = karat.load_benchmark("precomp", folder=tmp_path, split="testall")
    assert bench.caption_image.tolist() == [0, 0, 1, 1, 1]
    assert bench.captions.gallery.tolist() == ["11", "12", "13", "14", "15"]


def test_wrong_lists(tmp_path):
    write(tmp_path, split="dev")
    with pytest.raises(karat.KaratError, match=r"there is no test_caps\.txt; its splits are dev"):
        karat.load_benchmark(tmp_path)
    with pytest.raises(karat.KaratError, match="20 captions, which are not 3 for each image"):
        karat.load_benchmark("precomp", folder=tmp_path, split="dev", per_image=3)
    write(tmp_path, features=RNG.random((3, 2)))
    with pytest.raises(karat.KaratError, match="lists 20 captions for 3 images"):
        karat.load_benchmark(tmp_path)
    write(tmp_path, features=FEATURES, ids=[1, 2])
    with pytest.raises(karat.KaratError, match=r"test_ids\.txt lists 2 ids for 4 images"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "test_ims.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(karat.KaratError, match="is not a NumPy array"):
        karat.load_benchmark(tmp_path)
    np.save(tmp_path / "test_ims.npy", np.array([{}] * 4, dtype=object), allow_pickle=True)
    with pytest.raises(karat.KaratError, match="Python objects, which are never executed"):
        karat.load_benchmark(tmp_path)
