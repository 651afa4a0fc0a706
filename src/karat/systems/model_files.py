"""A fitted baseline on disk: what was chosen as json, what was learned as arrays; nothing is executed."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from karat.captions.system_words import SystemWords
from karat.systems.images import ImageFeatures
from karat.systems.kcca import KCCA, LEARNED
from karat.systems.model import ImageTextModel
from karat.systems.text import text_kernel
from karat.systems.text.encoded import encode
from karat.validation import InputError, MissingDataError, parsing, write_file

FORMAT, VERSION = "karat-image-text-model", 1
HEAD, ARRAYS, WORDS = "model.json", "model.npz", "words.json"
CHOSEN = ("text", "image", "image_power", "kappa", "n", "weight")
AGAIN = "fit it again with karat fit"


def save_model(model: ImageTextModel, folder: Path) -> None:
    """Write the files of a fitted model into a folder, which is made if need be."""
    model.features_.save(folder)
    read = encode(model.captions_, dict(model.kernel_.vocabulary_))
    arrays = {
        "counts": model.counts_,
        **{f"caption_{name}": getattr(read, name) for name in ("words", "start", "first")},
        **{f"text_{name}": table for name, table in model.kernel_.state().items()},
        **{f"kcca_{name}": table for name, table in model.kcca_.to_arrays().items()},
    }
    head = {
        "format": FORMAT, "version": VERSION, "parameters": {name: getattr(model, name) for name in CHOSEN},
        "kcca": model.kcca_.get_params(),
    }  # fmt: skip
    write_file(folder / ARRAYS, lambda path: np.savez_compressed(path, allow_pickle=False, **arrays))
    write_json(folder / WORDS, model.words_.state())
    # Last, so that a folder with this file is complete.
    write_json(folder / HEAD, head)


def write_json(path: Path, what: dict[str, Any]) -> None:
    """Write a dictionary as json."""
    text = json.dumps(what, indent=1, ensure_ascii=False) + "\n"
    write_file(path, lambda target: target.write_text(text, encoding="utf-8"))


def load_model(folder: Path) -> ImageTextModel:
    """Return the model of a folder, after checking its files."""
    for name in (HEAD, ARRAYS, WORDS):
        if not (folder / name).is_file():
            raise MissingDataError(
                f"there is no {name}", where=folder, fix="give a folder that karat fit wrote"
            )
    with parsing(folder / HEAD, "is no description of a model", AGAIN):
        head = json.loads((folder / HEAD).read_text(encoding="utf-8"))
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            found = f"has format {head['format']!r}, version {head['version']!r}"
            raise InputError(found, where=folder / HEAD, fix=f"this karat reads {FORMAT} {VERSION}")
        model = ImageTextModel(**{name: head["parameters"][name] for name in CHOSEN})
        kcca = {name: head["kcca"][name] for name in KCCA().get_params()}
    model.features_ = ImageFeatures.load(folder)
    with parsing(folder / WORDS, "holds no words of a model", AGAIN):
        model.words_ = SystemWords().restore(json.loads((folder / WORDS).read_text(encoding="utf-8")))
    with parsing(folder / ARRAYS, "holds no arrays of a model", AGAIN):
        # Opened here, since numpy leaves a damaged file open.
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        model.kernel_ = text_kernel(model.text).restore(
            {name.removeprefix("text_"): table for name, table in arrays.items() if name.startswith("text_")}
        )
        model.kcca_ = KCCA.from_arrays(kcca, {name: arrays[f"kcca_{name}"] for name in LEARNED})
        model.counts_ = arrays["counts"]
        model.captions_ = decoded(model, *(arrays[f"caption_{name}"] for name in ("words", "start", "first")))
        items = {len(model.counts_), len(model.captions_), len(model.kcca_.image_mean_)}
        if len(items) > 1 or model.counts_.shape[1] != model.features_.n_features_out_:
            raise InputError("its parts do not belong together", where=folder / ARRAYS, fix=AGAIN)
    return model


def decoded(
    model: ImageTextModel, words: np.ndarray, start: np.ndarray, first: np.ndarray
) -> list[list[tuple[str, ...]]]:
    """Return the training captions as words again."""
    spelt = list(model.kernel_.vocabulary_)
    captions = [tuple(spelt[word] for word in words[begin:end].tolist()) for begin, end in pairwise(start)]
    return [captions[begin:end] for begin, end in pairwise(first.tolist())]
