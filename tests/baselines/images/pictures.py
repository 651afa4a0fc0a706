"""Pictures that the tests of image features share."""

import struct
import zlib

import numpy as np

SMALL = {
    "side": 64, "points": 16, "colour_words": 6, "texture_words": 9, "sift_words": 5, "sample_points": 50,
}  # fmt: skip
"""Parameters that make features quick."""


def photo(seed: int, height: int = 48, width: int = 64) -> np.ndarray:
    """A made scene: a smooth sky over a rough ground, with a bright box; bytes [height, width, 3]."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    horizon = rng.uniform(0.3, 0.7) * height
    sky = np.array([90, 140, 220]) + (y[..., None] * 60 / height)
    ground = rng.uniform(20, 200, 3) + rng.normal(0, 25, (height, width, 1))
    scene = np.where((y < horizon)[..., None], sky, ground)
    top, left = rng.integers(0, height // 2), rng.integers(0, width // 2)
    scene[top : top + height // 4, left : left + width // 4] = rng.uniform(0, 255, 3)
    scene += 20 * np.sin(x * rng.uniform(0.1, 1))[..., None]
    return scene.clip(0, 255).astype(np.uint8)


def png(width: int, height: int, depth: int, kind: int, rows: bytes) -> bytes:
    """A png file with the header as given, whatever the rows hold."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
