"""Flickr30k captions (Young et al., TACL 2014) in the forms in which they are passed on.

- ``results.csv``: ``image_name| comment_number| comment``, with bars. One row of the file, caption 4 of
  2199200615.jpg, lacks its second bar and is read as if it had one.
- ``results_20130124.token``: ``image.jpg#number``, a tab, the caption; Flickr8k's token file is the same.
- a tab-separated file with the columns image, sent (the caption's number), caption_tokenised and caption_raw.

Images come in the order of their first row, captions in the order of the rows. The first two hold every
split; a list of images, such as ``test.txt`` of Flickr30k Entities, chooses one and gives its order.
"""

from __future__ import annotations

import re
from pathlib import Path

from karat._util import Param, check_once, first_text, read_lines, read_table
from karat.benchmarks.benchmark import Benchmark, build
from karat.benchmarks.image_files import locate_images
from karat.benchmarks.registry import Source, register
from karat.benchmarks.sources.flickr8k import read_captions
from karat.errors import InputError

COLUMNS = ("image", "sent", "caption_raw")
BARS = "image_name|"
TOKEN = re.compile(r"[^\t]+#[0-9]+\t")
NO_SECOND_BAR = re.compile(r"([0-9]+)\s+(.+)")
Row = tuple[str, str, str]
"""Image, the caption's number, caption."""


def load(file: Path, images: Path | None = None, split_file: Path | None = None) -> Benchmark:
    """Build the benchmark."""
    first = first_line(file)
    by = "Young et al. 2014"
    if first.startswith(BARS):
        rows = read_bars(file)
    elif TOKEN.match(first):
        listed = read_captions(file)
        rows = [(image, str(n), text) for image, texts in listed.items() for n, text in texts.items()]
    else:
        rows = list(zip(*read_table(file, COLUMNS)))
        by += "; splits by Karpathy and Fei-Fei 2015"
    for place, (_, number, _) in enumerate(rows, start=2):
        if not (number.isascii() and number.isdigit()):
            raise InputError(
                f"row {place} has the sent {number!r}", where=file, fix="give the caption's number, 0 or more"
            )
    check_once([f"{row[0]}#{row[1]}" for row in rows], "caption", lambda at: f"row {at + 2}", file)
    names = list(dict.fromkeys(row[0] for row in rows))
    if split_file is not None:
        names = read_split(split_file, names, file)
        order = {name: number for number, name in enumerate(names)}
        rows = sorted((row for row in rows if row[0] in order), key=lambda row: order[row[0]])
    return build(
        "flickr30k",
        names,
        [f"{image}#{number}" for image, number, _ in rows],
        [image for image, _, _ in rows],
        [text for _, _, text in rows],
        where=file,
        about=f"Flickr30k, {file.name}{f', {split_file.name}' if split_file else ''} ({by})",
        image_paths=locate_images(images, names),
        image_files=names,
        image_folder=images,
    )


def first_line(path: Path) -> str:
    """Return the first line of a file, nothing where there is no such file."""
    return first_text(path).partition("\n")[0].rstrip("\r") if path.is_file() else ""


def recognise(path: Path) -> bool:
    """Return whether a file begins like one of the three forms."""
    first = first_line(path)
    return first.startswith(BARS) or bool(TOKEN.match(first)) or set(COLUMNS) <= set(first.split("\t"))


def read_bars(path: Path) -> list[Row]:
    """Return the captions of results.csv, whose cells are separated by bars."""
    rows = []
    for place, line in enumerate(read_lines(path)[1:], start=2):
        image, *rest = (cell.strip() for cell in line.split("|", 2))
        whole = NO_SECOND_BAR.fullmatch(rest[0]) if len(rest) == 1 else None
        if whole:
            rest = list(whole.groups())
        if not image or len(rest) != 2:
            fix = "write `image.jpg| number| caption`"
            raise InputError(f"row {place} is {line.strip()[:60]!r}", where=path, fix=fix)
        rows.append((image, rest[0], rest[1]))
    return rows


def read_split(path: Path, names: list[str], captions: Path) -> list[str]:
    """Return the images that a file lists, one per line, with or without their extension."""
    known = {Path(name).stem: name for name in names} | {name: name for name in names}
    listed = [line.strip() for line in read_lines(path) if line.strip()]
    for place, name in enumerate(listed, start=1):
        if name not in known:
            what = f"image {place}, {name!r}, has no caption in {captions.name}"
            raise InputError(what, where=path, fix="take both files from the same collection")
    check_once([known[name] for name in listed], "image", lambda at: f"image {at + 1}", path)
    return [known[name] for name in listed]


register(
    Source(
        "flickr30k",
        "Flickr30k captions: results.csv, the token file, or a tsv with image, sent and caption_raw",
        load,
        (
            Param("file", Path, "the file of captions"),
            Param("images", Path, "the folder of the images: adds their paths", None),
            Param("split_file", Path, "a list of images, one per line: only these, in this order", None),
        ),
        recognise,
        ((1000, 5000), (1014, 5070)),
    )
)
