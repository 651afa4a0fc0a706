"""Forms as files: four that come with karat, and a team's own, in TOML.

- ``pair``: is the image described correctly? Four answers, reasons and kinds of error when unsure
  (ECCV Caption, §3.2 and appendix B.1).
- ``grid``: ten captions beside an image, those that describe it are checked (Hodosh et al. 2013, §4.3.2).
- ``expert``: a scale from 1 to 4 (Hodosh et al. 2013, §4.2.1 and figure 4).
- ``misread``: what an image that was found got wrong, and 1 to 10 (Explainable retrieval, §4.2).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from karat._util import check_text, parsing, write_file
from karat.errors import InputError, MissingDataError, unknown_name
from karat.judging.forms.form import Form
from karat.judging.forms.form_data import form_from_data, form_to_data

__all__ = ["FORMS", "form_from_data", "form_to_data", "load_form", "save_form"]

FORMS = ("pair", "grid", "expert", "misread")
"""The forms that come with karat."""
LARGEST = 1_000_000
"""Bytes; a form is a page."""


def load_form(name: str | Path) -> Form:
    """Return a form by its name, or read one from a TOML file.

    Parameters
    ----------
    name
        One of `FORMS`, or the path of a ``.toml`` file.

    Examples
    --------
    >>> [one.text for one in load_form("pair").answers]
    ['100% yes', 'Partially yes, but …', 'Mostly no, because …', '100% no']
    >>> load_form("grid").columns
    10
    """
    if str(name) in FORMS:
        return own_form(str(name))
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        raise unknown_name("form", str(name), [*FORMS, "a .toml file"])
    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix="save_form writes one to start from")
    if path.stat().st_size > LARGEST:
        raise InputError("has more than a million bytes", where=path, fix="a form is a page of text")
    check_text(path)
    with parsing(path, "is no TOML", "see the forms that save_form writes"):
        text = path.read_text(encoding="utf-8")
    return parse_form(text, str(path))


@cache
def own_form(name: str) -> Form:
    """Return a form that comes with karat."""
    file = resources.files("karat.judging") / "forms" / f"{name}.toml"
    return parse_form(file.read_text(encoding="utf-8"), f"{name}.toml")


def parse_form(text: str, where: str) -> Form:
    """Return the form in a TOML text."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"is no TOML ({error})", where=where, fix="mend that line") from None
    return form_from_data(data, where)


def save_form(form: Form, path: str | Path) -> None:
    """Write a form into a TOML file, to be edited and read again with `load_form`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_form(load_form("expert"), f"{folder}/mine.toml")
    ...     load_form(f"{folder}/mine.toml") == load_form("expert")
    True
    """
    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(f"has the extension {path.suffix!r}", where=path, fix="forms are .toml files")
    # What is written can be read again: mistakes of a form made by hand show here.
    data = form_to_data(form_from_data(form_to_data(form), form.name))
    write_file(path, lambda file: file.write_text(toml_of(data), encoding="utf-8"))


def toml_of(data: dict[str, Any], path: str = "") -> str:
    """Return TOML: plain values first, then tables."""
    tables = {name for name, one in data.items() if is_table(one)}
    lines = [f"{name} = {value_of(one)}" for name, one in data.items() if name not in tables]
    for name in (name for name in data if name in tables):
        here = f"{path}{name}"
        if isinstance(data[name], dict):
            lines += ["", f"[{here}]", toml_of(data[name], f"{here}.")] if data[name] else []
        else:
            lines += [line for one in data[name] for line in ("", f"[[{here}]]", toml_of(one, f"{here}."))]
    return "\n".join(lines) + ("" if path else "\n")


def is_table(value: Any) -> bool:
    """Whether a value is written as tables of its own."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def value_of(value: Any) -> str:
    """Return a plain value in TOML, whose texts, numbers and truth values are written like json's.

    >>> value_of(["a \\"b\\"", "é"]), value_of(True), value_of(0.5)
    ('["a \\\\"b\\\\"", "é"]', 'true', '0.5')
    """
    return json.dumps(value, ensure_ascii=False)
