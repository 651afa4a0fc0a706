"""Arrays by key, as npz and safetensors hold them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks.ids import as_id_array
from karat.runs.formats.content import Content
from karat.validation import InputError, plural

TABLES = {
    "images": ("images", "img", "image_embeddings"),
    "captions": ("captions", "txt", "text_embeddings"),
}
IDS = {"images": "image_ids", "captions": "caption_ids"}
FIX = (
    "give one table of scores, or the embedding tables 'images' and 'captions'; "
    "ids are called 'image_ids' and 'caption_ids'"
)


def content_of(arrays: Mapping[str, Any], where: Path) -> Content:
    """Return what named arrays mean: embeddings by their keys, else the one table there is."""
    ids = {kind: as_ids(arrays[key], f"{where}, {key}") for kind, key in IDS.items() if key in arrays}
    sides = {kind: [key for key in keys if key in arrays] for kind, keys in TABLES.items()}
    for kind, keys in sides.items():
        if len(keys) > 1:
            raise InputError(f"names the {kind} twice, {' and '.join(keys)}", where=where, fix="keep one")
    if all(sides.values()):
        return Content(tables=tuple(arrays[keys[0]] for keys in sides.values()), ids=ids)
    tables = [key for key, array in arrays.items() if key not in IDS.values() and len(array.shape) == 2]
    if len(tables) != 1:
        named = ", ".join(repr(key) for key in list(arrays)[:6]) or "none"
        raise InputError(
            f"holds {plural(len(tables), 'table')} but not one of scores (keys: {named})",
            where=where,
            fix=FIX,
        )
    return Content(tables=(arrays[tables[0]],), ids=ids)


def as_ids(array: Any, where: str) -> np.ndarray:
    """Return an array of ids as whole numbers or text, or raise."""
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iuUS":
        raise InputError(
            f"are ids of {array.dtype} in {plural(array.ndim, 'dimension')}",
            where=where,
            fix="save a plain list of whole numbers or of text",
        )
    try:
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        # Broken bytes may be no text at all, which shows only when it is taken out.
        array.tolist()
        return as_id_array(array)
    except ValueError:
        raise InputError("are ids that are not text", where=where, fix="save them as text") from None


def arrays_of(content: Content) -> dict[str, Any]:
    """Return a content's tables and ids by the keys that `content_of` knows."""
    names = ("scores",) if len(content.tables) == 1 else tuple(TABLES)
    named = dict(zip(names, content.tables))
    return named | {IDS[kind]: as_id_array(ids) for kind, ids in content.ids.items()}
