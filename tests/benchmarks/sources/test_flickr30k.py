"""Flickr30k: the counts of the paper from the real files, and every mistake in small ones."""

import re

import numpy as np
import pytest

import karat
from karat.benchmarks import SOURCES


def test_flickr30k_of_the_real_files(data):
    for split, images in (("test", 1000), ("dev", 1014)):
        path = data / "f30k" / f"f30k_karpathy_{split}_captions.tsv"
        bench = karat.load_benchmark("flickr30k", file=path)
        assert (bench.images.size, bench.captions.size) == (images, 5 * images)
        assert (np.bincount(bench.caption_image) == 5).all()
    assert bench.captions[1] == "1018148011.jpg#1"
    assert list(bench.texts) == [line.split("\t")[3] for line in path.read_text().splitlines()[1:]]


HEADER = "image\tsent\tcaption_tokenised\tcaption_raw\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("", "is empty"),
        (HEADER, "has no rows below its header"),
        ("image\tsent\n1.jpg\t0\n", "has no column 'caption_raw'"),
        (HEADER + "1.jpg\t0\ta\n", "row 2 holds 3 columns; a row has 4"),
        (HEADER + "1.jpg\tx\ta\ta\n", "row 2 has the sent 'x'"),
        (HEADER + "1.jpg\t0\ta\ta\n" * 2, "row 3 repeats the caption 1.jpg#0 of row 2"),
        (HEADER + "1" * 1001 + "\t0\ta\ta\n", "has image ids of over 1,000 characters"),
        (b"image\tsent\n\xff", "line 2 is not UTF-8"),
    ],
)
def test_mistakes_in_flickr30k(tmp_path, text, message):
    path = tmp_path / "captions.tsv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        karat.load_benchmark("flickr30k", file=path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.fix


BARS = "image_name| comment_number| comment\n"


def test_results_csv_with_its_broken_row(tmp_path):
    path = tmp_path / "results.csv"
    rows = [f"1000092795.jpg| {n}| Two young guys , caption {n} .\n" for n in range(5)]
    # The row of the real file that lacks its second bar.
    rows += [f"2199200615.jpg| {n}| A dog runs {n} | fast .\n" for n in range(4)]
    rows += ["2199200615.jpg| 4   A dog runs across the grass .\n"]
    path.write_text(BARS + "".join(rows))
    bench = karat.load_benchmark("flickr30k", file=path)
    assert SOURCES["flickr30k"].recognise(path)
    assert bench.images.gallery.tolist() == ["1000092795.jpg", "2199200615.jpg"]
    assert bench.captions[9] == "2199200615.jpg#4"
    assert bench.texts[8:] == ["A dog runs 3 | fast .", "A dog runs across the grass ."]
    # As in Flickr30k Entities, the list of a split leaves out the extension.
    (tmp_path / "test.txt").write_text("2199200615\n1000092795\n")
    split = karat.load_benchmark("flickr30k", file=path, split_file=tmp_path / "test.txt")
    assert split.images.gallery.tolist() == ["2199200615.jpg", "1000092795.jpg"]
    assert split.caption_image.tolist() == [0] * 5 + [1] * 5
    assert split.texts[4] == "A dog runs across the grass ."
    (tmp_path / "test.txt").write_text("7\n")
    with pytest.raises(karat.KaratError, match=r"image 1, '7', has no caption in results\.csv"):
        karat.load_benchmark("flickr30k", file=path, split_file=tmp_path / "test.txt")
    for row, message in (
        ("1.jpg| x| a\n", "row 2 has the sent 'x'"),
        ("1.jpg| a dog\n", "row 2 is '1.jpg| a dog'; write `image.jpg"),
        ("1.jpg| 0| a\n" * 2, "row 3 repeats the caption 1.jpg#0 of row 2"),
    ):
        path.write_text(BARS + row)
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            karat.load_benchmark("flickr30k", file=path)


def test_a_token_file(tmp_path):
    path = tmp_path / "results_20130124.token"
    path.write_text(
        "".join(f"{name}.jpg#{n}\tA caption {n} .\n" for name in (36979, 65567) for n in range(5))
    )
    bench = karat.load_benchmark("flickr30k", file=path)
    assert SOURCES["flickr30k"].recognise(path)
    assert bench.images.gallery.tolist() == ["36979.jpg", "65567.jpg"]
    assert (bench.captions[6], bench.texts[6]) == ("65567.jpg#1", "A caption 1 .")


def test_the_token_file_of_flickr8k_is_the_same(data):
    bench = karat.load_benchmark(
        "flickr30k",
        file=data / "flickr8k" / "Flickr8k.token.txt",
        split_file=data / "flickr8k" / "Flickr_8k.testImages.txt",
    )
    own = karat.load_benchmark("flickr8k", folder=data / "flickr8k")
    assert bench.images.gallery.tolist() == own.images.gallery.tolist()
    assert bench.captions.gallery.tolist() == own.captions.gallery.tolist()
    assert list(bench.texts) == list(own.texts)
