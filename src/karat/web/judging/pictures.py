"""Images of the benchmark as pages show them: from inside its folder, upright and scaled down.

Their first bytes, not their names, tell their type. A picture that fits the page is sent as it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from karat._util import extra, missing, plural
from karat.benchmarks import Benchmark, outline, picture_kind
from karat.errors import InputError
from karat.models import decode_bytes, open_bytes
from karat.store import Project, system_failure

SIDE = 1600
"""The longest side of a picture on a page."""
MOST_BYTES = 40_000_000
CACHE_BYTES = 64_000_000
"""How many bytes of scaled pictures are kept in memory."""
AT_ONCE = 2
"""How many pictures are scaled at once: each may take hundreds of megabytes of memory."""
QUALITY = 85
KEPT = "private, max-age=86400"
"""How long a browser keeps images: those of a task are shown again after a reload."""
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "AVIF")
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_PATH", 0)
# Opening a named pipe must not block.
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class NoPicture(Exception):
    """The image cannot be shown; the message says why, without naming the file."""


@dataclass(frozen=True)
class Picture:
    """A picture.

    Parameters
    ----------
    tag
        Of this version of the file; browsers ask with it whether their copy is still the same.
    data, kind
        The bytes and their media type; no bytes if the browser has them.
    large
        Whether it must be scaled.
    """

    tag: str
    data: bytes = b""
    kind: str = ""
    large: bool = False


class Pictures:
    """The pictures of a project: `app.state.pictures`.

    Scaling has threads of its own, so that other requests do not wait for it.

    Parameters
    ----------
    project
        Only the files of its benchmark's paths are ever opened.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="karat-pictures")
        self.can_scale = find_spec("PIL") is not None
        self._lock = threading.Lock()
        self._scaled: OrderedDict[str, Picture] = OrderedDict()
        self._bytes = 0

    @cached_property
    def root(self) -> str:
        """The folder of the benchmark's images, links resolved once: it cannot be exchanged afterwards."""
        return os.path.realpath(self.project.benchmark().image_root or "")

    def notes(self) -> list[str]:
        """Return what the operator should know before users do."""
        notes = []
        if not self.can_scale:
            notes.append(f"images are sent as they are, not scaled: {missing('PIL', extra_name='web')}")
        outside = count_outside(self.root, self.project.benchmark().image_paths or ())
        if outside:
            notes.append(
                f"{plural(outside, 'image')} will not be shown: symbolic links lead outside {self.root}; "
                "copy the files into it"
            )
        return notes

    async def get(self, image: int, tags: Sequence[str] = ()) -> Picture:
        """Return a picture, or raise `NoPicture`; without its bytes if `tags` names this version."""
        picture = await run_in_threadpool(self.read, image, tags)
        if picture.large:
            picture = await asyncio.get_running_loop().run_in_executor(self.threads, self.scale, picture)
        return picture

    def read(self, image: int, tags: Sequence[str] = ()) -> Picture:
        """Return a picture as it is in its file, or as it was scaled before."""
        paths = self.project.benchmark().image_paths
        if paths is None or not 0 <= image < len(paths):
            raise NoPicture("The benchmark has no image files.")
        descriptor = open_inside(self.root, paths[image])
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            os.close(descriptor)
            raise NoPicture("The image file is missing.")
        with open(descriptor, "rb") as file:
            if about.st_size > MOST_BYTES:
                raise NoPicture("The image file is too large.")
            version = (SIDE, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
            tag = hashlib.sha256(repr(version).encode()).hexdigest()[:32]
            if tag in tags:
                return Picture(tag)
            with self._lock:
                if tag in self._scaled:
                    self._scaled.move_to_end(tag)
                    return self._scaled[tag]
            data = file.read(MOST_BYTES)
        kind = picture_kind(data)
        if kind is None:
            raise NoPicture("The image file is not a JPEG, PNG, GIF, WebP, AVIF or BMP.")
        return Picture(tag, data, kind, self.is_large(data, kind))

    def is_large(self, data: bytes, kind: str) -> bool:
        """Whether a picture must be scaled; one with too many pixels is refused before it is decoded."""
        if not self.can_scale or (kind == "image/avif" and "AVIF" not in formats()):
            return False
        try:
            with open_bytes(data, formats=formats()) as opened:
                return max(opened.size) > SIDE
        except InputError as error:
            raise NoPicture(f"The image {error}") from None

    def scale(self, picture: Picture) -> Picture:
        """Return a smaller JPEG of a picture, upright, and keep it in memory."""
        try:
            with open_bytes(picture.data, formats=formats()) as opened:
                # The colours of other modes are converted, and their profile is no longer theirs.
                profile = opened.info.get("icc_profile") if opened.mode in ("RGB", "RGBA") else None
            pixels = decode_bytes(picture.data, side=SIDE, formats=formats())
        except InputError as error:
            raise NoPicture(f"The image {error}") from None
        buffer = io.BytesIO()
        image = extra("PIL.Image").fromarray(pixels)
        image.save(buffer, "JPEG", quality=QUALITY, progressive=True, icc_profile=profile)
        scaled = replace(picture, data=buffer.getvalue(), kind="image/jpeg", large=False)
        with self._lock:
            if scaled.tag not in self._scaled:
                self._scaled[scaled.tag] = scaled
                self._bytes += len(scaled.data)
            while self._bytes > CACHE_BYTES:
                self._bytes -= len(self._scaled.popitem(last=False)[1].data)
        return scaled

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(cancel_futures=True)


async def send_picture(request: Request, image: int | None) -> Response:
    """Return an image of the benchmark; another user's image is answered like a missing one."""
    if image is None:
        raise NoPicture("There is no such image.")
    tags = request.headers.get("if-none-match", "").replace('"', "").replace("W/", "").split(",")
    picture = await request.app.state.pictures.get(image, [tag.strip() for tag in tags])
    headers = {"cache-control": KEPT, "vary": "cookie", "etag": f'"{picture.tag}"'}
    if not picture.data:
        return Response(status_code=304, headers=headers)
    return Response(picture.data, media_type=picture.kind, headers=headers)


def region_of(benchmark: Benchmark, caption: int) -> dict[str, Any] | None:
    """Return what is drawn over an image, in pixels: its width and height, a box, and an outline."""
    instances = benchmark.instances
    if instances is None:
        return None
    height, width = instances.sizes[instances.image[caption]].tolist()
    mask = instances.masks[caption]
    return {
        "size": [width, height],
        "box": instances.box[caption].tolist(),
        "outline": [] if mask is None else outline(mask),
    }


def formats() -> tuple[str, ...]:
    """Return the formats that the installed Pillow reads; some versions do not read AVIF."""
    image_module = extra("PIL.Image")
    image_module.init()
    return tuple(name for name in FORMATS if name in image_module.OPEN)


def open_inside(root: str, path: str) -> int:
    """Return the descriptor of a file inside a folder, or raise `NoPicture`.

    Links are resolved first. Then every folder on the way is opened without following links: what is
    exchanged for a link in the meantime is not found.
    """
    try:
        parts = inside(root, path)
        if os.open not in os.supports_dir_fd:
            return os.open(os.path.join(root, *parts), FILE)
        folder = os.open(root, FOLDER)
        try:
            for part in parts[:-1]:
                inner = os.open(part, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(parts[-1], FILE, dir_fd=folder)
        finally:
            os.close(folder)
    except (OSError, ValueError, IndexError) as error:
        # No descriptors left, or a disk that fails: not a missing file.
        if isinstance(error, OSError) and system_failure(error) is not None:
            raise
        # A ValueError: a zero byte in the path. An IndexError: it is the folder itself.
        raise NoPicture("The image file is missing.") from None


def inside(root: str, path: str) -> tuple[str, ...]:
    """Return the folders and the name that lead from a folder to a file, links resolved, or raise."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise NoPicture("The image file is outside the folder of the images.")
    return real.relative_to(root).parts


def count_outside(root: str, paths: Sequence[str]) -> int:
    """Return how many files lie outside a folder, links resolved."""
    folders = {folder: is_inside(root, folder) for folder in {os.path.dirname(path) for path in paths}}
    return sum(
        not (is_inside(root, path) if os.path.islink(path) else folders[os.path.dirname(path)])
        for path in paths
    )


def is_inside(root: str, path: str) -> bool:
    """Whether a file lies inside a folder, links resolved."""
    try:
        inside(root, path)
    except (NoPicture, OSError, ValueError):
        return False
    return True
