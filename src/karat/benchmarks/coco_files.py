"""The captions and boxes of COCO's Karpathy test split, as tsv and json files beside the truths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from karat.benchmarks.ids import Ids
from karat.benchmarks.objects import Objects
from karat.benchmarks.reading import read_table, read_text
from karat.validation import InputError

COLUMNS = ("caption_id", "image_id", "caption_tokenised", "caption_raw")


def read_captions(path: Path, captions: Ids) -> list[str]:
    """Return the raw captions in the order of `captions`.

    The file is a tsv with the columns caption_id, image_id, caption_tokenised and caption_raw.
    """
    ids, _, _, texts = read_table(Path(path), COLUMNS)
    row = captions.arrangement(ids, path)
    return [texts[k] for k in row.tolist()]


def read_boxes(path: Path, images: Ids) -> Objects:
    """Return the objects of every image.

    The file is ``{"categories": [names], "images": {image id: [[category, x, y, width, height], …]}}``
    with centres and sizes as shares of the image.
    """
    try:
        found = json.loads(read_text(Path(path)))
        names = [str(name) for name in found["categories"]]
        rows = [(image, *box) for image, boxes in found["images"].items() for box in boxes]
        table = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), 5)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"is not a file of boxes ({type(error).__name__}: {error})",
            where=path,
            fix='give {"categories": […], "images": {id: [[category, x, y, width, height], …]}}',
        ) from None
    image = images.index([row[0] for row in rows], path)
    centre, size = table[:, 1:3], table[:, 3:5]
    return Objects(tuple(names), image, table[:, 0], np.hstack([centre - size / 2, size]))
