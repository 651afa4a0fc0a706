"""Flickr30k captions (Young et al., TACL 2014) as a tab-separated file, one caption per row.

The columns are image, sent (the caption's number), caption_tokenised and caption_raw. Images come in
the order of their first row, captions in the order of the rows.
"""

from __future__ import annotations

from pathlib import Path

from karat._util import Param, check_once, read_table
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.registry import Source, register
from karat.errors import InputError

COLUMNS = ("image", "sent", "caption_raw")


def load(file: Path, images: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    image_of, numbers, texts = read_table(file, COLUMNS)
    for row, number in enumerate(numbers, start=2):
        if not (number.isascii() and number.isdigit()):
            raise InputError(
                f"row {row} has the sent {number!r}", where=file, fix="give the caption's number, 0 or more"
            )
    captions = [f"{image}#{number}" for image, number in zip(image_of, numbers)]
    check_once(captions, "caption", lambda at: f"row {at + 2}", file)
    names = list(dict.fromkeys(image_of))
    return build(
        "flickr30k",
        names,
        captions,
        image_of,
        texts,
        where=file,
        about=f"Flickr30k, {file.name} (Young et al. 2014; splits by Karpathy and Fei-Fei 2015)",
        image_paths=locate_images(images, names),
    )


register(
    Source(
        "flickr30k",
        "Flickr30k captions from a tab-separated file with the columns image, sent and caption_raw",
        load,
        (
            Param("file", Path, "the tab-separated file of one split"),
            Param("images", Path, "the folder of the images: adds their paths", None),
        ),
    )
)
