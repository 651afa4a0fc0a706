"""Large data inside a page: numbers as small as they go, gzip, base64; JSON that cannot end its script."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def safe_json(data: Any) -> str:
    r"""Return json that is safe inside a script element: nothing in it can end or open an element.

    >>> safe_json({"run": "</script><b>&"})
    '{"run":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def packed(data: bytes, level: int = 9) -> str:
    """Return gzip in base64; the same bytes give the same text.

    >>> gzip.decompress(base64.b64decode(packed(b"abc")))
    b'abc'
    """
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode("ascii")


class Pack:
    """Arrays of numbers behind each other, with a description of where each one lies.

    Examples
    --------
    >>> pack = Pack()
    >>> pack.add(np.array([0, 1, 300])), pack.add(np.array([1.0, 0.5, np.nan]))
    (0, 1)
    >>> pack.describe()["arrays"]
    [{'type': 'u16', 'at': 0, 'length': 3}, {'type': 'f32', 'at': 8, 'length': 3}]
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._arrays: list[dict[str, Any]] = []

    def add(self, values: np.ndarray) -> int:
        """Add an array and return its number; whole numbers take as few bytes as they need."""
        kind, plain = narrowed(np.asarray(values))
        # Typed arrays in the browser start at multiples of their own size.
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        self._arrays.append({"type": kind, "at": len(self._bytes), "length": len(plain)})
        self._bytes += plain.tobytes()
        return len(self._arrays) - 1

    def describe(self) -> dict[str, Any]:
        """Return where the arrays lie, and all of them compressed."""
        return {"arrays": self._arrays, "data": packed(bytes(self._bytes), level=6)}


def narrowed(values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the smallest of u8, u16, u32 and f32 that holds the values, and them in it.

    Values per query are 0 or 1 for most measures: 25,000 of them compress to three kilobytes.

    >>> narrowed(np.array([0.0, 1.0]))[0], narrowed(np.array([0.25]))[0], narrowed(np.array([-1]))[0]
    ('u8', 'f32', 'f32')
    """
    whole = bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    if whole and values.size and values.min() >= 0:
        for kind, dtype in (("u8", "<u1"), ("u16", "<u2"), ("u32", "<u4")):
            if values.max() <= np.iinfo(dtype).max:
                return kind, values.astype(dtype)
    # Six digits are more than the page shows, and compress far better than all 24 bits.
    return "f32", values.astype("<f4").round(4)


def packed_texts(texts: Sequence[str]) -> str:
    """Return texts compressed."""
    return packed(safe_json(list(texts)).encode("utf-8"), level=6)
