"""Failures of the store: the states in which a database cannot be used, whatever it is asked."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from karat.errors import InputError

LOCKED, READ_ONLY, DISK_FULL, IO_ERROR = "locked", "read-only", "disk-full", "io-error"
CANNOT_OPEN, DESCRIPTORS, UNREACHABLE = "cannot-open", "descriptors-exhausted", "unreachable"
DELETED, REPLACED, LOG_LOST, DAMAGED = "file-deleted", "file-replaced", "log-lost", "damaged"
LOST = (DELETED, REPLACED, LOG_LOST)
"""The states in which what is written does not reach the file that others find."""
SYSTEM = {
    errno.EMFILE: (DESCRIPTORS, "the server has no file descriptors left"),
    errno.ENFILE: (DESCRIPTORS, "the machine has no file descriptors left"),
    errno.ENOSPC: (DISK_FULL, "the disk is full"),
    errno.EDQUOT: (DISK_FULL, "the disk quota is used up"),
    errno.EROFS: (READ_ONLY, "the disk is read-only"),
    errno.EIO: (IO_ERROR, "the disk reports an error"),
    errno.ESTALE: (IO_ERROR, "the network disk reports an error"),
}
"""The state, and what is wrong, by the number of an error of the system."""


SENTENCES = {
    LOCKED: "Another program keeps the project locked.",
    READ_ONLY: "The project is read-only.",
    DISK_FULL: "The disk of the project is full, or nearly full.",
    IO_ERROR: "The disk of the project reports an error.",
    CANNOT_OPEN: "The project cannot be opened.",
    DESCRIPTORS: "The server has no file descriptors left.",
    UNREACHABLE: "The database cannot be reached.",
    DELETED: "The file of the project was deleted or renamed.",
    REPLACED: "The file of the project was replaced.",
    LOG_LOST: "The log of the project's file was deleted or replaced.",
    DAMAGED: "The project is damaged.",
}
"""The states in a sentence for everybody, without names of files and machines."""


class StoreError(InputError):
    """The database cannot be read or written now; what was asked of it may be right, and is worth repeating.

    Parameters
    ----------
    state
        One word for the state, such as "locked" or "disk-full".
    what, where, fix
        As in `KaratError`.

    Examples
    --------
    >>> error = StoreError(DISK_FULL, "cannot be written: the disk is full", where="own.db")
    >>> error.state, str(error)
    ('disk-full', 'own.db: cannot be written: the disk is full.')
    """

    def __init__(
        self, state: str, what: str, *, where: str | Path | None = None, fix: str | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.state = state


def system_failure(error: OSError, where: str | Path | None = None) -> StoreError | None:
    """Return the failure that an error of the system means; None where it is none, such as a missing file.

    >>> system_failure(OSError(errno.EMFILE, "Too many open files")).state
    'descriptors-exhausted'
    """
    if error.errno not in SYSTEM:
        return None
    state, what = SYSTEM[error.errno]
    return StoreError(state, what, where=where)


def has_descriptors() -> bool:
    """Return whether this process could open some more files."""
    handles: list[int] = []
    try:
        for _ in range(8):
            handles.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in (errno.EMFILE, errno.ENFILE)
    finally:
        for handle in handles:
            os.close(handle)
    return True
