"""Vocabularies on disk: parameters as json, centres as safetensors; nothing in them is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from karat.systems.images.parameters import RANGES, check_parameters
from karat.validation import InputError, MissingDataError, parsing, write_file

FORMAT, VERSION = "karat-image-features", 1
HEAD, TABLE = "image-features.json", "image-features.safetensors"
WIDTHS = {"colour": 3, "texture": 24, "sift": 128}
"""Numbers in a centre of each kind."""
# How fast and where something is done is no part of what was learned.
KEPT = (*RANGES, "unreadable")


def save_vocabularies(
    folder: str | Path, params: Mapping[str, Any], vocabularies: Mapping[str, np.ndarray]
) -> None:
    """Write both files into a folder, which is made if need be."""
    from safetensors.numpy import save_file

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", where=folder, fix="choose another") from None
    kept = {name: params[name] if isinstance(params[name], str) else int(params[name]) for name in KEPT}
    head = {"format": FORMAT, "version": VERSION, "parameters": kept}
    centres = {name: np.ascontiguousarray(table) for name, table in vocabularies.items()}
    write_file(folder / TABLE, lambda path: save_file(centres, path))
    text = json.dumps(head, indent=1) + "\n"
    write_file(folder / HEAD, lambda path: path.write_text(text, encoding="utf-8"))


def load_vocabularies(folder: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return parameters and centres, checked."""
    from safetensors.numpy import load_file

    head, table = Path(folder) / HEAD, Path(folder) / TABLE
    for path in (head, table):
        if not path.is_file():
            raise MissingDataError(
                "there is no such file", where=path, fix="write it with ImageFeatures.save"
            )
    with parsing(head, "is no description of image features", "write it with ImageFeatures.save"):
        read = json.loads(head.read_text(encoding="utf-8"))
        if (read["format"], read["version"]) != (FORMAT, VERSION):
            raise InputError(
                f"has format {read['format']!r}, version {read['version']!r}",
                where=head,
                fix="use the version of karat that wrote it",
            )
        params = {name: read["parameters"][name] for name in KEPT}
        check_parameters(params)
    with parsing(table, "is no complete safetensors file", "write it with ImageFeatures.save"):
        vocabularies = load_file(table)
    for name, width in WIDTHS.items():
        centres = vocabularies.get(name)
        fits = centres is not None and centres.dtype == np.float32 and centres.ndim == 2
        if centres is None or not fits or not 1 <= len(centres) <= params[f"{name}_words"]:
            raise InputError(f"has no usable vocabulary {name}", where=table, fix="write it again")
        if centres.shape[1] != width or not np.isfinite(centres).all():
            raise InputError(f"holds a damaged vocabulary {name}", where=table, fix="write it again")
    return params, {name: vocabularies[name] for name in WIDTHS}
