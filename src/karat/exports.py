"""Public names that are loaded when first asked for, so that importing a package costs next to nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names live in other modules.

    Parameters
    ----------
    package
        Its ``__name__``.
    home
        Per public name, the module that defines it.

    Examples
    --------
    >>> get = lazily("karat.exports", {"sqrt": "math"})
    >>> get("sqrt")(9.0)
    3.0
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home[name]), name)
        # The next time it is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    return get
