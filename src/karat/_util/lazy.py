"""Packages whose public names are loaded on first use: importing them costs next to nothing.

This file is part of every import of karat, so it imports nothing that Python has not loaded already.
"""

from __future__ import annotations

import importlib
import itertools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def exports(package: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    The public names are those that its ``__init__.py`` imports under ``if TYPE_CHECKING:``, each as itself
    (``from karat.stats.alpha import SCALES as SCALES``). Type checkers and editors follow these imports; at
    run time each happens when its name is first used. So a name is listed once.

    Parameters
    ----------
    package, file
        Its ``__name__`` and ``__file__``.

    Examples
    --------
    >>> import karat.stats
    >>> names, get, _ = exports("karat.stats", karat.stats.__file__)
    >>> "Estimate" in names, get("Estimate").__name__
    (True, 'Estimate')
    """
    home = homes(file)

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(importlib.import_module(home[name]), name)
        except ModuleNotFoundError as error:
            from karat._util.extras import EXTRAS, missing

            if (error.name or "").split(".")[0] not in EXTRAS:
                raise
            raise missing(error.name or "") from None
        # The next time it is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    return sorted(home), get, lambda: sorted(home)


def homes(file: str) -> dict[str, str]:
    """Return, for each name under ``if TYPE_CHECKING:`` of an ``__init__.py``, the module that defines it."""
    with open(file, encoding="utf-8") as handle:
        block = handle.read().partition("if TYPE_CHECKING:\n")[2].partition("\n\n")[0]
    home = {}
    module = ""
    words = block.replace("(", " ").replace(")", " ").replace(",", " ").split()
    for word, following in itertools.pairwise(words):
        if word == "from":
            module = following
        elif word == "as":
            home[following] = module
    return home
