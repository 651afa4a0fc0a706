"""Flickr8k: the counts of the paper from the real files, and every mistake in small ones."""

import re
import tarfile

import numpy as np
import pytest

import karat
from karat._util.text_files import read_rows
from karat.benchmarks.sources import flickr8k

FILES = {
    flickr8k.TOKENS: "".join(
        f'{image}.jpg#{number}\tThe {image} "{number} .\n' for image in ("a", "b", "c") for number in range(3)
    )
    + f"{flickr8k.NOT_AN_IMAGE}#0\tNothing .\n",
    "Flickr_8k.trainImages.txt": "c.jpg\n",
    "Flickr_8k.testImages.txt": "b.jpg\na.jpg\n",
    flickr8k.EXPERT: "a.jpg\tb.jpg#2\t3\t3\t3\na.jpg\ta.jpg#2\t4\t4\t3\nb.jpg\ta.jpg#2\t1\t4\t3\n",
    flickr8k.CROWD: "a.jpg\tb.jpg#2\t0.5\t2\t2\na.jpg\ta.jpg#2\t0\t0\t3\nb.jpg\ta.jpg#2\t0.3333333\t1\t2\n",
}


def write(folder, **changed):
    for name, text in {**FILES, **changed.get("files", {})}.items():
        if text is None:
            continue
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def load(folder, **options):
    return karat.load_benchmark("flickr8k", folder=folder, **options)


def test_splits_and_captions_of_the_real_files(data):
    folder = data / "flickr8k"
    captions = flickr8k.read_captions(folder / flickr8k.TOKENS)
    assert len(captions) == 8091
    assert {len(numbers) for numbers in captions.values()} == {5}
    sizes = {split: load(folder, split=split).images.size for split in flickr8k.SPLITS}
    assert sizes == {"train": 6000, "dev": 1000, "test": 1000, "all": 8091}
    whole = load(folder)
    assert (whole.captions.size, list(whole.truths)) == (5000, ["original", "expert", "crowd"])
    assert list(load(folder, split="dev").truths) == ["original"]


def test_judgments_of_the_real_files(data):
    folder = data / "flickr8k"
    captions = flickr8k.read_captions(folder / flickr8k.TOKENS)
    assert len(flickr8k.read_annotations(folder / flickr8k.EXPERT, captions)[0]) == 5822
    assert len(flickr8k.read_annotations(folder / flickr8k.CROWD, captions)[0]) == 47830

    bench = load(folder, caption=2)
    assert (bench.images.size, bench.captions.size) == (1000, 1000)
    np.testing.assert_array_equal(bench.caption_image, np.arange(1000))
    assert {len(others) for others in bench.other_texts} == {4}
    assert load(folder).other_texts is None
    rows = {row["truth"]: row["i2t"] for row in bench.summary()}
    assert rows["original"]["positives"] == 1000
    assert rows["expert"]["positives"] + rows["expert"]["negatives"] == 5822
    # All 47,830 crowd pairs and the 279 own captions that no worker saw.
    assert rows["crowd"]["positives"] + rows["crowd"]["negatives"] == 47830 + 1000 - 721

    pairs = bench.truth("crowd").judgments.pairs()
    relevant = pairs.grade > 0
    own = pairs.image == pairs.caption
    assert (relevant & own).sum() == 1000
    assert (relevant & ~own).sum() == 2031
    per_image = np.bincount(np.bincount(pairs.image[relevant]))
    per_caption = np.bincount(np.bincount(pairs.caption[relevant]))
    assert per_image[1:4].tolist() == [331, 228, 124]
    assert per_caption[1:4].tolist() == [446, 202, 100]
    expert = bench.truth("expert").judgments.pairs()
    assert len(np.unique(expert.image[expert.grade > 0])) == 1000 - 594


def test_other_captions_were_never_judged(data):
    assert list(load(data / "flickr8k", caption=0).truths) == ["original"]


def test_names_of_the_real_images(data):
    with tarfile.open(data / "flickr8k" / "images-256.tar") as archive:
        names = {member.name.rsplit("/", 1)[-1] for member in archive if member.isfile()}
    assert set(load(data / "flickr8k").images.gallery.tolist()) <= names


def test_small_files(tmp_path):
    bench = load(write(tmp_path))
    assert bench.images.gallery.tolist() == ["b.jpg", "a.jpg"]
    assert bench.captions.gallery.tolist() == [f"{image}.jpg#{n}" for image in "ba" for n in range(3)]
    assert bench.texts[1] == 'The b "1 .'
    assert bench.caption_image.tolist() == [0, 0, 0, 1, 1, 1]
    expert = bench.truth("expert").judgments
    assert expert.rating.tolist() == [8 / 3, 3.0, 11 / 3]
    assert expert.grade.tolist() == [0.0, 0.5, 1.0]
    crowd = bench.truth("crowd").judgments.pairs()
    # Its own caption stays relevant although all three workers denied it.
    assert dict(zip(zip(crowd.image, crowd.caption), crowd.grade))[1, 5] == 1
    assert crowd.grade.sum() == 7
    assert bench.truth("crowd").queries["t2i"].tolist() == [2, 5]
    assert bench.defaults["crowd"] == ("R@1", "R@5", "R@10", "RP")
    card = karat.evaluate(np.eye(2)[:, bench.caption_image], bench)
    assert card.value("R@1", truth="original", direction="i2t") == 1


