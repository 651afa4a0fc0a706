"""Checkpoints of a pass: the tiles that are done and what they added, in one file that is replaced whole."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import karat
from karat._util import replacing
from karat.errors import InputError
from karat.runs.scan import Partial

SHARE = 0.05
"""Saving takes at most this share of the time: tiles of a second or more are saved one by one."""


class Checkpoint:
    """What is kept of a pass in a folder, so that it can go on after an interruption.

    The name of the file has a digest of what was asked, of the tables and of karat's version: another
    request, or other scores, never find it, so that all passes of all commands can share a folder. When the
    pass is complete, the file is removed.

    Parameters
    ----------
    folder
        Where it is kept; made where it is missing.
    name
        Of the run, for the name of the file.
    table
        A digest of the scores.
    partial
        What is asked, and what the tiles so far have added.
    """

    def __init__(self, folder: Path, name: str, table: bytes, partial: Partial) -> None:
        digest = hashlib.blake2b(table + karat.__version__.encode(), digest_size=8)
        for part in partial.parts:
            changing = part.arrays()
            for field, value in vars(part).items():
                if field not in changing:
                    digest.update(f"{field} {np.shape(value)}".encode())
                    digest.update(np.ascontiguousarray(value).tobytes())
        word = re.sub(r"[^\w.-]+", "_", name)[:60]
        self.path = Path(folder) / f"{word}-{digest.hexdigest()}.npz"
        self.partial = partial
        self._saved, self._took = time.monotonic(), 0.0

    def load(self) -> tuple[tuple[int, int], set[int]] | None:
        """Restore what was added; return the size of the tiles and the numbers of those that are done."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                self.partial.restore(arrays)
                return tuple(arrays["step"].tolist()), set(arrays["done"].tolist())
        except FileNotFoundError:
            return None
        except Exception as error:  # broken archives raise a dozen kinds
            raise InputError(
                f"is not a complete checkpoint: {error}",
                where=str(self.path),
                fix="delete it and start again",
            ) from error

    def save(self, step: tuple[int, int], done: Iterable[int]) -> None:
        """Write what is done, in place of what was written before."""
        begin = time.monotonic()
        with replacing(self.path, parents=True) as draft, draft.open("wb") as file:
            arrays: dict[str, Any] = self.partial.arrays()
            np.savez(file, step=np.array(step), done=np.array(sorted(done)), **arrays)
        self._saved = time.monotonic()
        self._took = self._saved - begin

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return SHARE * (time.monotonic() - self._saved) >= self._took

    def remove(self) -> None:
        """Delete the file: the pass is complete."""
        self.path.unlink(missing_ok=True)
