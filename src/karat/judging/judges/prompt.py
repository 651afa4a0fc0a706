"""The text that a chat model is asked with, and what its reply means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from karat.errors import InputError, MissingDataError
from karat.judging.forms import Form

FIELDS = ("question", "answers", "guidelines", "caption")
PLACE = re.compile(r"\$([a-z]+)")
MARK = "DESCRIPTION"
LONGEST = 100_000
"""Characters of a prompt or a reply that are read."""


def load_prompt(name: str | Path = "default") -> str:
    """Return a prompt: one of karat's by its name, or a text file.

    A prompt must hold $caption and may hold $question, $answers and $guidelines.

    >>> "$caption" in load_prompt()
    True
    """
    packaged = resources.files("karat.judging.judges") / "prompts" / f"{name}.txt"
    if re.fullmatch(r"[a-z-]+", str(name)) and packaged.is_file():
        text = packaged.read_text(encoding="utf-8")
    else:
        path = Path(name)
        if not path.is_file():
            raise MissingDataError("there is no such prompt", where=path, fix="give 'default' or a text file")
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            raise InputError("cannot be read as text", where=path, fix="save it as UTF-8") from None
    if len(text) > LONGEST:
        raise InputError(f"has {len(text):,} characters", where=name, fix=f"at most {LONGEST:,}")
    if "$caption" not in text:
        raise InputError("never mentions $caption", where=name, fix="write it where the caption goes")
    return text


def fill(prompt: str, form: Form, caption: str) -> str:
    """Return the prompt for one caption.

    Each $field is replaced once: what a caption contains is never read as a field, nor can it close its own
    marks.

    >>> from karat.judging import load_form
    >>> fill("$caption? $answers", load_form("grid"), "$answers")
    '$answers? - yes: ...'
    """
    parts = {
        "question": form.question,
        "answers": "\n".join(f"- {one.code}: {one.text}" for one in form.answers),
        "guidelines": "\n".join(form.guidelines),
        "caption": caption.replace(f"<<<{MARK}", "<").replace(f"{MARK}>>>", ">"),
    }
    return PLACE.sub(lambda found: parts.get(found.group(1), found.group(0)), prompt)


def read_reply(reply: str, form: Form) -> str | None:
    """Return the code that a reply gives; None when it gives none, or more than one.

    A JSON object with "answer" counts, wherever it stands; else the reply must be a code or an answer's
    text and nothing more.

    >>> from karat.judging import load_form
    >>> form = load_form("pair")
    >>> [read_reply(text, form) for text in ('{"answer": "yes", "why": "fits"}', "No.", "yes or no")]
    ['yes', 'no', None]
    """
    reply = reply[:LONGEST]
    known = {plain(one.code): one.code for one in form.answers}
    known |= {plain(one.text): one.code for one in form.answers}
    objects = [value for value in found_objects(reply) if "answer" in value]
    if objects:
        said = {known.get(plain(str(value["answer"]))) for value in objects}
        return said.pop() if len(said) == 1 else None
    return known.get(plain(reply))


def found_objects(text: str) -> Iterator[dict]:
    """Yield the JSON objects in a text, such as one inside a fence of backticks."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def plain(text: str) -> str:
    """Return a text without what people vary: case, blanks, dots, quotes.

    >>> plain(" 'Mostly_No'. "), plain("100% YES")
    ('mostly no', '100% yes')
    """
    return " ".join(re.sub(r"[\"'.!*`,_-]+", " ", text.lower()).split())
