"""A folder that karat wrote: its ``model.json`` names the format, and the format is registered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat._util import parsing
from karat.errors import InputError, MissingDataError
from karat.models.embedding_cache import digest_folder
from karat.models.encoder import (
    MODEL_FORMATS,
    MODEL_HEAD,
    Encode,
    Encoder,
    Scheme,
    as_encoder,
    register_encoder,
)
from karat.models.local_files import check_model_folder, failures, version_of

LIBRARIES = ("karat", "numpy", "opencv-python-headless", "pillow", "torch")
"""What computes the vectors of such a model."""
FIX = "give a folder that karat fit or karat train wrote, hf:FOLDER, sentence:FOLDER, or module:function"

FOREIGN = {"modules.json": "sentence", "config.json": "hf", "open_clip_config.json": "open_clip"}
"""By the file that a folder of another library has, how a model of it is named."""


def load(name: str) -> Encoder:
    """Return the model of a folder, by its format."""
    folder = Path(name)
    if not folder.is_dir():
        raise MissingDataError("there is no such folder", where=folder, fix=FIX)
    head = folder / MODEL_HEAD
    if not head.is_file():
        kinds = (path.name for path in folder.iterdir() if path.name in FOREIGN)
        fix = next((f"write {FOREIGN[kind]}:{name}" for kind in sorted(kinds, reverse=True)), FIX)
        raise MissingDataError(f"there is no {MODEL_HEAD}", where=folder, fix=fix)
    check_model_folder(folder)
    with parsing(head, "is not a description of a model", FIX):
        named = str(json.loads(head.read_text(encoding="utf-8"))["format"])
    if named not in MODEL_FORMATS:
        known = f"this version of karat reads {', '.join(MODEL_FORMATS)}"
        raise InputError(f"has format {named!r}", where=head, fix=known)
    with failures(folder, FIX):
        encoder = as_encoder(MODEL_FORMATS[named](folder), folder.resolve().name)
    encoder = replace(encoder, images=safely(encoder.images, folder), texts=safely(encoder.texts, folder))
    facts = {"architecture": named, "weights.sha256": digest_folder(folder)}
    installed = (f"{library} {version_of(library)}" for library in LIBRARIES)
    return replace(
        encoder,
        fingerprint=encoder.fingerprint or digest_folder(folder, *installed),
        facts=lambda: {**facts, **encoder.facts()},
    )


def safely(encode: Encode | None, folder: Path) -> Encode | None:
    """Return a function whose failures are one sentence: parts may fit each other in shape alone."""

    def call(items: list[Any]) -> Any:
        assert encode is not None
        with failures(folder, FIX, "cannot be computed with"):
            return encode(items)

    return None if encode is None else call


register_encoder(
    Scheme(
        "folder",
        "FOLDER",
        "a folder that `karat fit` wrote",
        load,
        lambda name: ":" not in name or Path(name).exists(),
    )
)
