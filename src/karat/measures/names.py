"""Names of registered things, such as estimators: written as measures are, ``name(parameter=value, …)``."""

from __future__ import annotations

import re
from typing import TypeVar

from karat._util import Registry
from karat.errors import InputError
from karat.measures.measure import Named, read_arguments

N = TypeVar("N", bound=Named)

NAME = re.compile(r"^\s*(?P<base>[A-Za-z][\w-]*)\s*(?:\((?P<args>[^()]*)\))?\s*$")


def parse_name(name: str | N, registry: Registry[type[N]]) -> N:
    """Return the thing of a registry that `name` means; its `str` is the canonical name.

    >>> from karat.estimation import ESTIMATORS
    >>> parse_name("naive", ESTIMATORS)
    naive
    """
    if not isinstance(name, str):
        return name
    match = NAME.match(name)
    if match is None:
        raise InputError(
            f"{name!r} is not the name of a {registry.kind}", fix=f"write for example {next(iter(registry))}"
        )
    kind = registry[match["base"]]
    return kind(**read_arguments(kind, match["args"]))
