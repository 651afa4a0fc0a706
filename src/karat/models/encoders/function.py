"""``module:function``: your own model, as a Python function of texts or an object that encodes.

The module that the name mentions is imported, from the working directory too, as `python -m` does; that is
the wish of whoever names it. Nothing that a data file names is ever imported.
"""

from __future__ import annotations

import importlib
import os
import sys
from operator import attrgetter
from typing import Any

from karat.errors import InputError
from karat.models.encoder import Encoder, Scheme, as_encoder, register_encoder


def load(name: str) -> Encoder:
    """Return the model that a module has under a name, or the module itself where no name is given.

    A class is called without arguments.
    """
    module, _, path = name.partition(":")
    thing = imported(module, name)
    if path:
        try:
            thing = attrgetter(path)(thing)
        except AttributeError:
            fix = f"name a function or an object that {module} defines"
            raise InputError(f"has no {path!r}", where=f"module {module}", fix=fix) from None
    return as_encoder(thing() if isinstance(thing, type) else thing, name)


def imported(module: str, name: str) -> Any:
    """Return a module, found in the working directory too; or raise."""
    fix = "give a folder, sentence:FOLDER, or module:function of a module that can be imported from here"
    if not all(part.isidentifier() for part in module.split(".")):
        raise InputError(f"there is no model {name!r}", fix=fix)
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"module {module} cannot be imported ({error})", fix=fix) from None
    finally:
        sys.path.remove(here)


register_encoder(
    Scheme(
        "function",
        "MODULE:FUNCTION",
        "your own Python function of texts, or an object with `encode_images` and `encode_texts`, or either",
        load,
        lambda name: True,
    )
)
