"""Packed files, unpacked as a stream with a hard limit: a small file must not fill the memory."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from karat.errors import InputError

LARGEST = 2**30
"""No file of answers may hold more bytes, packed or not: two million answers have a third of it."""
RATIO, FREE = 200, 2**24
"""Beyond 16 MiB, what is unpacked may be 200 times as large as what is packed: tables of answers stay far
below, and a bomb of zeros reaches a thousand."""
BLOCK = 2**20
DIRECTORY = 2**17
"""The longest table of contents of a zip file with one member, in bytes."""


def unpack(data: bytes, where: Path) -> bytes:
    """Return what a gzip or zip file with one member holds; other bytes as they are.

    Nothing is written to disk, and names within an archive are never used.

    Examples
    --------
    >>> import gzip
    >>> unpack(gzip.compress(b"task,answer"), Path("answers.csv.gz"))
    b'task,answer'
    """
    if data.startswith(b"\x1f\x8b"):
        blocks = gzip_blocks(data, where)
    elif data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        blocks = zip_blocks(data, where)
    else:
        return data
    whole = io.BytesIO()
    for block in blocks:
        whole.write(block)
        check_size(whole.tell(), len(data), where)
    return whole.getvalue()


def check_size(unpacked: int, packed: int, where: Path) -> None:
    """Raise when more comes out of an archive than an honest one holds."""
    if unpacked > LARGEST:
        raise too_large(where)
    if unpacked > FREE and unpacked > RATIO * packed:
        raise InputError(
            f"unpacks to more than {RATIO} times its size",
            where=where,
            fix="unpack it yourself and look at it",
        )


def too_large(where: Path) -> InputError:
    """Return the error for a file beyond the limit."""
    return InputError(
        f"holds more than {LARGEST / 2**20:,.0f} MiB", where=where, fix="split it into several files"
    )


def gzip_blocks(data: bytes, where: Path) -> Iterator[bytes]:
    """Yield what a gzip file holds, block by block; a second member is refused."""
    stream = zlib.decompressobj(wbits=31)
    rest = data
    try:
        while not stream.eof:
            block = stream.decompress(rest, BLOCK)
            rest = stream.unconsumed_tail
            if not block and not stream.eof and not rest:
                raise InputError("is a cut-off gzip file", where=where, fix="copy it again")
            yield block
    except zlib.error:
        raise InputError("is a broken gzip file", where=where, fix="copy it again") from None
    if stream.unused_data:
        raise InputError("has more after its first gzip member", where=where, fix="pack one file alone")


def zip_blocks(data: bytes, where: Path) -> Iterator[bytes]:
    """Yield what the only member of a zip file holds, block by block."""
    check_directory(data, where)
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            archive.open(only_member(archive, where)) as member,
        ):
            while block := member.read(BLOCK):
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error):
        raise InputError("is a broken zip file", where=where, fix="pack it again") from None


def check_directory(data: bytes, where: Path) -> None:
    """Raise on a table of contents of more than one file before anything reads it all."""
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) < at + 22:
        raise InputError("is a cut-off zip file", where=where, fix="copy it again")
    count, size = struct.unpack("<HI", data[at + 10 : at + 16])
    # A locator of the 64-bit directory would override these numbers.
    wide = data[max(at - 20, 0) : at].startswith(b"PK\x06\x07")
    if count != 1 or size > DIRECTORY or wide:
        raise several(where)


def only_member(archive: zipfile.ZipFile, where: Path) -> zipfile.ZipInfo:
    """Return the one plain file within a zip file."""
    members = archive.infolist()
    if len(members) != 1:
        raise several(where)
    (one,) = members
    # The upper half holds the Unix mode; archives from elsewhere have 0 there.
    kind = (one.external_attr >> 16) & 0o170000
    if one.is_dir() or kind not in (0, 0o100000):
        raise InputError("holds no plain file", where=where, fix="pack the file itself")
    if one.flag_bits & 1:
        raise InputError("is locked by a password", where=where, fix="unpack it first")
    if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("is packed in an unusual way", where=where, fix="unpack it first")
    return one


def several(where: Path) -> InputError:
    """Return the error for an archive that is not one packed file."""
    return InputError("is a zip file without exactly one member", where=where, fix="pack one file alone")
