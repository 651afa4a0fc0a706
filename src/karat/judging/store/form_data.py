"""A form as json text, as it is kept inside a project: data, checked when it is read."""

from __future__ import annotations

import json

from karat.errors import InputError
from karat.judging.forms import Form, form_from_data, form_to_data

MOST = 2_000_000
"""Characters of the longest form that is read."""


def write_form(form: Form) -> str:
    """Return a form as json text; raise for one that could not be read back."""
    data = form_to_data(form)
    form_from_data(data)
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def read_form(text: str) -> Form:
    """Return the form that `write_form` wrote, or raise.

    >>> from karat.judging import load_form
    >>> read_form(write_form(load_form("expert"))) == load_form("expert")
    True
    """
    fix = "restore a copy of the project"
    if len(text) > MOST:
        raise InputError(f"its form has {len(text):,} characters", fix=fix)
    try:
        return form_from_data(json.loads(text))
    except InputError as error:
        raise InputError(f"its form cannot be read ({error.what})", fix=fix) from None
    except (ValueError, RecursionError):
        raise InputError("its form cannot be read", fix=fix) from None
