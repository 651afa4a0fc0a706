"""Files: read within limits, unpacked as a stream, and written completely or not at all."""

from __future__ import annotations

import codecs
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from karat._util import GZIP, check_writable, not_utf8, replacing_all
from karat.errors import InputError, MissingDataError

LARGEST = 2**30
"""The most bytes of a file of answers, packed or not: two million answers need a third of it."""
RATIO, FREE = 200, 2**24
"""Beyond 16 MiB, unpacked data may be 200 times as large as the archive: tables of answers stay far below,
and a zip bomb reaches a thousand."""
BLOCK = 2**20
"""How many bytes are unpacked or decoded at a time."""
DIRECTORY = 2**17
"""The most bytes of the directory of a zip file with one member."""
MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""The byte order marks of other encodings; longer ones first, since one starts like another."""
MISREAD = codecs.BOM_UTF8.decode("cp1252").encode()
"""The byte order mark of UTF-8 after a program read it as Windows-1252."""
SAVE = "save it as UTF-8"


def read_text_bytes(path: Path) -> bytes:
    """Return the bytes of a text file in UTF-8, unpacked and without its byte order mark.

    Refused are files that are not regular files, links that point outside their folder, too many bytes, other
    encodings and NUL characters; the message names the line where there is one.
    """
    data = unpack(read_plain(path), path)
    for mark, name in MARKS.items():
        if data.startswith(mark):
            raise InputError(f"is written in {name}", where=path, fix=SAVE)
    if data.startswith(MISREAD):
        raise InputError(
            "line 1 starts with ï»¿: UTF-8 was read as Windows-1252 and saved again", where=path, fix=SAVE
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(f"line {line_at(data, nul)} has a NUL character", where=path, fix=SAVE)
    check_utf8(data, path)
    return data


def read_plain(path: Path) -> bytes:
    """Return the bytes of a regular file of bounded size."""
    check_link(path)
    try:
        # Not blocking: opening a named pipe would wait for a writer forever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise MissingDataError("there is no such file", where=path, fix="check the name") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path, fix="check the file") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError("is not a regular file", where=path, fix="give the name of a file")
    with os.fdopen(handle, "rb") as stream:
        # One byte more than allowed, since a file may grow while it is read.
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise too_large(path)
    return data


def check_link(path: Path) -> None:
    """Raise on a symbolic link to outside its folder: a shared folder must not expose private files."""
    if not path.is_symlink():
        return
    target = Path(os.path.realpath(path))
    home = Path(os.path.realpath(path.parent))
    if not target.is_relative_to(home):
        raise InputError(
            "is a link that points outside its folder", where=path, fix=f"if you trust it, give {target}"
        )


def check_utf8(data: bytes, where: Path) -> None:
    """Raise on the first byte that is not UTF-8, naming its line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, max(len(data), 1), BLOCK):
        stop = start + BLOCK
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start:stop], final=stop >= len(data))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            raise not_utf8(where, UnicodeDecodeError("utf-8", data, at, at + 1, error.reason)) from None


def line_at(data: bytes, at: int) -> int:
    """Return the number of the line that a byte belongs to, from 1.

    >>> line_at(b"a\\nb\\nc", 2)
    2
    """
    return data.count(b"\n", 0, at) + 1


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing; it gets its name only when all of it is written."""
    with writing_both(path) as (stream,):
        yield stream


@contextmanager
def writing_both(*paths: Path) -> Iterator[list[TextIO]]:
    """Open text files for writing; they get their names only when all of them are written."""
    with replacing_all(*paths) as drafts, ExitStack() as stack:
        yield [stack.enter_context(draft.open("w", encoding="utf-8", newline="")) for draft in drafts]


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a second file with another suffix; raise when it would be the same file.

    >>> beside(Path("batch.csv"), ".html").name
    'batch.html'
    """
    second = path.with_suffix(suffix)
    if second == path:
        raise InputError(
            f"a second file would have this name too, since it ends in {suffix}",
            where=path,
            fix="choose another suffix",
        )
    check_writable(second)
    return second


def unpack(data: bytes, where: Path) -> bytes:
    """Return the contents of a gzip or zip file with one member; other bytes as they are.

    Nothing is written to disk, and the names in an archive are never used.

    Examples
    --------
    >>> import gzip
    >>> unpack(gzip.compress(b"task,answer"), Path("answers.csv.gz"))
    b'task,answer'
    """
    if data.startswith(GZIP):
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
    """Raise when an archive unpacks to more than a table of answers would."""
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
        f"has more than {LARGEST / 2**20:,.0f} MiB", where=where, fix="split it into several files"
    )


def gzip_blocks(data: bytes, where: Path) -> Iterator[bytes]:
    """Yield the contents of a gzip file, block by block; a second member is refused."""
    stream = zlib.decompressobj(wbits=31)
    rest = data
    try:
        while not stream.eof:
            block = stream.decompress(rest, BLOCK)
            rest = stream.unconsumed_tail
            if not block and not stream.eof and not rest:
                raise InputError("is a truncated gzip file", where=where, fix="copy it again")
            yield block
    except zlib.error:
        raise InputError("is a broken gzip file", where=where, fix="copy it again") from None
    if stream.unused_data:
        raise InputError("has more data after its first gzip member", where=where, fix="pack only one file")


def zip_blocks(data: bytes, where: Path) -> Iterator[bytes]:
    """Yield the contents of the only member of a zip file, block by block."""
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
    """Raise on a directory of more than one file before all of it is read."""
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) < at + 22:
        raise InputError("is a truncated zip file", where=where, fix="copy it again")
    count, size = struct.unpack("<HI", data[at + 10 : at + 16])
    # The locator of a 64-bit directory would override these numbers.
    wide = data[max(at - 20, 0) : at].startswith(b"PK\x06\x07")
    if count != 1 or size > DIRECTORY or wide:
        raise several(where)


def only_member(archive: zipfile.ZipFile, where: Path) -> zipfile.ZipInfo:
    """Return the only member of a zip file, which must be a regular file."""
    members = archive.infolist()
    if len(members) != 1:
        raise several(where)
    (member,) = members
    # The upper half is the Unix mode; archives from other systems have 0 there.
    kind = (member.external_attr >> 16) & 0o170000
    if member.is_dir() or kind not in (0, 0o100000):
        raise InputError("does not contain a regular file", where=where, fix="pack the file itself")
    if member.flag_bits & 1:
        raise InputError("is protected by a password", where=where, fix="unpack it first")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("uses an unsupported compression method", where=where, fix="unpack it first")
    return member


def several(where: Path) -> InputError:
    """Return the error for an archive without exactly one member."""
    return InputError("is a zip file without exactly one member", where=where, fix="pack only one file")
