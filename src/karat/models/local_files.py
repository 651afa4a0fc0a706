"""Models of Hugging Face's libraries, from files on this machine: no download, no code of theirs, no bars."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

from karat._util import check_plain, check_written
from karat.errors import InputError, KaratError, MissingDataError
from karat.models.embedding_cache import digest_files

LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""What every loading of a model is given."""


READ = (".json", ".txt", ".model", ".jinja", ".safetensors")
"""The endings of files that a model is loaded from."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""Endings of weights that can run code when they are read."""
CHOSEN_PICKLES = {
    "pytorch_model.bin": ("model.safetensors",),
    "pytorch_model.bin.index.json": ("model.safetensors", "model.safetensors.index.json"),
    "adapter_model.bin": ("adapter_model.safetensors",),
}
"""The names under which libraries look for pickles, and what they take instead where it lies beside them."""
MOST_BYTES = 64 << 20
"""Of a file that describes a model: the largest vocabularies have some thirty million bytes."""
MOST_LETTERS = 1 << 16
"""Of a text in a json file: what fills texts up, or stands before them, is repeated for each."""
LONG_TEXTS = ("chat_template", "template", "precompiled_charsmap")
"""Keys of texts that are not: templates are not used, and tables of letters are looked at."""
SLACK = 1 << 24
"""How many numbers a network may have beyond twice its weights: few of a wrong shape are named."""
MOST_VALUES = 4 << 20
"""Of a json file that describes a model: each takes some hundred bytes when it is read."""
MOST_TOKENS = 1 << 20
"""How many tokens a tokenizer fills a text up with."""
MOST_GROWTH = 1000
"""By which factor a tokenizer makes texts longer at most; those of published models by less than 100."""
DESCRIPTIONS = (".safetensors.index.json", "config.json", "modules.json")
"""How the names of files end that name others, or say how large a network is."""
COUNTED = re.compile(r"layers?$|^depths?$")
"""Keys of a configuration that say how often a part of the network is repeated."""
SIZED = re.compile(
    r"(hidden|intermediate|vocab|image|patch|embedding|window|kernel)_size$|_dim$|_embeddings$|_features$"
    r"|^dim$|^d_[a-z]+$|^num_(labels|channels|patches|experts|frames|[a-z_]*heads)$"
)
"""Keys that say how large a part is, or how many of a kind there are."""
FEW, SMALL, PLACES = 128, 1 << 16, 1 << 24
"""Layers, sizes and places of tokens that are taken without a look at the weights.

Some keys concern parts that are not used, and not every network has a table of places.
"""
LABELS, UNWEIGHED = 1 << 18, 1 << 12
"""Labels, and features of a layer that has no weights beside it, that are taken at most."""


def version_of(package: str) -> str:
    """Return a package's version; "" where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages as facts of a run.

    >>> list(versions(["numpy"]))
    ['versions.numpy']
    """
    return {f"versions.{package}": version_of(package) for package in packages}


def cached_folder(repository: str, head: str) -> Path | None:
    """Return the folder of a model in the cache of Hugging Face; None where it is not there."""
    from huggingface_hub import try_to_load_from_cache

    name = repository
    if name and ":" not in name and not name.startswith(("/", ".")) and name.count("/") <= 1:
        found = try_to_load_from_cache(repository, head)
        if isinstance(found, str):
            return Path(found).parent
    return None


