"""Packages whose public names are loaded on first use: importing them costs next to nothing.

This file is part of every import of karat, so it imports nothing that Python has not loaded already.
"""

from __future__ import annotations

import importlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


LATER: dict[str, tuple[str, ...]] = {}
"""Per kind of things that a registry holds, the modules of later packages that register some; karat's own
``__init__.py`` fills it, since a package knows none that comes after it."""


def exports(
    package: str, file: str, hint: Callable[[str], str] | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    The public names are those that its ``__init__.py`` imports under ``if TYPE_CHECKING:``, each under the
    name that it has there (``from karat.stats.alpha import SCALES as SCALES``). Type checkers and editors
    follow these imports; at run time each happens when its name is first used. So a name is listed once.
    Packages inside it need no listing to be found.

    Parameters
    ----------
    package, file
        Its ``__name__`` and ``__file__``.
    hint
        Returns what else a wrong name may mean, or nothing; by default the nearest public names.

    Examples
    --------
    >>> import karat.stats
    >>> names, get, _ = exports("karat.stats", karat.stats.__file__)
    >>> "Estimate" in names, get("Estimate").__name__
    (True, 'Estimate')
    """
    home = homes(file)

    def get(name: str) -> Any:
        if home.get(name, (package, ""))[0] == package and is_package(file, name):
            return importlib.import_module(f"{package}.{name}")
        if name not in home:
            # Late: nearly every program does without it.
            from karat.guesses import did_you_mean

            said = "" if name.startswith("_") else hint(name) if hint else did_you_mean(name, home)
            wrong = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(f"{wrong}; {said}" if said else wrong)
        module, original = home[name]
        try:
            value = getattr(importlib.import_module(module), original)
        except ModuleNotFoundError as error:
            from karat._util.extras import EXTRAS, missing

            if (error.name or "").split(".")[0] not in EXTRAS:
                raise
            raise missing(error.name or "") from None
        # The next time it is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    return sorted(home), get, lambda: sorted(home)


def homes(file: str) -> dict[str, tuple[str, str]]:
    """Return per name under ``if TYPE_CHECKING:`` of an ``__init__.py`` its module and its name there."""
    with open(file, encoding="utf-8") as handle:
        block = handle.read().partition("if TYPE_CHECKING:\n")[2].partition("\n\n")[0]
    home = {}
    module = ""
    words = block.replace("(", " ").replace(")", " ").replace(",", " ").split()
    for before, word, following in zip(["", *words], words, words[1:]):
        if word == "from":
            module = following
        elif word == "as":
            home[following] = (module, before)
    return home


def is_package(file: str, name: str) -> bool:
    """Whether a package of this name lies in that of a file."""
    return (
        not name.startswith("_")
        and name.isidentifier()
        and os.path.isfile(os.path.join(os.path.dirname(file), name, "__init__.py"))
    )
