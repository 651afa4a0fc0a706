"""Forms as TOML files: those that come with karat, and your own.

Every ``.toml`` file in this folder is a form of karat, named like the file: to add one, add a file.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from karat._util import check_text, parsing, write_file
from karat.errors import InputError, MissingDataError, unknown_name
from karat.forms.form import Form


def names_in(folder: Traversable) -> tuple[str, ...]:
    """Return the names of the forms in a folder: those of its TOML files, sorted."""
    return tuple(sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".toml")))


FOLDER = resources.files("karat.forms")
FORMS = names_in(FOLDER)
"""The names of the forms that come with karat."""
LARGEST = 1_000_000
"""The largest size of a form's file, in bytes."""


def load_form(name: str | Path) -> Form:
    """Return a form by its name, or read one from a TOML file.

    Parameters
    ----------
    name
        One of `FORMS`, or the path of a ``.toml`` file.

    Examples
    --------
    >>> [answer.text for answer in load_form("pair").answers]
    ['100% yes', 'Partially yes, but …', 'Mostly no, because …', '100% no']
    >>> load_form("grid").columns
    10
    """
    if str(name) in FORMS:
        return built_in_form(str(name))
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        raise unknown_name("form", str(name), [*FORMS, "a .toml file"])
    if not path.is_file():
        raise MissingDataError("there is no such file", where=path, fix="save_form writes one to start from")
    if path.stat().st_size > LARGEST:
        raise InputError(
            "has more than a million bytes", where=path, fix="shorten the form to a page of text"
        )
    check_text(path)
    with parsing(path, "is not TOML", "compare it with a file that save_form writes"):
        text = path.read_text(encoding="utf-8")
    return parse_form(text, str(path))


@cache
def built_in_form(name: str) -> Form:
    """Return a form that comes with karat; its name must be that of its file."""
    file = f"{name}.toml"
    form = parse_form((FOLDER / file).read_text(encoding="utf-8"), file)
    if form.name != name:
        raise InputError(
            f"the name is {form.name!r}", where=file, fix=f"set name = {name!r}, like the file's"
        )
    return form


def parse_form(text: str, where: str) -> Form:
    """Return the form in a TOML text."""
    import tomllib

    # Loads pydantic, which the names of forms do not need.
    from karat.forms.form_data import form_from_data

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"is not TOML ({error})", where=where, fix="fix that line") from None
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
    from karat.forms.form_data import form_from_data, form_to_data

    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(
            f"has the extension {path.suffix!r}", where=path, fix="give a name that ends in .toml"
        )
    # A form made in Python may contain mistakes: they are reported here, not when the file is read.
    data = form_to_data(form_from_data(form_to_data(form), form.name))
    write_file(path, lambda file: file.write_text(toml_of(data), encoding="utf-8"))


def toml_of(data: dict[str, Any], path: str = "") -> str:
    """Return TOML: plain values first, then tables."""
    tables = {name for name, value in data.items() if is_table(value)}
    lines = [f"{name} = {value_of(value)}" for name, value in data.items() if name not in tables]
    for name in (name for name in data if name in tables):
        here = f"{path}{name}"
        if isinstance(data[name], dict):
            lines += ["", f"[{here}]", toml_of(data[name], f"{here}.")] if data[name] else []
        else:
            lines += [
                line for entry in data[name] for line in ("", f"[[{here}]]", toml_of(entry, f"{here}."))
            ]
    return "\n".join(lines) + ("" if path else "\n")


def is_table(value: Any) -> bool:
    """Return whether a value is written as tables of its own."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
    )


def value_of(value: Any) -> str:
    """Return a plain value in TOML, where texts, numbers and truth values are written as in json.

    >>> value_of(["a \\"b\\"", "é"]), value_of(True), value_of(0.5)
    ('["a \\\\"b\\\\"", "é"]', 'true', '0.5')
    """
    return json.dumps(value, ensure_ascii=False)
