"""Models of Hugging Face's libraries, from files on this machine: no download, no code of theirs, no bars."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from karat.errors import InputError, KaratError, MissingDataError
from karat.models.embedding_cache import digest_files

LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""What every loading of a model is given."""


READ = (".json", ".txt", ".model", ".jinja", ".safetensors")
"""The endings of files that a model is loaded from."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""Endings of weights that can run code when they are read."""


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
    from safetensors import SafetensorError
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    # What is wrong is an error, in one sentence.
    logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    except KaratError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(f"cannot be loaded ({first})", where=folder, fix=fix) from None
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()