def test_annotations_are_optional(tmp_path):
    folder = write(tmp_path, files={flickr8k.EXPERT: None, flickr8k.CROWD: None})
    bench = load(folder, caption="1")
    assert list(bench.truths) == list(bench.defaults) == ["original"]
    assert bench.captions.gallery.tolist() == ["b.jpg#1", "a.jpg#1"]
    (folder / "photos").mkdir()
    with pytest.raises(karat.KaratError, match=re.escape("has no image b.jpg (2 of 2 are missing)")):
        load(folder, images=folder / "photos")
    for name in "ab":
        (folder / "photos" / f"{name}.jpg").touch()
    assert load(folder, images=folder / "photos").image_paths[1] == str(folder / "photos" / "a.jpg")
    with pytest.raises(karat.KaratError, match="nowhere: there is no such folder"):
        load(folder, images=folder / "nowhere")


SPLIT, TOKENS, EXPERT, CROWD = "Flickr_8k.testImages.txt", flickr8k.TOKENS, flickr8k.EXPERT, flickr8k.CROWD


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (TOKENS, None, "there is no such file"),
        (TOKENS, "", "is empty"),
        (TOKENS, b"a.jpg#0\tcaf\xe9\n", "line 1 is not UTF-8 but probably Latin-1"),
        (TOKENS, "a.jpg#0\tx\n\nb.jpg#0\tx\n", "row 2 holds 1 column; a row has 2"),
        (TOKENS, "a.jpg#0\tx\na.jpg#0\ty\n", "row 2 repeats the caption a.jpg#0 of row 1"),
        (TOKENS, "a.jpg\tx\n", "row 1 has the caption id 'a.jpg'; write it as"),
        (TOKENS, "a.jpg#02\tx\n", "row 1 has the caption id 'a.jpg#02'"),
        (TOKENS, "\tx\n", "row 1 holds nothing in its first column"),
        (SPLIT, None, "there is no such file"),
        (SPLIT, "a.jpg\na.jpg\n", "row 2 repeats the image a.jpg of row 1"),
        (SPLIT, "a.jpg\nz.jpg\n", "row 2 names 'z.jpg', which has no caption"),
        (SPLIT, f"{flickr8k.NOT_AN_IMAGE}\n", "row 1 names"),
        (EXPERT, "a.jpg\tb.jpg#2\t1\t1\n", "row 1 holds 4 columns; a row has 5"),
        (EXPERT, "a.jpg\tz.jpg#2\t1\t1\t1\n", "row 1 names 'z.jpg#2'"),
        (EXPERT, "z.jpg\ta.jpg#2\t1\t1\t1\n", "row 1 names 'z.jpg'"),
        (EXPERT, "a.jpg\tb.jpg#2\t1\tone\t1\n", "row 1 has a score that is not a number"),
        (EXPERT, "a.jpg\tb.jpg#2\t1\t5\t1\n", "row 1 has impossible scores"),
        (EXPERT, "a.jpg\tb.jpg#2\t1\tnan\t1\n", "row 1 has impossible scores"),
        (EXPERT, "a.jpg\tb.jpg#2\t1\t1\t1\n" * 2, "row 2 repeats the pair a.jpg with b.jpg#2 of row 1"),
        (CROWD, "a.jpg\tb.jpg#2\t0\t0\t0\n", "row 1 has impossible numbers of yes and no"),
        (CROWD, "a.jpg\tb.jpg#2\t0\tinf\t0\n", "row 1 has impossible numbers of yes and no"),
        (CROWD, "a.jpg\tb.jpg#2\t0.9\t1\t2\n", "row 1 has impossible share of yes"),
        (CROWD, "", "is empty"),
    ],
)
def test_mistakes_in_flickr8k(tmp_path, file, text, message):
    folder = write(tmp_path, files={file: text})
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        load(folder)
    assert str(caught.value).startswith(str(folder / file))
    assert caught.value.fix


def test_mistakes_in_the_options_of_flickr8k(tmp_path):
    folder = write(tmp_path)
    for options, message in (
        ({"split": "val"}, "split is 'val'; choose one of train, dev, test, all"),
        ({"caption": 7}, "image b.jpg has no caption number 7; it has 0, 1, 2"),
        ({"caption": -1}, "caption is -1; give a whole number"),
        ({"folder": tmp_path / "none"}, "there is no such folder"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            karat.load_benchmark("flickr8k", **{"folder": folder, **options})


def test_windows_line_ends_and_marks(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"\xef\xbb\xbfa\tb\x0cc\r\nd\te\r\n\r\n")
    assert read_rows(path, 2) == [["a", "b\x0cc"], ["d", "e"]]
