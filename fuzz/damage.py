"""Damage: bytes, json values, heads of safetensors and arrays of npz, each changed in random ways."""

import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

TEXT = [
    b"0",
    b"-1",
    b"1e309",
    b"nan",
    b"null",
    b"999999999999999999999",
    b'"',
    b"{",
    b"[",
    b"\t",
    b"\n",
    b",",
    b"\xff",
]
"""What is put between the bytes of a file."""

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 64, 1000, 70_000, 10**6, 2**31, 2**40, 2**63, 10**30, -(10**30), 0.5,
    -0.5, 1e-30, 1e9, 1e300, float("nan"), float("inf"), float("-inf"), "", "0", "x", "None", "a" * 5000,
    "..", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "C:\\x", "~", "model.safetensors", "float16",
    "int8", "complex64", "é漢字\u202e", "\x00", "\x1b[2J", "\ud800", "{}", "{{ 7*7 }}", "%s%n", "\n",
    [], {}, [None], [[]], [0], [1, 2, 3], ["x"], [[1, 2], [3]], {"": None}, {"x": {"x": {}}}, {"0": "x"},
    [0] * 1000, {"height": 1, "width": 10_000}, {"shortest_edge": 10_000}, {"longest_edge": 1e6},
]  # fmt: skip
"""What a value of a json file is replaced by."""

DTYPES = ["F64", "F32", "F16", "BF16", "I64", "I8", "U8", "BOOL", "F8_E4M3", "C64", "F4", "x", 3, None]


