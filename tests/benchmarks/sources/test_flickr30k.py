"""Flickr30k: the counts of the paper from the real files, and every mistake in small ones."""

import re

import numpy as np
import pytest

import karat


def test_flickr30k_of_the_real_files(data):
    for split, images in (("test", 1000), ("dev", 1014)):
        bench = karat.load_benchmark("flickr30k", file=data / "f30k" / f"f30k_karpathy_{split}_captions.tsv")
        assert (bench.images.size, bench.captions.size) == (images, 5 * images)
        assert (np.bincount(bench.caption_image) == 5).all()
    assert bench.captions[1] == "1018148011.jpg#1"
    assert bench.texts[1] == "Men are standing on and about a truck carrying a white substance."


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
        (b"image\tsent\n\xff", "row 2 is not text in UTF-8"),
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
