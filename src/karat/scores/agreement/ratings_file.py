"""People's ratings of images with captions: wide, long or counted tables; Flickr8k's and CxC's own files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat._util import check_once
from karat.benchmarks import read_pairs
from karat.errors import InputError
from karat.scores.agreement.ratings import Ratings, in_order
from karat.scores.table_file import TableFile, read_cells
from karat.stats import divide

COLUMN_NAMES = {
    "image": ("image", "image_id", "img", "photo"),
    "caption": ("caption", "caption_id", "text", "text_id", "sentence"),
    "rater": ("rater", "rater_id", "worker", "worker_id", "annotator", "judge"),
    "rating": ("rating", "score", "grade", "label", "answer", "judgment"),
    "yes": ("yes", "yes_count", "n_yes"),
    "no": ("no", "no_count", "n_no"),
}
"""What the columns may be called."""
FIX = "name its columns image, caption and one per rater; or image, caption, rater, rating"
FLICKR8K = re.compile(r".+#\d+")
CXC = re.compile(r"COCO_\w+:sentid:\d+,COCO_\w+")
MOST_CELLS = 20_000_000


def read_ratings(path: str | Path, rater: Sequence[str] | None = None) -> Ratings:
    """Read a table of ratings; see docs/agreement.md for the layouts.

    Parameters
    ----------
    path
        csv, tsv, txt (tab-separated) or Parquet.
    rater
        Only these columns of a wide table, or these raters of a long one.
    """
    path = Path(path)
    if is_cxc(path) and rater is None:
        return cxc(path)
    published = is_flickr8k(path)
    cells = flickr8k(path) if published else read_cells(path, answers=True)
    columns = {kind: find(cells, kind) for kind in COLUMN_NAMES}
    for kind in ("image", "caption"):
        if columns[kind] is None:
            raise InputError(f"has no column {kind!r}", where=path, fix=FIX)
    image, caption = (cells.text(str(columns[kind])) for kind in ("image", "caption"))
    if columns["rater"] is not None:
        return long(cells, image, caption, columns, rater)
    check_once(
        (f"{i} with {c}" for i, c in zip(image, caption)),
        "pair",
        lambda at: f"row {at + cells.first_row}",
        path,
    )
    if columns["yes"] and columns["no"] and rater is None:
        return counted(cells, image, caption, columns["yes"], columns["no"])
    table = wide(cells, image, caption, [str(columns[kind]) for kind in ("image", "caption")], rater)
    # Flickr8k's experts are sorted within each row. Named columns are taken to be raters.
    return replace(table, persons=False) if published and in_order(table.values) else table


def first_lines(path: Path, extensions: Sequence[str], number: int = 1) -> list[str]:
    """Return the first lines of a text file; none of a file with another extension."""
    if path.suffix.lower() not in extensions or not path.is_file():
        return []
    with path.open("rb") as handle:
        lines = [handle.readline(10_000).decode("utf-8", "replace") for _ in range(number)]
    return [line.rstrip("\r\n") for line in lines]


def is_cxc(path: Path) -> bool:
    """Whether a file is Crisscrossed Captions' csv of caption–image ratings."""
    lines = first_lines(path, (".csv",), 2)
    return len(lines) == 2 and lines[0].startswith("caption,image,") and bool(CXC.match(lines[1]))


def cxc(path: Path) -> Ratings:
    """Return Crisscrossed Captions' ratings; images and captions have COCO's numbers."""
    image, caption, rating = read_pairs(path)
    return Ratings(image, caption, ("mean",), rating[:, None], path)


def is_flickr8k(path: Path) -> bool:
    """Whether a file is laid out like Flickr8k's annotations: five cells between tabs and no header."""
    cells = [cell for line in first_lines(path, (".txt", ".tsv")) for cell in line.split("\t")]
    return len(cells) == 5 and bool(FLICKR8K.fullmatch(cells[1]))


def flickr8k(path: Path) -> TableFile:
    """Return Flickr8k's annotations with names for their columns.

    The crowd's are the share, the number of yes and the number of no; the experts' are three scores.
    """
    bare = read_cells(path, head=False, answers=True)
    old = bare.frame.columns
    share, yes, no = (bare.numbers(name) for name in old[2:])
    apart = np.abs(share - divide(yes, yes + no))
    apart = apart[~np.isnan(apart)]
    crowd = bool(len(apart) and apart.max() < 1e-6)
    names = ("image", "caption", *(("share", "yes", "no") if crowd else ("1", "2", "3")))
    return replace(bare, frame=bare.frame.rename(dict(zip(old, names))))


