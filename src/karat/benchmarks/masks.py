"""Masks: the pixels of objects as run lengths, in the forms of COCO's files.

A mask is a polygon list, run lengths as numbers, or run lengths as the text that pycocotools writes. All are
checked here before pycocotools, which is written in C and trusts what it gets, sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._util import LIST, Record, extra

Runs = dict[str, Any]
"""A mask as pycocotools has it: the size, height first, and the counts as bytes."""


def read_mask(entry: Record, height: int, width: int) -> Runs:
    """Return the mask of an annotation or a detection, whose key `segmentation` is any of COCO's forms.

    Raises an `InputError` for a polygon without area of less than three points, for run lengths that do not
    fill the image, and for a size that is not that of the image.
    """
    tool = extra("pycocotools.mask")
    shape = entry.fields["segmentation"]
    if isinstance(shape, list):
        for polygon in shape:
            good = isinstance(polygon, list) and len(polygon) >= 6 and len(polygon) % 2 == 0
            if not good or not all(type(at) in (int, float) and abs(at) < 1e9 for at in polygon):
                raise entry.wrong("has a polygon that is not x1, y1, x2, y2, x3, y3, …", "fix it")
        if not shape:
            raise entry.wrong("has an empty 'segmentation'", "give a mask, or leave the key out")
        return tool.merge(tool.frPyObjects(shape, height, width))
    runs = Record(shape, f"{entry.place}.segmentation", entry.where)
    if runs.get("size", LIST) != [height, width]:
        raise runs.wrong(f"has the size {runs.fields['size']}", f"its image has [{height}, {width}]")
    counts = runs.fields.get("counts")
    lengths = parse_counts(counts) if isinstance(counts, str) else whole_numbers(counts)
    if lengths is None or (lengths < 0).any() or lengths.sum() != height * width:
        raise runs.wrong(
            "has run lengths that do not fill the image",
            f"their sum must be {height} × {width}, height first; write the mask again",
        )
    if isinstance(counts, str):
        return {"size": [height, width], "counts": counts.encode()}
    return tool.frPyObjects({"size": [height, width], "counts": lengths.tolist()}, height, width)


def whole_numbers(counts: Any) -> np.ndarray | None:
    """Return a list of whole numbers as an array; None for anything else."""
    if not isinstance(counts, list) or not all(type(count) is int and count < 2**31 for count in counts):
        return None
    return np.array(counts, dtype=np.int64)


def parse_counts(text: str) -> np.ndarray | None:
    """Return the run lengths that a text of pycocotools means; None where it is broken.

    A character holds five bits and whether more follow. From the fourth length on, it is the difference to
    the last but one.

    >>> parse_counts("52203").tolist()
    [5, 2, 2, 2, 5]
    """
    code = np.frombuffer(text.encode("latin-1", errors="replace"), np.uint8).astype(np.int64) - 48
    if not len(code) or (code < 0).any() or (code > 63).any() or code[-1] & 32:
        return None
    last = np.flatnonzero((code & 32) == 0)
    first = np.r_[0, last[:-1] + 1]
    if (last - first).max() > 6:
        return None
    shift = 5 * (np.arange(len(code)) - np.repeat(first, last - first + 1))
    number = np.add.reduceat((code & 31) << shift, first)
    number = np.where(code[last] & 16, number - (1 << (5 * (last - first + 1))), number)
    number[1::2] = np.cumsum(number[1::2])
    number[2::2] = np.cumsum(number[2::2])
    return number


def box_masks(boxes: np.ndarray, height: int, width: int) -> list[Runs]:
    """Return boxes [n, 4] (left, top, width, height) as filled masks."""
    tool = extra("pycocotools.mask")
    return (
        tool.frPyObjects(np.ascontiguousarray(boxes, dtype=np.float64), height, width) if len(boxes) else []
    )


def overlaps(
    first: Sequence[Runs] | np.ndarray, second: Sequence[Runs] | np.ndarray, crowd: np.ndarray
) -> np.ndarray:
    """Return the intersection over union of two lists of masks, or of boxes [n, 4], as [first, second].

    Where `crowd` is true for one of the second, the union is the area of the first alone.
    """
    if not len(first) or not len(second):
        return np.zeros((len(first), len(second)))
    flags = np.asarray(crowd, dtype=np.uint8)
    pair = [
        side if isinstance(side, list) else np.asarray(side, dtype=np.float64) for side in (first, second)
    ]
    return np.asarray(extra("pycocotools.mask").iou(pair[0], pair[1], flags.tolist()))


def mask_boxes(masks: Sequence[Runs]) -> np.ndarray:
    """Return the tight boxes [n, 4] of masks."""
    tool = extra("pycocotools.mask")
    return np.asarray(tool.toBbox(list(masks))).reshape(-1, 4) if masks else np.zeros((0, 4))


def outline(mask: Runs) -> list[list[int]]:
    """Return the outline of a mask along the edges of its pixels: closed lines x1, y1, x2, y2, ….

    Only corners are listed. What lies inside by the even-odd rule is the mask, holes included.

    >>> outline({"size": [2, 3], "counts": b"24"})
    [[1, 0, 1, 2, 3, 2, 3, 0]]
    """
    height, width = mask["size"]
    lengths = parse_counts(mask["counts"].decode())
    assert lengths is not None, "masks are checked when they are read"
    inside = np.arange(len(lengths), dtype=np.int8) % 2
    pixels = np.pad(np.repeat(inside, lengths).reshape(width, height).T, 1)
    around = pixels[:-1, :-1] + pixels[:-1, 1:] + pixels[1:, :-1] + pixels[1:, 1:]
    # Two lines meet where two pixels touch at a corner alone: it counts twice.
    touching = (around == 2) & (pixels[:-1, :-1] == pixels[1:, 1:])
    y, x = (
        np.r_[one, two] for one, two in zip(np.nonzero(touching | (around % 2 == 1)), np.nonzero(touching))
    )
    # Along a row, and along a column, every second corner begins an edge that the next one ends.
    partner = np.empty((2, len(x)), np.int64)
    for side, order in zip(partner, (np.lexsort((x, y)), np.lexsort((y, x)))):
        side[order[0::2]], side[order[1::2]] = order[1::2], order[0::2]
    across, down = partner.tolist()
    points, free, lines = np.stack([x, y], axis=1).tolist(), [True] * len(x), []
    for start in range(len(x)):
        line, at = [], start
        while free[at]:
            after = down[at]
            free[at] = free[after] = False
            line += [*points[at], *points[after]]
            at = across[after]
        if line:
            lines.append(line)
    return lines