def is_of_tokenizer(path: Path) -> bool:
    """Whether a file says how texts are split."""
    words = ("token", "vocab", "merges", "spiece", "sentencepiece")
    return path.suffix in READ and any(word in path.name for word in words)


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder, or raise: pickles are never read."""
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
    if pickles:
        what = f"has its weights only as {pickles[0]}, a pickle, which can run code"
        raise InputError(what, where=folder, fix="save the model again as safetensors")
    raise MissingDataError("has no weights", where=folder, fix="give the folder with model.safetensors")


def check_model_folder(folder: Path, pickles: Iterable[str] = ("adapter_model.bin",)) -> None:
    """Raise unless a library may see a folder.

    Everything in it is a plain file or a folder, also where a link leads; what its descriptions name lies in
    it; no library finds a pickle in it; and no network of other sizes than its weights have is described.
    Folders whose names begin with a dot belong to other programs, and nothing may name them.

    Parameters
    ----------
    folder
        Of a model.
    pickles
        Those of `CHOSEN_PICKLES` that the library looks for; transformers was told not to.
    """
    root = folder.resolve()
    # In the cache of Hugging Face files are links to those of their contents, beside the folder of snapshots.
    blobs = root.parent.parent / "blobs" if root.parent.name == "snapshots" else root
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders + sorted(files):
            check_entry(Path(place, name), root, blobs)
        for name in pickles:
            if name in files and not set(CHOSEN_PICKLES[name]) & set(files):
                what = f"has its weights only as {name}, a pickle, which can run code"
                raise InputError(what, where=Path(place), fix="save the model again as safetensors")
        for name in sorted(files):
            if name.endswith(".json"):
                check_description(Path(place, name))


def check_entry(path: Path, root: Path, blobs: Path) -> None:
    """Raise for what is no plain file or folder, lies elsewhere, or is too large to describe a model."""
    fix = "give the folder of a model with all of its files"
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        raise InputError("is a link that leads to itself", where=path, fix=fix) from None
    check_plain(path)
    if not real.exists():
        raise InputError("is a link that leads nowhere", where=path, fix=fix)
    # What a link to a folder leads to is looked at where it lies, which has to be among what is looked at.
    if real.is_relative_to(root):
        inside = not any(part.startswith(".") for part in real.relative_to(root).parts)
    else:
        inside = real.is_relative_to(blobs) and real.is_file()
    if path.is_symlink() and not inside:
        raise InputError("is a link that leads out of the folder of the model", where=path, fix=fix)
    if path.suffix in READ and not real.is_file():
        raise InputError("is a folder, and should be a file", where=path, fix=fix)
    check_written(path, fix)
    if path.suffix in READ and path.suffix != ".safetensors" and path.is_file():
        size = path.stat().st_size
        if size > MOST_BYTES:
            what = f"has {size:,} bytes, and what describes a model has at most {MOST_BYTES:,}"
            raise InputError(what, where=path, fix=fix)
        if path.suffix == ".json":
            check_values(path)


def check_values(path: Path) -> None:
    """Raise where a json file holds more values than the description of a model has.

    Millions of empty lists have few bytes, and take gigabytes of memory.
    """
    data = path.read_bytes()
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if values > MOST_VALUES:
        what = f"has some {values:,} values, and what describes a model has at most {MOST_VALUES:,}"
        raise InputError(what, where=path, fix="give the folder of a model with all of its files")


def check_tokenizer(path: Path, content: dict[str, Any]) -> None:
    """Raise where a tokenizer would make a short text so long that no memory holds it.

    What the library cannot allocate ends the process, without an error.
    """
    fix = "give the model's own tokenizer"
    padding = content.get("padding")
    if isinstance(padding, dict):
        strategy = padding.get("strategy")
        filled = strategy.get("Fixed") if isinstance(strategy, dict) else None
        for size in (filled, padding.get("pad_to_multiple_of")):
            if is_over(size, MOST_TOKENS):
                raise InputError(f"fills texts up with {size:,} tokens", where=path, fix=fix)
    for keys in (("normalizer", "pre_tokenizer", "post_processor"), ("decoder",)):
        parts = [part for key in keys for part in parts_of(content.get(key))]
        growth = math.prod(map(growth_of, parts))
        if growth > MOST_GROWTH:
            what = f"makes texts {growth:,.0f} times as long; the most is {MOST_GROWTH:,} times"
            raise InputError(what, where=path, fix=fix)


def growth_of(part: dict[str, Any]) -> float:
    """Return by which factor a part of a tokenizer makes a text longer at most.

    >>> growth_of({"type": "Replace", "pattern": {"String": " "}, "content": "▁▁"})
    2.0
    """
    kind, pattern = part.get("type"), part.get("pattern")
    if kind == "Replace":
        old = pattern.get("String") if isinstance(pattern, dict) else None
        new = len(str(part.get("content", "")))
        # A pattern may be found before each letter.
        return max(1.0, new / len(old) if isinstance(old, str) and old else new + 1.0)
    if kind == "Precompiled":
        try:
            table = base64.b64decode(str(part.get("precompiled_charsmap")))
        except ValueError:
            return 1.0
        # Behind a tree of letters, the texts that they become.
        return float(max(1, *map(len, table[4 + int.from_bytes(table[:4], "little") :].split(b"\0"))))
    if kind == "TemplateProcessing":
        pieces = [part.get(side) for side in ("single", "pair")]
        return float(max([1, *(len(piece) for piece in pieces if isinstance(piece, list))]))
    # Each byte of a letter becomes a letter.
    return 2.0 if kind == "ByteLevel" else 1.0


def parts_of(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the dictionaries in a part of a tokenizer, which may be a sequence of others."""
    waiting = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def check_description(path: Path) -> None:
    """Raise where a description of a model names what it must not, or sizes that its weights do not have.

    What cannot be read is left to the library, which says so.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(content, dict):
        check_tokenizer(path, content)
        if isinstance(content.get("model"), dict):
            # Of a tokenizer: hundreds of thousands of words are not looked at one by one.
            content["model"] = {k: v for k, v in content["model"].items() if k not in ("vocab", "merges")}
    for key, value in entries_of(content):
        if isinstance(value, str) and len(value) > MOST_LETTERS and key not in LONG_TEXTS:
            what = f"has a {key} of {len(value):,} letters; the most is {MOST_LETTERS:,}"
            raise InputError(what, where=path, fix="give the model's own files")
        # Any name inside the library could be called otherwise, also those of what it imports.
        named = isinstance(value, str) and value.startswith("sentence_transformers.")
        if named and not value.rpartition(".")[2][:1].isupper():
            fix = "name a class of sentence-transformers"
            raise InputError(f"names {value!r}, which is no kind of module", where=path, fix=fix)
    if not path.name.endswith(DESCRIPTIONS):
        return
    modules = content if isinstance(content, list) else []
    names = [str(entry.get("path", "")) for entry in modules if isinstance(entry, dict)]
    weights: list[str] = []
    if isinstance(content, dict):
        parts, listed = content.get("types"), content.get("weight_map")
        names += map(str, parts if isinstance(parts, dict) else ())
        weights += map(str, listed.values() if isinstance(listed, dict) else ())
        weights += [str(content["transformers_weights"])] if content.get("transformers_weights") else []
    for name in names + weights:
        if any(part.startswith((".", "/")) or "\\" in part for part in PurePosixPath(name).parts):
            what = f"names {name!r}, which is not in the folder of the model"
            raise InputError(what, where=path, fix="name a file of the folder")
    for name in weights:
        if not name.endswith((".safetensors", ".safetensors.index.json")):
            what = f"names {name!r} as weights; other formats than safetensors can run code"
            raise InputError(what, where=path, fix="save the model again as safetensors")
    if path.name == "config.json":
        check_described_sizes(path, content)


def entries_of(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value of a json file that holds no others, with its key; in a list that of the list.

    >>> list(entries_of({"depths": [2, 2], "text_config": {"hidden_size": 8}}))
    [('depths', 2), ('depths', 2), ('hidden_size', 8)]
    """
    waiting = [("", content)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(value.items())
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in reversed(value)]
        else:
            yield key, value


