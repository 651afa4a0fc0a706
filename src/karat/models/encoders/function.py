"""``module:function``: your own model, as a function of texts, two functions, or an object that encodes.

The module that the name mentions is imported, from the working directory too, as `python -m` does; that is
the wish of whoever names it. Nothing that a data file names is ever imported.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.models.encoder import Encode, Encoder, Scheme, as_encoder, register_encoder
from karat.runs import Fact


def load(name: str) -> Encoder:
    """Return the model that a module has under a name, or the module itself where no name is given.

    Two names, separated by a comma, are the functions of pictures and of texts. A class is called without
    arguments.
    """
    module, _, path = name.partition(":")
    here = os.getcwd()
    paths = path.split(",") if path else []
    if len(paths) > 2:
        raise InputError(f"names {len(paths)} functions", where=name, fix="name one, or one for each side")
    with importable(here):
        home = imported(module, name)
        things = tuple(named(home, module, part.strip()) for part in paths)
    encoder = as_encoder(home if not things else things if len(things) == 2 else things[0], name)
    return replace(
        encoder,
        images=called_in(here, encoder.images),
        texts=called_in(here, encoder.texts),
        facts=lambda: {**source_facts(home), **encoder.facts()},
    )


@contextmanager
def importable(folder: str) -> Iterator[None]:
    """Find modules in a folder first, inside the block."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(folder)


def called_in(folder: str, encode: Encode | None) -> Encode | None:
    """Return a function that may import modules of a folder when it is called."""

    def call(items: list[Any]) -> Any:
        assert encode is not None
        with importable(folder):
            return encode(items)

    return None if encode is None else call


def named(home: Any, module: str, path: str) -> Any:
    """Return what a module has under a name; a class is called."""
    try:
        thing = attrgetter(path)(home)
    except AttributeError:
        fix = f"name a function or an object that {module} defines"
        raise InputError(f"has no {path!r}", where=f"module {module}", fix=fix) from None
    return thing() if isinstance(thing, type) else thing


def source_facts(module: Any) -> dict[str, Fact]:
    """Return the digest of a module's file: a model of the same name with other code is another one."""
    path = Path(getattr(module, "__file__", None) or "")
    return {"source.sha256": hashlib.sha256(path.read_bytes()).hexdigest()} if path.is_file() else {}


def imported(module: str, name: str) -> Any:
    """Return a module, or raise."""
    fix = (
        "give a folder, hf:FOLDER, sentence:FOLDER, or module:function of a module that can be imported here"
    )
    if not all(part.isidentifier() for part in module.split(".")):
        raise InputError(f"there is no model {name!r}", fix=fix)
    try:
        return importlib.import_module(module)
    except (ImportError, SyntaxError) as error:
        raise InputError(f"module {module} cannot be imported ({error})", fix=fix) from None


register_encoder(
    Scheme(
        "function",
        "MODULE:FUNCTION",
        "your own Python function of texts, or an object with `encode_images` and `encode_texts`, or either; "
        "`MODULE:IMAGES,TEXTS` for two functions",
        load,
        lambda name: True,
    )
)
