"""Pictures as pixels: any file or array becomes bytes [height, width, 3], or an error says why not.

What is decided here: the first frame of an animation; transparency over white; 16-bit values scaled and not
cut; CMYK, palettes and grey converted to RGB; the rotation that a camera noted applied; everything scaled, up
or down, so that the longest side has a fixed length. Truncated and corrupt files, pictures with too many
pixels and pictures of floating-point or 32-bit values are refused.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import extra
from karat.errors import InputError, MissingDataError

Source = str | Path | np.ndarray
"""A file's path, or pixels."""
SIDE = 256
MOST_PIXELS = 50_000_000
"""A small file may unpack to gigabytes."""
MOST_BYTES = 256 * 1024 * 1024
# Not all that Pillow reads: some of its readers start other programs.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
ROTATIONS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE",
    6: "ROTATE_270", 7: "TRANSVERSE", 8: "ROTATE_90",
}  # fmt: skip
"""The values of the Exif tag Orientation, and what undoes them."""
ORIENTATION = 0x0112
# Filters of warnings belong to the whole process: one thread at a time may change them.
_WARNINGS = threading.Lock()


def decode_image(source: Source, *, side: int = SIDE) -> np.ndarray:
    """Return a picture as RGB bytes [height, width, 3] whose longest side has `side` pixels.

    Parameters
    ----------
    source
        The path of a JPEG, PNG, WebP, GIF, BMP, TIFF or PPM file; or an array: uint8 or uint16, [height,
        width] for grey, [height, width, 3] for RGB, 4 with alpha.
    side
        Length of the longest side. Smaller pictures are enlarged, so that textures of all pictures are
        measured at the same scale.

    Examples
    --------
    >>> decode_image(np.full((30, 60), 200, np.uint8), side=8).shape
    (4, 8, 3)
    """
    if isinstance(source, np.ndarray):
        return scaled(from_array(source), side)
    return decode_bytes(read_bytes(source), side=side, where=source)


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a picture's file."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise InputError("is not a file", where=path, fix="give a picture's file")
        if size > MOST_BYTES:
            raise InputError(f"has {size / 1e6:,.0f} MB", where=path, fix="save a smaller picture")
        return path.read_bytes()
    except InputError:
        raise
    except FileNotFoundError:
        raise MissingDataError("there is no such picture", where=path) from None
    except (OSError, ValueError) as error:
        # A ValueError: a zero byte in the path.
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=path, fix="give a picture's file") from None


def decode_bytes(
    data: bytes, *, side: int = SIDE, where: str | Path | None = None, formats: Sequence[str] = FORMATS
) -> np.ndarray:
    """Return the picture in a file's bytes, as `decode_image` does."""
    image = open_bytes(data, where=where, formats=formats)
    try:
        with image:
            # A JPEG can be unpacked at an eighth of its size; twice the target keeps what scaling needs.
            image.draft(None, (2 * side, 2 * side))
            image.load()
            return scaled(upright(image), side, where)
    except InputError:
        raise
    except Exception as error:
        raise damaged(error, where) from None


def open_bytes(data: bytes, *, where: str | Path | None = None, formats: Sequence[str] = FORMATS) -> Any:
    """Return the picture in a file's bytes as Pillow's, not decoded; one with too many pixels is refused.

    Parameters
    ----------
    data
        The content of a file.
    where
        The file, for messages.
    formats
        The formats that are tried, by Pillow's names.
    """
    image_module = extra("PIL.Image")
    if not data:
        raise InputError("is empty", where=where, fix="get the file again")
    try:
        with _WARNINGS, warnings.catch_warnings():
            # Pillow warns of large pictures; here they are refused below.
            warnings.simplefilter("ignore")
            image = image_module.open(io.BytesIO(data), formats=formats)
    except image_module.DecompressionBombError:
        raise too_large("more than 150 million", where) from None
    except Exception:
        raise InputError(
            "is not a readable picture", where=where, fix=f"save it as one of {', '.join(formats)}"
        ) from None
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise too_large(f"{width:,} x {height:,}", where)
    return image


