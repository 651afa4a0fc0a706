"""What kind of picture a file is, by its first bytes: its name may say anything."""

from __future__ import annotations

KINDS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)
"""Pictures made of pixels. SVG is not among them: it can hold scripts."""


def picture_kind(data: bytes) -> str | None:
    """Return the content type of a picture by its first bytes; None for anything else.

    >>> [picture_kind(one) for one in (b"\\xff\\xd8\\xff\\xe0", b"<svg onload=x>", b"RIFF....WEBPVP8 ")]
    ['image/jpeg', None, 'image/webp']
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    return next((kind for start, kind in KINDS if data.startswith(start)), None)
