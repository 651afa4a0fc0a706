"""json: ranked lists as the package `eccv_caption` takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat.runs.formats.content import Content, Writer, by_direction, register
from karat.runs.rankings import FORM
from karat.validation import InputError, check_text


def read_dictionary(path: Path) -> dict[str, Any]:
    """Read a json file that holds a dictionary, as ranked lists and ids do."""
    check_text(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, MemoryError, OSError) as error:
        raise InputError(f"is not json ({error})", where=path, fix="write it with json.dump") from None
    if not isinstance(found, dict):
        raise InputError(f"holds no dictionary but a {type(found).__name__}", where=path, fix=FORM)
    return found


def read_json(path: Path) -> Content:
    """Read ranked lists."""
    return Content(lists=read_dictionary(path))


def plain(ids: Any) -> list[Any]:
    """Return ids as Python's own numbers and text."""
    return np.asarray(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)


def write_json(content: Content, path: Path) -> None:
    """Write ranked lists; their scores have no place in this format."""
    lists = {
        direction: {str(query): plain(listed) for query, listed in found.items()}
        for direction, found in by_direction(content.lists or {}).items()
    }
    path.write_text(json.dumps(lists.get("", lists)), encoding="utf-8")


register(".json", read_json, Writer(write_json, ("lists",)))
