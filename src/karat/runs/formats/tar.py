"""tar as WebDataset writes it: a member ``KEY.npy`` per vector, or ``KEY.img.npy`` and ``KEY.txt.npy``.

Members of other kinds (pictures, texts) may be between them. Vectors are read in place, so the file must not
be compressed.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from karat._util import parsing
from karat.errors import InputError
from karat.runs.formats.blocks import finite_blocks
from karat.runs.formats.content import Content, FormatWriter, one_file, plain, register, shape_of, side_named
from karat.runs.formats.npy import read_header
from karat.runs.vectors import Shard

BROKEN = ("is not a complete tar file", "write it again, not compressed")
FIX = "name its members KEY.npy, or KEY.img.npy and KEY.txt.npy"
BLOCK = 512
"""What members of a tar are padded to."""
MOST_HEADER = 1 << 16


class TarShard(Shard):
    """The vectors of one side, a member of the file each."""

    def __init__(self, path: Path, width: int, dtype: np.dtype, members: Sequence[tuple[str, int]]) -> None:
        super().__init__(path, (len(members), width), dtype)
        self.named = [unquote(key) for key, _ in members]
        self.offsets = np.array([offset for _, offset in members], np.int64)

    def open(self) -> TarRows:
        """Map the file."""
        with parsing(self.path, "is no longer complete", "write it again"):
            return TarRows(self, np.memmap(self.path, np.uint8, "r"))

    def only_count(self, ids: Sequence[Any]) -> bool:
        """Whether keys number the rows, as WebDataset's do by default."""
        return all(key.isdecimal() and int(key) == row for row, key in enumerate(ids))


class TarRows:
    """The rows of a mapped tar, gathered where they are taken."""

    def __init__(self, shard: TarShard, data: np.ndarray) -> None:
        self.shard, self.data = shard, data

    def __getitem__(self, key: Any) -> np.ndarray:
        offsets, dtype, width = self.shard.offsets[key], self.shard.stored, self.shard.shape[1]
        table = np.empty((len(offsets), width), dtype)
        for row, offset in enumerate(offsets.tolist()):
            table[row] = np.frombuffer(self.data, dtype, width, offset)
        return table


def tar_shards(path: Path) -> dict[str, Shard]:
    """Return the vectors of a tar as parts of tables: of one side, or of both by the names of its members."""
    with parsing(path, *BROKEN):
        found = list_members(path)
        data = np.memmap(path, np.uint8, "r")
        return {side: make_shard(path, data, members) for side, members in found.items()}


def list_members(path: Path) -> dict[str, list[tarfile.TarInfo]]:
    """Return the members that are vectors, by side."""
    found: dict[str, list[tarfile.TarInfo]] = {}
    end = 0
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            end = max(end, member.offset_data + -(-member.size // BLOCK) * BLOCK)
            if member.isreg() and member.name.endswith(".npy"):
                _, field = split_name(member.name)
                side = side_named(field) if field else ""
                if side is None:
                    raise InputError(f"has the member {member.name!r}", where=path, fix=FIX)
                found.setdefault(side, []).append(member)
            # The archive keeps every member, whose texts take more than the vectors.
            archive.members = []  # type: ignore[attr-defined]
    with path.open("rb") as handle:
        handle.seek(end)
        mark = handle.read(BLOCK)
    # A file that was cut between two members shows nothing else.
    if mark != bytes(BLOCK):
        raise InputError("ends without the mark of its end: the rest is missing", where=path, fix=BROKEN[1])
    if not found or ("" in found and len(found) > 1):
        what = "holds vectors with and without a side" if found else "holds no vectors"
        raise InputError(what, where=path, fix=FIX)
    return found


def split_name(name: str) -> tuple[str, str]:
    """Return the key of a member and what is between it and the extension, as WebDataset splits names.

    >>> split_name("a/0001.npy"), split_name("0001.img.npy")
    (('a/0001', ''), ('0001', 'img'))
    """
    path = PurePosixPath(name)
    stem, _, rest = path.name.partition(".")
    return str(path.with_name(stem)), rest.removesuffix("npy").rstrip(".")


def make_shard(path: Path, data: np.ndarray, members: Sequence[tarfile.TarInfo]) -> TarShard:
    """Return members as rows; each is a vector of the same type and width."""
    head, width, dtype = b"", 0, np.dtype(np.float32)
    places = []
    for member in members:
        begin = member.offset_data
        if not head or data[begin : begin + len(head)].tobytes() != head:
            stream = io.BytesIO(data[begin : begin + min(member.size, MOST_HEADER)].tobytes())
            with parsing(path, f"member {member.name!r} is not a complete npy file", BROKEN[1]):
                shape, _, kind = read_header(stream, f"{path}, {member.name}")
                size = shape[-1] if len(shape) == 1 or (len(shape) == 2 and shape[0] == 1) else 0
                if not size or stream.tell() + size * kind.itemsize > member.size:
                    what = f"member {member.name!r} is of shape {shape}"
                    raise InputError(what, where=path, fix="give one vector in each")
            if head and (size, kind) != (width, dtype):
                raise InputError(
                    f"member {member.name!r} has {size} numbers of {kind}, the first {width} of {dtype}",
                    where=path,
                    fix="give vectors of one model",
                )
            head, width, dtype = stream.getvalue()[: stream.tell()], size, kind
        places.append((split_name(member.name)[0], begin + len(head)))
    return TarShard(path, width, dtype, places)


def read_tar(path: Path) -> Content:
    """Read the vectors of one side, or of both."""
    return one_file(tar_shards(path))


def write_tar(content: Content, path: Path) -> None:
    """Write the vectors of one side, their ids as keys, in which dots and slashes are escaped."""
    ids = content.rows
    keys = None if ids is None else [quote(str(key), safe="").replace(".", "%2E") for key in plain(ids)]
    row = 0
    with tarfile.open(path, "w") as archive:
        for block in finite_blocks(content.tables[0], content.where or path):
            for vector in block:
                stream = io.BytesIO()
                np.save(stream, vector, allow_pickle=False)
                member = tarfile.TarInfo(f"{f'{row:09d}' if keys is None else keys[row]}.npy")
                member.size = len(stream.getvalue())
                stream.seek(0)
                archive.addfile(member, stream)
                row += 1


register(
    ".tar",
    read_tar,
    FormatWriter(write_tar, ("vectors",), keeps_ids=("vectors",)),
    shape=lambda path: shape_of(read_tar(path)),
    shards=tar_shards,
)
