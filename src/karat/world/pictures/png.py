"""A png file whose bytes depend on the pixels alone.

zlib's compressed bytes differ between its builds, so nothing is compressed: the pixels are kept in *stored*
blocks of the deflate format. A palette keeps files small where there are few enough colours.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from karat.world.pictures.shapes import STEP

STORED = 65535
"""The most bytes in a stored block (RFC 1951, 3.2.4)."""


def encode_png(picture: np.ndarray) -> bytes:
    """Return a picture, bytes [height, width, 3], as a png file: with a palette for up to 256 colours.

    Examples
    --------
    >>> len(encode_png(np.zeros((10, 20, 3), np.uint8)))
    293
    """
    height, width = picture.shape[:2]
    colours, index = distinct(picture)
    few = len(colours) <= 256
    rows = index.astype(np.uint8) if few else picture.reshape(height, -1)
    # Each row starts with the number of its filter: 0, none.
    data = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3 if few else 2, 0, 0, 0)
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head)]
    if few:
        parts.append(chunk(b"PLTE", colours.astype(np.uint8).tobytes()))
    return b"".join([*parts, chunk(b"IDAT", stored(data)), chunk(b"IEND", b"")])


def distinct(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the colours of a picture in order, [number, 3], and which of them each pixel has."""
    levels, rest = np.divmod(picture, STEP)
    if not rest.any():
        # At most 4,096 colours: counting is ten times faster than sorting.
        codes = levels.astype(np.int64) @ np.array([256, 16, 1])
        used = np.flatnonzero(np.bincount(codes.ravel(), minlength=4096))
        place = np.zeros(4096, np.int64)
        place[used] = np.arange(len(used))
        return np.stack([used >> 8, used >> 4 & 15, used & 15], axis=1) * STEP, place[codes]
    codes = picture.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    used, index = np.unique(codes, return_inverse=True)
    return np.stack([used >> 16, used >> 8 & 255, used & 255], axis=1), index.reshape(codes.shape)


def stored(data: bytes) -> bytes:
    """Return bytes as an uncompressed zlib stream (RFC 1950)."""
    parts = [b"\x78\x01"]
    for begin in range(0, max(len(data), 1), STORED):
        block = data[begin : begin + STORED]
        last = begin + STORED >= len(data)
        parts.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join([*parts, struct.pack(">I", zlib.adler32(data))])


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a png file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
