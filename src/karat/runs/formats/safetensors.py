"""safetensors: arrays by key behind a json header, mapped and not read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import parsing, plural
from karat.benchmarks import as_id_array
from karat.errors import InputError
from karat.runs.formats.blocks import Blocks, MappedShard, blocks, check_unpacked, stored_type, write_rows
from karat.runs.formats.content import (
    FIX,
    IDS,
    MADE_WITH,
    TABLES,
    Content,
    FormatWriter,
    arrays_of,
    as_ids,
    content_of,
    plain,
    register,
    shape_of,
)
from karat.runs.vectors import Shard, Shards

TYPES = {
    "F16": "float16", "F32": "float32", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32",
    "I64": "int64", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64",
}  # fmt: skip
BROKEN = ("is not a complete safetensors file", "write it with safetensors.numpy.save_file")
NAMES = {name: code for code, name in TYPES.items()}


def read_safetensors(path: Path) -> Content:
    """Read a score table or two embedding tables, with ids where they are there."""
    with parsing(path, *BROKEN):
        start, header, texts = read_header(path)
        arrays: dict[str, Any] = {key: map_tensor(path, start, key, entry) for key, entry in header.items()}
        return content_of(arrays | ids_in(texts), path, texts.get(MADE_WITH))


def read_header(path: Path) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return where the numbers start, what describes each tensor, and the texts of the header."""
    from safetensors import safe_open

    check_unpacked(path)
    # The library checks the header, the sizes and their places; numpy then maps the same bytes.
    with safe_open(path, framework="np") as checked:
        keys, texts = list(checked.keys()), checked.metadata() or {}
    with path.open("rb") as handle:
        length = int.from_bytes(handle.read(8), "little")
        header = json.loads(handle.read(length))
    return 8 + length, {key: header[key] for key in keys}, texts


def ids_in(texts: dict[str, str]) -> dict[str, Any]:
    """Return the ids in a header: text has no place among tensors."""
    return {key: as_id_array(json.loads(texts[key])) for key in set(IDS.values()) & texts.keys()}


def map_tensor(path: Path, start: int, key: str, entry: dict[str, Any]) -> Any:
    """Return a tensor as a map of the file; bfloat16, which numpy lacks, as float32 made where it is read."""
    code, shape = entry["dtype"], tuple(entry["shape"])
    dtype = type_of(code, key, path)
    if 0 in shape:
        return np.empty(shape, dtype)
    offset = start + entry["data_offsets"][0]
    # The compiled kernels want numbers at their natural boundaries.
    if code != "BF16" and offset % dtype.alignment == 0:
        return np.memmap(path, dtype, "r", offset, (math.prod(shape),)).reshape(shape)
    if len(shape) == 2:
        return Shards([tensor_shard(path, start, key, entry)])
    mapped = np.memmap(path, dtype, "r", offset, (math.prod(shape),)).reshape(shape)
    stored = np.float32 if code == "BF16" else dtype
    return Blocks(shape, stored, lambda: (widened(block, code) for block in blocks(mapped)))


def type_of(code: str, key: str, path: Path) -> np.dtype:
    """Return numpy's type of a tensor in the file, bfloat16 as the upper halves of float32."""
    if code not in (*TYPES, "BF16"):
        raise InputError(f"{key!r} is of type {code}", where=path, fix="save it as float32")
    return np.dtype("uint16" if code == "BF16" else TYPES[code])


def widened(block: np.ndarray, code: str = "BF16") -> np.ndarray:
    """Return numbers as numpy has them: bfloat16 is the upper half of a float32.

    >>> widened(np.array([0x3F80, 0xC000], np.uint16)).tolist()
    [1.0, -2.0]
    """
    return (block.astype(np.uint32) << 16).view(np.float32) if code == "BF16" else block


class WidenedRows:
    """Rows of bfloat16, made float32 where they are taken."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def __getitem__(self, key: Any) -> np.ndarray:
        return widened(self.rows[key])


class BFloat16Shard(MappedShard):
    """A table of bfloat16, which is read as float32."""

    def __init__(self, *place: Any, **keywords: Any) -> None:
        super().__init__(*place, **keywords)
        self.halves, self.stored = self.stored, np.dtype(np.float32)

    def open(self) -> WidenedRows:
        """Map the file."""
        return WidenedRows(self.map(self.halves))


def tensor_shard(path: Path, start: int, key: str, entry: dict[str, Any]) -> MappedShard:
    """Return one tensor as a part of a table."""
    code, offset = entry["dtype"], start + entry["data_offsets"][0]
    kind, stored_as = (BFloat16Shard, "bfloat16") if code == "BF16" else (MappedShard, "")
    return kind(path, tuple(entry["shape"]), type_of(code, key, path), offset, stored_as=stored_as)


def safetensors_shards(path: Path) -> dict[str, Shard]:
    """Return the tables of a file as parts of larger ones: the one that there is, or those of both sides."""
    with parsing(path, *BROKEN):
        start, header, texts = read_header(path)
        tables = {key: entry for key, entry in header.items() if len(entry["shape"]) == 2}
        sides = {key: side for side, keys in TABLES.items() for key in keys}
        named = {sides[key]: key for key in tables if key in sides}
        if len(tables) == 1:
            named = {"": next(iter(tables))}
        if len(named) != len(tables) or not named:
            shown = ", ".join(repr(key) for key in list(header)[:6]) or "none"
            raise InputError(f"holds {plural(len(tables), 'table')} (keys: {shown})", where=path, fix=FIX)
        shards: dict[str, Shard] = {}
        for side, key in named.items():
            shards[side] = tensor_shard(path, start, key, tables[key])
            shards[side].named = ids_of_side(side, path, start, header, texts)
        return shards


def ids_of_side(
    side: str, path: Path, start: int, header: dict[str, Any], texts: dict[str, str]
) -> list[Any] | None:
    """Return the ids that a file keeps of a side; those of either side, where its table is of no side."""
    keys = [IDS[side]] if side else list(IDS.values())
    known = ids_in(texts) | {key: map_tensor(path, start, key, header[key]) for key in keys if key in header}
    return next((plain(as_ids(known[key], f"{path}, {key}")) for key in keys if key in known), None)


def write_safetensors(content: Content, path: Path) -> None:
    """Write tables block by block; the library's own function takes them whole."""
    header: dict[str, Any] = {}
    texts, arrays, offset = {}, {}, 0
    for name, array in arrays_of(content).items():
        dtype = stored_type(array)
        if dtype.kind == "U":
            texts[name] = json.dumps(array.tolist())
            continue
        size = math.prod(array.shape) * dtype.itemsize
        if dtype.name not in NAMES:
            raise InputError(f"safetensors has no {dtype}", where=path, fix="convert it to npy instead")
        header[name] = {
            "dtype": NAMES[dtype.name],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + size],
        }
        arrays[name] = array
        offset += size
    if content.made_with is not None:
        texts[MADE_WITH] = content.made_with.to_json()
    if texts:
        header["__metadata__"] = texts
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as handle:
        handle.write(len(head).to_bytes(8, "little") + head)
        for array in arrays.values():
            write_rows(handle, array, content.where or path)


register(
    ".safetensors",
    read_safetensors,
    FormatWriter(
        write_safetensors, ("scores", "embeddings"), keeps_ids=("scores", "embeddings"), keeps_made_with=True
    ),
    shape=lambda path: shape_of(read_safetensors(path)),
    shards=safetensors_shards,
)
