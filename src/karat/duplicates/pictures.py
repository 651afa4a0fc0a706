"""Pictures that are the same file, or the same picture saved, scaled or cropped otherwise.

A picture's *outline* is what a difference hash is before it is rounded to bits: grey values of 17 by 17
cells, their differences to the right and down, the square root of each with its sign, scaled to length 1.
Where a picture is flat, noise decides the bits of a hash; these numbers are small there, and count little.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from karat._util import cached, extra, stage, threads
from karat.duplicates.pairs import DuplicatePairs, equal_items
from karat.duplicates.vectors import close_rows
from karat.errors import KaratError
from karat.models import decode_bytes, open_bytes

SIDE, CELLS = 256, 16
"""Pixels of the longest side at most, and cells of a side in which their grey values are averaged."""
SAME_PICTURE = 0.95
"""Outlines at least as similar are the same picture, saved again or scaled."""
NEAR_PICTURE = 0.8
"""Outlines at least as similar are nearly the same picture, such as a crop; or drawings of one background."""
LAYOUT = 1
"""Counts changes of the outline, which make cached ones useless."""


@dataclass(frozen=True, eq=False)
class PicturePrints:
    """What is kept of picture files to compare them: a digest of the bytes and an outline.

    Parameters
    ----------
    digests
        Per picture 16 bytes; zeros where the file cannot be read.
    outlines
        Pictures by numbers; zeros where it cannot be decoded, or has no structure at all.
    """

    digests: np.ndarray
    outlines: np.ndarray

    @property
    def unread(self) -> np.ndarray:
        """The pictures whose file could not be read or decoded."""
        return np.flatnonzero(~self.digests.any(axis=1))

    def keys(self) -> list[bytes | None]:
        """Return a key per picture, equal for equal files; None for what could not be read."""
        return [row.tobytes() if row.any() else None for row in self.digests]


def outline(pixels: np.ndarray) -> np.ndarray:
    """Return the outline of a picture, 512 numbers of length 1; zeros for one of a single colour.

    >>> ramp = np.tile(np.arange(0, 250, 2, dtype=np.uint8), (50, 1))
    >>> brighter = (ramp + 5).astype(np.uint8)
    >>> float(outline(ramp) @ outline(brighter)) > 0.999
    True
    """
    image_module = extra("PIL.Image")
    grey = image_module.fromarray(pixels).convert("L")
    size = (CELLS + 1, CELLS + 1)
    cells = np.asarray(grey.resize(size, image_module.Resampling.BOX), np.float32)
    right = cells[:-1, 1:] - cells[:-1, :-1]
    down = cells[1:, :-1] - cells[:-1, :-1]
    steps = np.concatenate([right.ravel(), down.ravel()])
    roots = np.sign(steps) * np.sqrt(np.abs(steps))
    length = np.linalg.norm(roots)
    return roots / length if length else roots


def print_pictures(paths: Sequence[str | Path]) -> PicturePrints:
    """Read picture files, or what is cached of them while they stay the same."""
    files = [Path(path) for path in paths]
    place = zlib.crc32("\n".join(str(path.absolute()) for path in files).encode(errors="replace"))
    present = [path for path in files if path.is_file()]
    kept = cached(f"pictures-{LAYOUT}-{place:08x}", present, lambda: read_prints(files))
    return PicturePrints(kept["digests"], kept["outlines"])


def read_prints(paths: Sequence[Path]) -> dict[str, np.ndarray]:
    """Read picture files on several threads."""
    digests = np.zeros((len(paths), 16), np.uint8)
    outlines = np.zeros((len(paths), 2 * CELLS * CELLS), np.float32)

    read = stage("reading pictures", len(paths))

    def part(begin: int, end: int) -> None:
        for index in range(begin, end):
            read.advance()
            try:
                data = paths[index].read_bytes()
                # Small pictures are not enlarged.
                side = min(SIDE, max(open_bytes(data, where=paths[index]).size))
                outlines[index] = outline(decode_bytes(data, side=side, where=paths[index]))
            except (OSError, KaratError):
                continue
            digests[index] = np.frombuffer(blake2b(data, digest_size=16).digest(), np.uint8)

    extra("PIL.Image")  # a missing package is not an unreadable picture
    with threads() as loop, read:
        loop(part, 0, len(paths))
    return {"digests": digests, "outlines": outlines}


def picture_duplicates(
    prints: PicturePrints, others: PicturePrints | None = None, near: float = NEAR_PICTURE
) -> list[DuplicatePairs]:
    """Return pictures whose files are the same, others that are the same picture, and those that come near.

    What is relevant to a picture is relevant to the same picture, not to one that comes near. A mirrored
    picture is not a duplicate: captions say left and right, and writing is reversed.
    """
    first, second = equal_items(prints.keys(), None if others is None else others.keys())
    files = DuplicatePairs("images", "same file", first, second, np.ones(len(first)), True, True)
    least = min(near, SAME_PICTURE)
    first, second, cosine = close_rows(prints.outlines, least, None if others is None else others.outlines)
    digests = prints.digests if others is None else others.digests
    new = (prints.digests[first] != digests[second]).any(axis=1)
    same, close = new & (cosine >= SAME_PICTURE), new & (cosine < SAME_PICTURE) & (cosine >= near)
    return [
        files,
        DuplicatePairs("images", "same picture", first[same], second[same], cosine[same], True),
        DuplicatePairs("images", "near picture", first[close], second[close], cosine[close]),
    ]
