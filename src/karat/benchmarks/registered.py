"""The user's own benchmarks: a name, the source that reads it, and its settings, in one json file."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from karat.validation import InputError, MissingDataError, write_file

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def registry_file() -> Path:
    """Return the file: in ``KARAT_CONFIG``, else in ``karat`` in the user's configuration folder."""
    chosen = os.environ.get("KARAT_CONFIG")
    base = (
        Path(chosen)
        if chosen
        else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "karat"
    )
    return base / "benchmarks.json"


def registered() -> dict[str, dict[str, Any]]:
    """Return what is registered: by name, the source and its options."""
    path = registry_file()
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(name): {"source": str(e["source"]), "options": dict(e["options"])}
            for name, e in found.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise InputError(
            f"is damaged ({type(error).__name__})", where=path, fix="mend or remove it"
        ) from None


def store(entries: dict[str, dict[str, Any]]) -> None:
    """Write the registry, whole or not at all."""
    path = registry_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    write_file(draft, lambda place: place.write_text(json.dumps(entries, indent=1), encoding="utf-8"))
    os.replace(draft, path)


def remember(name: str, source: str, options: dict[str, Any]) -> None:
    """Register a benchmark under a name; one that is taken raises."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be a name", fix="use letters, digits, dots, dashes and underscores"
        )
    entries = registered()
    if name in entries:
        raise InputError(f"the name {name!r} is taken", fix="choose another with --name, or remove it first")
    store({**entries, name: {"source": source, "options": options}})


def forget(name: str) -> None:
    """Remove a benchmark from the registry; its files stay."""
    entries = registered()
    if name not in entries:
        raise MissingDataError(
            f"no benchmark {name!r} was added", fix=f"added: {', '.join(entries) or 'none'}"
        )
    del entries[name]
    store(entries)
