"""json: ranked lists as the package `eccv_caption` takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from karat._util import read_text
from karat.errors import InputError
from karat.runs.formats.content import Content, FormatWriter, by_direction, plain, register
from karat.runs.rankings import FORM


def read_dictionary(path: Path) -> dict[str, Any]:
    """Read a json file that holds a dictionary, as ranked lists and ids do."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"is not json ({error})", where=path, fix="write it with json.dump") from None
    if not isinstance(content, dict):
        raise InputError(f"is a {type(content).__name__}, not a dictionary", where=path, fix=FORM)
    return content


def read_json(path: Path) -> Content:
    """Read ranked lists."""
    return Content(lists=read_dictionary(path))


def write_json(content: Content, path: Path) -> None:
    """Write ranked lists; their scores have no place in this format."""
    lists = {
        direction: {str(query): plain(listed) for query, listed in queries.items()}
        for direction, queries in by_direction(content.lists or {}).items()
    }
    path.write_text(json.dumps(lists.get("", lists)), encoding="utf-8")


register(".json", read_json, FormatWriter(write_json, ("lists",)))