def is_over(value: Any, most: float) -> bool:
    """Whether a value is a number, and larger than another."""
    return isinstance(value, int | float) and value > most


def check_described_sizes(path: Path, config: Any) -> None:
    """Raise where a configuration describes more layers, or larger ones, than the weights beside it have.

    A library makes the network before it looks at the weights, and a network of a million layers, or of
    terabytes, would end the process.
    """
    files = sorted(path.parent.glob("*.safetensors"))
    shapes = [shape for shape in tensor_shapes(files) if 0 not in shape]
    if files and not shapes:
        # Before the library sees the configuration, which nothing could be compared with.
        raise InputError("has no tensors that can be read", where=files[0], fix="copy the weights again")
    largest = max((size for shape in shapes for size in shape), default=1)
    for key, value in entries_of(config):
        what = ""
        if COUNTED.search(key) and is_over(value, max(len(shapes), FEW)):
            what = f"the weights are {len(shapes):,} tensors"
        # The layers of sentence models, which state their features, have no keys of parts that are not used.
        features = key.endswith("_features")
        spare = PLACES if "position" in key else 0 if features else SMALL
        if not files:
            # What has its weights elsewhere, or none at all: a network is then made before they are missed.
            spare = UNWEIGHED if features else PLACES
        if SIZED.search(key) and is_over(value, max(largest, spare)):
            what = f"the largest size of a tensor of the weights is {largest:,}"
        # The library makes a name for each label, however small the weights are.
        if key == "num_labels" and is_over(value, LABELS) and not what:
            what = f"the most is {LABELS:,}"
        if what and not files:
            what = "no weights lie beside it"
        if what:
            fix = "give the configuration of these weights"
            raise InputError(f"has the {key} {value:,}, but {what}", where=path, fix=fix)


