"""Vectors kept by content: the digest of a model, and the text or the bytes of the picture, name a row."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from karat._util import cache_folder, open_entry, thread_count, write_entry
from karat.models.pixels import read_bytes
from karat.runs import Fact, Fingerprint

SIZE = 16
"""Bytes of a digest: two of a billion texts have the same with a probability below 1e-20."""
FACTS = "made_with-2.json"
"""The facts of a model; the number grows when models state others."""


class KeptRow(NamedTuple):
    """The vector of an item, and whether the model read only the beginning of it."""

    vector: np.ndarray
    cut: bool


class VectorCache:
    """The rows that one model gave, in files of finished parts.

    A part that is damaged or that others may have written, or a folder that cannot be, costs time and nothing
    else.

    Parameters
    ----------
    fingerprint
        The digest of the model.
    kind
        The folder of one kind of items inside the model's; texts are in the model's own.
    """

    def __init__(self, fingerprint: str, kind: str = "") -> None:
        self.folder = model_folder(fingerprint) / kind

    def read(self, keys: Iterable[bytes]) -> dict[bytes, KeptRow]:
        """Return the rows of those keys that are kept."""
        wanted = set(keys)
        found: dict[bytes, KeptRow] = {}
        # Not the drafts of a program that was killed.
        for path in sorted(self.folder.glob("[!.]*.npz")):
            if len(found) == len(wanted):
                break
            with (
                contextlib.suppress(Exception),  # damaged archives raise a dozen kinds
                # Opened here, since numpy leaves a damaged file open.
                open_entry(path) as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                listed = [key.tobytes() for key in stored["keys"]]
                here = [k for k, key in enumerate(listed) if key in wanted]
                # A damaged header may shorten an array, whose checksum numpy then does not look at.
                if here and stored.zip.testzip() is None:
                    rows, cut = stored["rows"], stored["cut"]
                    found |= {listed[k]: KeptRow(rows[k], bool(cut[k])) for k in here}
        return found

    def write(self, keys: Sequence[bytes], rows: np.ndarray, cut: np.ndarray) -> bool:
        """Keep the rows of keys, and return whether they are kept."""
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:24]
        listed = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, SIZE)
        arrays = {"keys": listed, "rows": rows, "cut": cut}
        path = self.folder / f"{name}.npz"
        return write_entry(path, lambda draft: np.savez(draft, allow_pickle=False, **arrays))


def model_folder(fingerprint: str) -> Path:
    """Return the folder of what one model gave."""
    return cache_folder() / "embeddings" / fingerprint


def kept_facts(fingerprint: str, facts: Callable[[], Mapping[str, Fact]]) -> Mapping[str, Fact]:
    """Return the facts of a model, from the cache where it has them: the model need not be loaded then."""
    path = model_folder(fingerprint) / FACTS
    with contextlib.suppress(OSError, ValueError), open_entry(path) as file:
        return Fingerprint.from_json(file.read().decode("utf-8"), path).facts
    known = facts()
    text = json.dumps(dict(known), indent=1, sort_keys=True) + "\n"
    write_entry(path, lambda draft: draft.write_text(text, encoding="utf-8"))
    return known


def text_keys(texts: Iterable[str]) -> list[bytes]:
    """Return the digest of each text."""
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:SIZE] for text in texts]


def picture_keys(paths: Sequence[str | Path]) -> list[bytes]:
    """Return the digest of the bytes of each file; where a file lies and what it is called do not matter."""
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(lambda path: hashlib.sha256(read_bytes(path)).digest()[:SIZE], paths))


def digest_folder(folder: Path, *more: str) -> str:
    """Return a digest of the names and contents of all files of a folder, and of further words.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "weights").write_text("1")
    ...     before = digest_folder(Path(folder))
    ...     _ = (Path(folder) / "weights").write_text("2")
    ...     before == digest_folder(Path(folder))
    False
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest_files({path.relative_to(folder).as_posix(): path for path in files}, *more)[:24]


def digest_files(files: Mapping[str, Path], *more: str) -> str:
    """Return a digest of files under names, and of further words."""
    digest = hashlib.sha256("\0".join(more).encode())
    for name, path in files.items():
        digest.update(f"\0{name}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
