"""The index of SQLite's write-ahead log: how far the log was copied into the file.

Only such copying (a checkpoint) writes into the file. A file that changed although nothing was copied was
truncated, or something else was written over it. https://sqlite.org/walformat.html documents the index.
"""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path

FIELDS = struct.Struct("=32x8s56xI28xI")
"""The salts, which change when the log begins anew; how many frames were copied, and how many were to be."""
NOTHING = (b"", 0, 0)
HELD: dict[tuple[int, int], list[int]] = {}
"""The descriptor of each index that is open in this process, and how often, by device and inode."""
GUARD = threading.Lock()


class LogIndex:
    """The index of one log while it is open.

    Parameters
    ----------
    path
        The file that ends in ``-shm``. Where it cannot be read, every state is the same.
    """

    def __init__(self, path: Path) -> None:
        self._key: tuple[int, int] | None = None
        with GUARD:
            try:
                status = path.stat()
                self._key = status.st_dev, status.st_ino
                if self._key not in HELD:
                    HELD[self._key] = [os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)), 0]
            except OSError:
                self._key = None
                return
            HELD[self._key][1] += 1

    def read(self) -> tuple[bytes, int, int]:
        """Return the salts of the log, the frames that were copied, and how many are to be copied."""
        if self._key is None:
            return NOTHING
        handle = HELD[self._key][0]
        try:
            return FIELDS.unpack(os.pread(handle, FIELDS.size, 0))
        except (OSError, struct.error, AttributeError):  # AttributeError: Windows has no pread
            return NOTHING

    def close(self) -> None:
        """Close it, unless others in this process use it.

        The system drops SQLite's locks on a file when any descriptor of it is closed in the process.
        """
        with GUARD:
            if self._key is None:
                return
            held = HELD[self._key]
            held[1] -= 1
            if not held[1]:
                os.close(held[0])
                del HELD[self._key]
            self._key = None


def is_settled(state: tuple[bytes, int, int]) -> bool:
    """Return whether nothing is being copied: all that copying aimed at is in the file."""
    return state != NOTHING and state[1] >= state[2]
