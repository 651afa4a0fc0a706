"""safetensors: arrays by key behind a json header, mapped and not read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import parsing
from karat.benchmarks import as_id_array
from karat.errors import InputError
from karat.runs.formats.blocks import Blocks, blocks, write_rows
from karat.runs.formats.content import IDS, Content, FormatWriter, arrays_of, content_of, register, shape_of

TYPES = {
    "F16": "float16", "F32": "float32", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32",
    "I64": "int64", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64",
}  # fmt: skip
NAMES = {name: code for code, name in TYPES.items()}


def read_safetensors(path: Path) -> Content:
    """Read a score table or two embedding tables, with ids where they are there."""
    with parsing(path, "is not a complete safetensors file", "write it with safetensors.numpy.save_file"):
        from safetensors import safe_open

        # The library checks the header, the sizes and their places; numpy then maps the same bytes.
        with safe_open(path, framework="np") as checked:
            keys, texts = list(checked.keys()), checked.metadata() or {}
        with path.open("rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(length))
        arrays: dict[str, Any] = {key: map_tensor(path, 8 + length, key, header[key]) for key in keys}
        for key in set(IDS.values()) & texts.keys():
            # Text has no place among tensors: it is in the header.
            arrays[key] = as_id_array(json.loads(texts[key]))
        return content_of(arrays, path)


def map_tensor(path: Path, start: int, key: str, entry: dict[str, Any]) -> Any:
    """Return a tensor as a map of the file; bfloat16, which numpy lacks, as float32 made in blocks."""
    code, shape = entry["dtype"], tuple(entry["shape"])
    if code not in (*TYPES, "BF16"):
        raise InputError(f"{key!r} is of type {code}", where=path, fix="save it as float32")
    dtype = np.dtype("uint16" if code == "BF16" else TYPES[code])
    if 0 in shape:
        return np.empty(shape, dtype)
    mapped = np.memmap(path, dtype, "r", start + entry["data_offsets"][0], (math.prod(shape),)).reshape(shape)
    if code == "BF16":
        # It is the upper half of a float32.
        return Blocks(
            shape,
            np.float32,
            lambda: ((block.astype(np.uint32) << 16).view(np.float32) for block in blocks(mapped)),
        )
    # The compiled kernels want numbers at their natural boundaries.
    return mapped if mapped.flags.aligned else Blocks(shape, dtype, lambda: blocks(mapped))


def write_safetensors(content: Content, path: Path) -> None:
    """Write tables block by block; the library's own function takes them whole."""
    header: dict[str, Any] = {}
    texts, arrays, offset = {}, {}, 0
    for name, array in arrays_of(content).items():
        if array.dtype.kind == "U":
            texts[name] = json.dumps(array.tolist())
            continue
        size = math.prod(array.shape) * array.dtype.itemsize
        if array.dtype.name not in NAMES:
            raise InputError(f"safetensors has no {array.dtype}", where=path, fix="convert it to npy instead")
        header[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + size],
        }
        arrays[name] = array
        offset += size
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
    FormatWriter(write_safetensors, ("scores", "embeddings"), keeps_ids=("scores", "embeddings")),
    shape=lambda path: shape_of(read_safetensors(path)),
)
