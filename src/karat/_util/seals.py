"""Seals: what this user made on this machine can be told from what came from elsewhere.

A seal is a keyed digest. The key lies in the user's configuration folder, readable by the user alone: whoever
writes a file that the user opens later cannot seal what is in it.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from karat._util.files import write_errors
from karat._util.settings import config_folder
from karat.errors import InputError

FILE = "seal.key"
BYTES = 32
_passing: list[bytes] = []
"""Keys of `passing_key`, the one that counts last."""


def seal(purpose: str, *parts: object) -> str:
    """Return the seal of some values for one purpose, as text.

    Parameters
    ----------
    purpose
        What the seal is for; a seal for one purpose is none for another.
    *parts
        Texts, bytes, numbers and None; everything else counts as its text.

    Examples
    --------
    >>> with passing_key():
    ...     one = seal("account", 7, "ann")
    ...     one == seal("account", 7, "ann"), one == seal("session", 7, "ann"), one == seal("account", "7ann")
    (True, False, False)
    """
    digest = hmac.new(key(), b"karat 1", "sha256")
    for part in (purpose, *parts):
        kind = type(part).__name__[:1].encode()
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        # The length before each part, so that no two lists of parts become the same bytes.
        digest.update(b"%s%d:" % (kind, len(data)) + data)
    return digest.hexdigest()


def is_sealed(mark: object, purpose: str, *parts: object) -> bool:
    """Return whether a mark is the seal of some values; compared in constant time."""
    return isinstance(mark, str) and hmac.compare_digest(mark.encode(), seal(purpose, *parts).encode())


@contextmanager
def passing_key() -> Iterator[None]:
    """Seal with a key that is forgotten when the block ends: for what does not outlast it."""
    _passing.append(secrets.token_bytes(BYTES))
    try:
        yield
    finally:
        _passing.pop()


def key() -> bytes:
    """Return the key of this user, made at the first call; raise where others could read or change it."""
    if _passing:
        return _passing[-1]
    return read_key(config_folder() / FILE)


@lru_cache(maxsize=8)
def read_key(path: Path) -> bytes:
    """Return the key that a file holds; it is read once: a server whose key is moved goes on."""
    try:
        status = path.lstat()
    except OSError:
        make_key(path)
        status = path.lstat()
    check_own(path, status)
    try:
        data = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        data = b""
    if len(data) != BYTES:
        raise InputError(
            "is not a key that karat made",
            where=path,
            fix="remove it; karat makes another and asks again",
        )
    return data


def check_own(path: Path, status: os.stat_result) -> None:
    """Raise unless a file is a plain one that only this user can read and write."""
    if not stat.S_ISREG(status.st_mode):
        raise InputError("is not a plain file", where=path, fix="remove it; karat makes another")
    if os.name != "posix":
        return
    other = "name a folder of your own in KARAT_CONFIG"
    if status.st_uid != os.geteuid():
        raise InputError("belongs to another user", where=path, fix=other)
    if status.st_mode & 0o077:
        what = "other users can read the key that seals what karat makes here"
        raise InputError(what, where=path, fix=f"chmod 600 {shlex.quote(str(path))}, or {other}")


def make_key(path: Path) -> None:
    """Write a new key, unless another program does so at the same moment: then that one's stays."""
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{FILE}.{secrets.token_hex(8)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(BYTES))
                file.flush()
                os.fsync(file.fileno())
            link(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def link(draft: Path, path: Path) -> None:
    """Give a file its name unless another one has it; a rename would take that one's place."""
    with suppress(FileExistsError):
        try:
            os.link(draft, path)
        except FileExistsError:
            raise
        except OSError:
            # Some disks have no links.
            os.replace(draft, path)