SPOILT = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError, MemoryError,
    EOFError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What is raised where an earlier damage left a file that is not of its kind any more."""


def mutate(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Damage some bytes in one to four ways."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        end = min(len(out), at + rng.randint(1, 16))
        way = rng.randrange(8)
        if way == 0 and out:
            out[min(at, len(out) - 1)] ^= 1 << rng.randrange(8)
        elif way == 1:
            del out[at:end]
        elif way == 2:
            out[at:at] = out[at:end] * rng.randint(1, 3)
        elif way == 3:
            out[at:end] = rng.choice(TEXT)
        elif way == 4:
            del out[at:]
        elif way == 5:
            out[at:end] = rng.randbytes(end - at)
        elif way == 6:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            out[at:end] = other[begin : begin + rng.randint(1, 64)]
        else:
            out[at:at] = rng.choice(TEXT)
    return bytes(out)


def places_of(content: Any) -> list[tuple[Any, Any]]:
    """Return every place of a json value: what holds it, and its key or number."""
    found, waiting = [], [content]
    while waiting:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        for key in keys:
            found.append((inner, key))
            if isinstance(inner[key], dict | list):
                waiting.append(inner[key])
    return found


def changed_number(value: Any, rng: random.Random) -> Any:
    """Return a number near another, or far from it."""
    change: Callable[[Any], Any] = rng.choice(
        [
            lambda x: -x,
            lambda x: x + 1,
            lambda x: x - 1,
            lambda x: x * 2,
            lambda x: x * 10**6,
            lambda x: x / 3,
            float,
            str,
            lambda x: [x],
        ]
    )
    return change(value)


def damage_json(data: bytes, rng: random.Random, more: dict[str, list[Any]]) -> bytes:
    """Change one to three values or keys; `more` has keys that may be added, with values."""
    content = json.loads(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = places_of(content)
        way = rng.randrange(10)
        if way < 3 and more and isinstance(content, dict):
            key = rng.choice(list(more))
            holders = [inner for inner, _ in places if isinstance(inner, dict)]
            rng.choice([content, *holders])[key] = deepcopy(rng.choice([*more[key], rng.choice(VALUES)]))
        elif not places:
            content = deepcopy(rng.choice(VALUES))
            break
        else:
            inner, key = rng.choice(places)
            value = inner[key]
            if way < 6 and isinstance(value, int | float) and not isinstance(value, bool):
                inner[key] = changed_number(value, rng)
            elif way == 7:
                del inner[key]
            elif way == 8 and isinstance(inner, dict):
                inner[str(rng.choice(VALUES))] = inner.pop(key)
            elif way == 9:
                inner[key] = rng.choice(places)[0] if rng.random() < 0.2 else [value]
                try:
                    json.dumps(content)
                except ValueError:
                    # A cycle, which json cannot hold.
                    inner[key] = value
            else:
                inner[key] = deepcopy(rng.choice(VALUES))
    text = json.dumps(content)
    if rng.random() < 0.03:
        # The same key twice, another time at the end.
        text = f'{text[:-1]}, "model_type": "bert", "architectures": ["x"], {text[1:]}'
    if rng.random() < 0.02:
        depth = rng.choice([100, 5000, 200_000])
        text = '{"x": ' + "[" * depth + "]" * depth + ", " + text[1:]
    return text.encode("utf-8", "surrogatepass")


def damage_safetensors(data: bytes, rng: random.Random) -> bytes:
    """Change the head of a safetensors file, or the numbers behind it."""
    (length,) = struct.unpack("<Q", data[:8])
    head, rest = json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])
    names = [name for name in head if name != "__metadata__"]
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(names)
        entry = head.get(name)
        way = rng.randrange(11)
        if not isinstance(entry, dict):
            continue
        if way == 0:
            entry["dtype"] = rng.choice(DTYPES)
        elif way == 1:
            shape = entry["shape"]
            entry["shape"] = rng.choice(
                [[], [0], shape[::-1], [*shape, 1], [-1], [2**40, 2**40], [2**63], "x"]
            )
        elif way == 2:
            entry["data_offsets"] = rng.choice(
                [[0, 0], [0, 2**62], [-4, 4], [4, 0], [len(rest)] * 2, [0], None]
            )
        elif way == 3:
            del head[name]
        elif way == 4:
            head[rng.choice(["x", "", "../x", "a" * 5000, f"{name}.more", "\x1b[2J"])] = head.pop(name)
        elif way == 5:
            # Another tensor's numbers.
            other = rng.choice(names)
            head[name] = head.get(other, entry)
        elif way == 6:
            head["__metadata__"] = rng.choice([{}, {"format": "x"}, {"format": 3}, [], {"a": "b" * 10**5}])
        elif way == 7 and rest:
            begin = rng.randrange(len(rest) // 4 + 1) * 4
            value = rng.choice([float("nan"), float("inf"), 1e38, 0.0])
            size = min(rng.choice([1, 16, 10**6]), (len(rest) - begin) // 4)
            rest[begin : begin + 4 * size] = struct.pack("<f", value) * size
        elif way == 8:
            del rest[rng.randrange(len(rest) + 1) :]
        elif way == 9:
            rest += bytes(rng.choice([1, 64, 10**5]))
        else:
            # A cut tensor, of the right number of bytes.
            begin, end = entry["data_offsets"]
            entry["shape"], entry["dtype"] = [end - begin], "U8"
    text = json.dumps(head).encode()
    if rng.random() < 0.1:
        length = rng.choice([0, 1, len(text) - 1, len(text) + 1, 2**32, 2**63, 100_000_001])
        return struct.pack("<Q", length) + text + bytes(rest)
    return struct.pack("<Q", len(text)) + text + bytes(rest)


def damage_arrays(data: bytes, rng: random.Random, evil: bytes) -> bytes:
    """Change an array of a npz file, or put one that is no array in its place."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = rng.choice(list(arrays))
    array = arrays[name]
    way = rng.randrange(9)
    if way == 0:
        arrays[name] = array[: len(array) // 2] if array.ndim else array
    elif way == 1:
        arrays[name] = array[None]
    elif way == 2:
        dtype = rng.choice(["int8", "float16", "float64", "complex64", "U3", "bool"])
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(dtype)
    elif way == 3 and array.size:
        flat = array.reshape(-1).copy()
        with np.errstate(all="ignore"):
            value = np.array(rng.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**62]))
            flat[rng.randrange(len(flat))] = value.astype(array.dtype)
        arrays[name] = flat.reshape(array.shape)
    elif way == 4 and array.dtype.kind == "f":
        arrays[name] = np.full_like(array, rng.choice([np.nan, np.inf, 1e38, 0]))
    elif way == 5:
        del arrays[name]
    elif way == 6:
        arrays[name] = np.zeros(rng.choice([0, (0, 5), (3, 0, 2), 1]), array.dtype)
    elif way == 7:
        arrays[name] = arrays[rng.choice(list(arrays))]
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    if way == 8:
        # A head that promises much, or objects.
        with zipfile.ZipFile(out, "a") as packed:
            promise = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 1000000), }"
            held = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
            text = rng.choice([promise, held]).encode().ljust(117) + b"\n"
            packed.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + evil)
    return out.getvalue()