def find(cells: TableFile, kind: str) -> str | None:
    """Return the column that has a name of this kind."""
    by_name = {name.lower(): name for name in cells.frame.columns}
    return next((by_name[name] for name in COLUMN_NAMES[kind] if name in by_name), None)


def counted(cells: TableFile, image: np.ndarray, caption: np.ndarray, yes: str, no: str) -> Ratings:
    """Return numbers of yes and no as that many ratings of 1 and 0 by unnamed people."""
    said = [cells.numbers(name) for name in (yes, no)]
    # Where both cells are empty nobody answered; one empty cell alone may mean anything.
    nobody = np.isnan(said).all(axis=0)
    said = [np.where(nobody, 0, numbers) for numbers in said]
    for name, numbers in zip((yes, no), said):
        wrong = ~((numbers >= 0) & (numbers == np.round(numbers)))
        if wrong.any():
            row = int(np.argmax(wrong))
            shown = "empty" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            what = f"row {row + cells.first_row}, column {name!r} is {shown}, not a number of answers"
            raise InputError(what, where=cells.where, fix="write 0, 1, 2, …")
    total = said[0] + said[1]
    most = int(total.max())
    if most * len(total) > MOST_CELLS:
        raise InputError(f"counts {most:,} answers", where=cells.where, fix="give shares instead")
    place = np.arange(most)
    values = np.where(place < said[0][:, None], 1.0, np.where(place < total[:, None], 0.0, np.nan))
    names = tuple(f"answer {k + 1}" for k in range(most))
    return Ratings(image, caption, names, values, cells.where, persons=False)


def wide(
    cells: TableFile, image: np.ndarray, caption: np.ndarray, ids: list[str], raters: Sequence[str] | None
) -> Ratings:
    """Return a table with a column per rater; one column alone is a share or another aggregate."""
    rest = [name for name in cells.frame.columns if name not in ids]
    names = [name for name in rest if cells.holds_numbers(name)] if raters is None else cells.choose(raters)
    if not names:
        raise InputError("has no column of numbers beside image and caption", where=cells.where, fix=FIX)
    left = [name for name in rest if name not in names] if raters is None else []
    notes = [f"{cells.where}: columns without numbers are left out: {', '.join(left)}"] if left else []
    values = np.column_stack([cells.numbers(name) for name in names])
    return Ratings(image, caption, tuple(names), values, cells.where, notes=tuple(notes))


def long(
    cells: TableFile,
    image: np.ndarray,
    caption: np.ndarray,
    columns: dict[str, str | None],
    chosen: Sequence[str] | None,
) -> Ratings:
    """Return a table with a row per rating."""
    if columns["rating"] is None:
        raise InputError("has a column of raters but no column 'rating'", where=cells.where, fix=FIX)
    who, rating = cells.text(str(columns["rater"])), cells.numbers(columns["rating"])
    check_once(
        (f"{i} with {c} by {w}" for i, c, w in zip(image, caption, who)),
        "rating of",
        lambda at: f"row {at + cells.first_row}",
        cells.where,
    )
    there = list(dict.fromkeys(who.tolist()))
    for name in chosen or ():
        if name not in there:
            some = ", ".join(there[:5]) + (", …" if len(there) > 5 else "")
            raise InputError(f"has no rater {name!r}", where=cells.where, fix=f"its raters are {some}")
    rows = np.isin(who, chosen) if chosen else np.ones(len(who), bool)
    pairs: dict[tuple[str, str], int] = {}
    item = np.array(
        [pairs.setdefault(pair, len(pairs)) for pair in zip(image[rows].tolist(), caption[rows].tolist())]
    )
    names, rater = np.unique(who[rows], return_inverse=True)
    if len(pairs) * len(names) > MOST_CELLS:
        fix = "choose some with --rater"
        raise InputError(f"has {len(names):,} raters of {len(pairs):,} items", where=cells.where, fix=fix)
    values = np.full((len(pairs), len(names)), np.nan)
    values[item, rater] = rating[rows]
    images, captions = zip(*pairs)
    return Ratings(images, captions, tuple(map(str, names)), values, cells.where)