def open_picture(source: str | Path) -> Any:
    """Return the picture in a file as Pillow's, RGB, in its own size: what other libraries' models read.

    Turned as its Exif data say; transparency is dropped, as Pillow's ``convert("RGB")`` does.
    """
    image = open_bytes(read_bytes(source), where=source)
    try:
        with image:
            image.load()
            image = upright(image)
            check_depth(image, source)
            if image.mode.startswith("I;16"):
                image = extra("PIL.Image").fromarray(eight_bits(np.asarray(image)))
            return image.convert("RGB")
    except InputError:
        raise
    except Exception as error:
        raise damaged(error, source) from None


def damaged(error: Exception, where: str | Path | None) -> InputError:
    """Return the error for a picture that cannot be decoded: Pillow has a dozen kinds, with one meaning."""
    return InputError(
        f"is damaged ({str(error) or type(error).__name__})", where=where, fix="get the file again"
    )


def too_large(size: str, where: str | Path | None) -> InputError:
    """Return the error for a picture that would fill the memory."""
    return InputError(
        f"has {size} pixels, and {MOST_PIXELS / 1e6:.0f} million are allowed",
        where=where,
        fix="scale it down",
    )


def check_depth(image: Any, where: str | Path | None) -> None:
    """Raise where a picture's values have no known white: Pillow would cut them to black or white."""
    if image.mode in ("I", "F"):
        kind = "floating-point" if image.mode == "F" else "32-bit"
        raise InputError(f"has {kind} values", where=where, fix="save it with 8 or 16 bits per channel")


def upright(image: Any) -> Any:
    """Return a picture turned as its Exif data says; data that cannot be read turn nothing."""
    try:
        turn = ROTATIONS.get(image.getexif().get(ORIENTATION, 1))
    except Exception:
        return image
    return image if turn is None else image.transpose(extra("PIL.Image").Transpose[turn])


def from_array(pixels: np.ndarray) -> Any:
    """Return an array as Pillow's picture."""
    depth = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.ndim not in (2, 3) or depth not in (1, 3, 4) or 0 in pixels.shape:
        raise InputError(
            f"an array of shape {pixels.shape} is not a picture",
            fix="give [height, width], or 3 or 4 channels",
        )
    if pixels.dtype not in (np.uint8, np.uint16):
        raise InputError(
            f"a picture holds {pixels.dtype}", fix="give uint8 (0 to 255) or uint16 (0 to 65535)"
        )
    if pixels.shape[0] * pixels.shape[1] > MOST_PIXELS:
        raise too_large(f"{pixels.shape[1]:,} x {pixels.shape[0]:,}", None)
    if pixels.dtype == np.uint16:
        pixels = eight_bits(pixels)
    if pixels.ndim == 3 and depth == 1:
        pixels = pixels[:, :, 0]
    return extra("PIL.Image").fromarray(np.ascontiguousarray(pixels))


def eight_bits(values: np.ndarray) -> np.ndarray:
    """Return 16-bit values as bytes, to the nearest.

    >>> eight_bits(np.array([0, 128, 129, 65535], np.uint16))
    array([  0,   0,   1, 255], dtype=uint8)
    """
    return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)


def scaled(image: Any, side: int, where: str | Path | None = None) -> np.ndarray:
    """Return Pillow's picture as RGB bytes with the given longest side."""
    if side < 1:
        raise InputError(f"side is {side}", fix="give 1 or more pixels")
    image_module = extra("PIL.Image")
    check_depth(image, where)
    if image.mode.startswith("I;16"):
        # Pillow's own conversion cuts everything above 255 to white.
        image = image_module.fromarray(eight_bits(np.asarray(image)))
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = image_module.new("RGBA", image.size, (255, 255, 255, 255))
        image = image_module.alpha_composite(white, image)
    image = image.convert("RGB")
    longest = max(image.size)
    if longest != side:
        width, height = (max(1, round(length * side / longest)) for length in image.size)
        image = image.resize((width, height), image_module.Resampling.BICUBIC)
    return np.array(image)
