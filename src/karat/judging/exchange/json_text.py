"""Reading json strictly: no endless nesting, no name twice, no NaN, and the line of what is wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from karat.judging.exchange.given import bad_line, shorten

LARGEST_RECORD = 2**24
"""One record, in characters: an answer has a few hundred, a task of Label Studio a few thousand."""
BLOCK = 10_000
"""How many lines are read together, and the most characters of such a line."""
CUT = "check that the file is complete"


class TwiceError(ValueError):
    """A name stands twice in an object, or a number is none."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; which of two equal names counts would depend on the reader."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError("has a name twice in one object")
    return found


def no_number(name: str) -> NoReturn:
    """Refuse NaN and infinity, which json does not have."""
    raise TwiceError(f"holds {name}, which is no json")


DECODER = json.JSONDecoder(object_pairs_hook=once, parse_constant=no_number)


def decode(text: str, start: int, line: int, where: Path) -> tuple[Any, int]:
    """Return the value that starts at a place of a text, and where it ends."""
    try:
        return DECODER.raw_decode(text, start)
    except RecursionError:
        raise bad_line(where, line, "is nested too deeply", "an answer is a flat object") from None
    except TwiceError as error:
        raise bad_line(where, line, str(error), "write each name once, and plain numbers") from None
    except json.JSONDecodeError as error:
        at = line + text.count("\n", start, error.pos)
        raise bad_line(where, at, f"is no json ({error.msg.lower()})", CUT) from None
    except ValueError:
        # Python refuses whole numbers of thousands of digits.
        raise bad_line(where, line, "has a number that is too long", "write plain numbers") from None


def line_blocks(data: bytes, where: Path) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """Yield the numbers and the objects of the lines that are not empty, thousands at a time.

    >>> list(line_blocks(b'{"a": 1}\\n\\n{"a": 2}', Path("a.jsonl")))
    [([1, 3], [{'a': 1}, {'a': 2}])]
    """
    # Only line feeds end a line: json texts may hold any other separator.
    stream, start = io.BytesIO(data), 1
    while raw := list(islice(stream, BLOCK)):
        texts = [one.decode().strip(" \t\r\n") for one in raw]
        numbers = [start + at for at, text in enumerate(texts) if text]
        texts = [text for text in texts if text]
        found = together(texts)
        if found is None:
            found = [one_line(text, number, where) for number, text in zip(numbers, texts)]
        yield numbers, found
        start += len(raw)


def together(texts: list[str]) -> list[dict[str, Any]] | None:
    """Return the objects of several lines, read as one list; None when they must be read one by one.

    A line end between them cannot stand within a text, and every line has to start and end an object: what
    one line leaves open, the next cannot close, except for objects within lists, which no answer has.
    """
    if (
        not all(text[0] == "{" and text[-1] == "}" for text in texts)
        or max(map(len, texts), default=0) > BLOCK
    ):
        return None
    try:
        found = DECODER.decode("[" + ",\n".join(texts) + "]")
    except (ValueError, RecursionError):
        return None
    return found if len(found) == len(texts) else None


def one_line(text: str, number: int, where: Path) -> dict[str, Any]:
    """Return the object of one line, or say what is wrong with it."""
    if len(text) > LARGEST_RECORD:
        raise bad_line(where, number, f"has more than {LARGEST_RECORD:,} characters", CUT)
    found, end = decode(text, 0, number, where)
    if end < len(text):
        raise bad_line(where, number, "has more after its object", "write one object per line")
    return as_object(found, number, where)


def each_element(data: bytes, where: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the object of every element of one long list.

    >>> list(each_element(b'[{"a": 1},\\n {"a": 2}]', Path("a.json")))
    [(1, {'a': 1}), (2, {'a': 2})]
    """
    text = data.decode()
    at, line = after_space(text, 0, 1)
    if text[at : at + 1] != "[":
        raise bad_line(where, line, "does not start with a list", "export as JSON, all tasks at once")
    at, line = after_space(text, at + 1, line)
    while text[at : at + 1] != "]":
        found, end = decode(text, at, line, where)
        yield line, as_object(found, line, where)
        line += text.count("\n", at, end)
        at, line = after_space(text, end, line)
        mark = text[at : at + 1]
        if mark == "]":
            break
        if mark != ",":
            raise bad_line(where, line, "ends within the list" if not mark else "misses a comma", CUT)
        at, line = after_space(text, at + 1, line)
        if text[at : at + 1] == "]":
            raise bad_line(where, line, "has a comma before the end of the list", CUT)
    rest, line = after_space(text, at + 1, line)
    if rest < len(text):
        raise bad_line(where, line, "has more after the list", CUT)


def after_space(text: str, at: int, line: int) -> tuple[int, int]:
    """Return the place of the next character that is no white space, and its line."""
    start = at
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at, line + text.count("\n", start, at)


def as_object(value: Any, line: int, where: Path) -> dict[str, Any]:
    """Return an object, or raise."""
    if not isinstance(value, dict):
        raise bad_line(where, line, f"is {shorten(value)}, not an object", "write {…}")
    return value
