"""Vectors of texts, kept by content: the digest of a model and the text itself name a row."""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from karat._util import cache_folder, write_file
from karat.errors import KaratError

SIZE = 16
"""Bytes of a text's digest: two of a billion texts have the same with a probability below 1e-20."""


class TextCache:
    """The rows that one model gave, in files of finished parts.

    A part that is damaged, or a folder that cannot be written, costs time and nothing else.

    Parameters
    ----------
    fingerprint
        The digest of the model.
    """

    def __init__(self, fingerprint: str) -> None:
        self.folder = cache_folder() / "embeddings" / fingerprint

    def read(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the rows of those texts that are kept."""
        wanted = dict(zip(keys_of(texts), texts))
        found: dict[str, np.ndarray] = {}
        for path in sorted(self.folder.glob("*.npz")):
            if len(found) == len(wanted):
                break
            with (
                contextlib.suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile),
                np.load(path, allow_pickle=False) as stored,
            ):
                keys = [key.tobytes() for key in stored["keys"]]
                here = [k for k, key in enumerate(keys) if key in wanted]
                if here:
                    rows = stored["rows"]
                    found |= {wanted[keys[k]]: rows[k] for k in here}
        return found

    def write(self, texts: Sequence[str], rows: np.ndarray) -> None:
        """Keep the rows of texts."""
        keys = list(keys_of(texts))
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:24]
        arrays = {"keys": np.frombuffer(b"".join(keys), np.uint8).reshape(-1, SIZE), "rows": rows}
        with contextlib.suppress(OSError, KaratError):
            write_file(
                self.folder / f"{name}.npz",
                lambda draft: np.savez(draft, allow_pickle=False, **arrays),
                durable=False,
                parents=True,
            )


def keys_of(texts: Iterable[str]) -> Iterable[bytes]:
    """Return the digest of each text."""
    return (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:SIZE] for text in texts)


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
    digest = hashlib.sha256("\0".join(more).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:24]