def check_network_size(network: Any, weights: Iterable[Path], where: Path) -> None:
    """Raise where a network, made without memory, would be much larger than its weights."""
    asked = sum(table.numel() for table in network.parameters())
    held = sum(math.prod(shape) for shape in tensor_shapes(weights))
    if asked > 2 * held + SLACK:
        what = f"describes a network of {asked:,} numbers, but the weights are {held:,}"
        raise InputError(what, where=where, fix="give the configuration of these weights")


def tensor_shapes(files: Iterable[Path]) -> list[tuple[int, ...]]:
    """Return the shapes of tensors by the heads of their files; none of a file that is damaged."""
    from safetensors import SafetensorError, safe_open

    shapes: list[tuple[int, ...]] = []
    for file in files:
        # The library says what is wrong with it.
        with suppress(SafetensorError, OSError), safe_open(file, framework="np") as tensors:
            shapes += [tuple(tensors.get_slice(key).get_shape()) for key in list(tensors.keys())]
    return shapes


def digest_weights(files: Sequence[Path]) -> str:
    """Return what ``sha256sum`` prints for the file of weights; of several, a digest of all."""
    if len(files) > 1:
        return digest_files({path.name: path for path in files})
    with files[0].open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_tensors(where: Path, missing: Iterable[str], shapes: Iterable[str], spare: Iterable[str]) -> None:
    """Raise where weights are not those of the architecture, naming the first tensors that show it.

    Parameters
    ----------
    where
        The file or folder of the weights.
    missing, shapes, spare
        The names of tensors that the weights lack, have in another shape, and have without need.
    """
    found = []
    for names, what in ((missing, "lack"), (shapes, "have another shape of"), (spare, "have the unknown")):
        listed = sorted(names)
        if listed:
            more = f" and {len(listed) - 2:,} more" if len(listed) > 2 else ""
            found.append(f"{what} {', '.join(listed[:2])}{more}")
    if found:
        raise InputError(
            f"the weights are of another architecture: they {'; they '.join(found)}",
            where=where,
            fix="give the weights of the architecture that is named",
        )


def offline() -> None:
    """Keep Hugging Face's libraries from the network; they look at it once, when they are imported."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


@contextmanager
def loading(folder: Path, fix: str) -> Iterator[None]:
    """Load a model inside the block: what its folder lacks is an error in one sentence."""
    offline()
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    # What is wrong is an error, in one sentence.
    logging.set_verbosity(logging.CRITICAL)
    try:
        with failures(folder, fix):
            yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


@contextmanager
def failures(folder: Path, fix: str, what: str = "cannot be loaded") -> Iterator[None]:
    """Turn whatever a library raises inside the block into one sentence.

    Wrong values in a configuration end in a dozen kinds of errors, some of them only when the model is used.
    """
    try:
        yield
    except (KaratError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError:
        raise InputError(f"{what} (the memory does not suffice)", where=folder, fix=fix) from None
    # What is written in Rust may panic, which is no Exception.
    except BaseException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        # The libraries' own checks name what they checked in one line, and what is wrong in the next.
        shown = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1]) or type(error).__name__
        raise InputError(f"{what} ({shown})", where=folder, fix=fix) from None
