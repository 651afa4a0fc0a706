"""A folder as one zip file, sent while it is packed: nothing is written to the disk."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

PIECE = 1 << 18


class Outlet(io.RawIOBase):
    """A file that is only written: what was written is taken away piece by piece."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        """It can be written."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Hold some bytes."""
        self.held += data
        return len(data)

    def take(self) -> bytes:
        """Return what is held, and hold nothing."""
        taken = bytes(self.held)
        self.held.clear()
        return taken


def zipped(folder: Path) -> Iterator[bytes]:
    """Yield a folder as a zip file; without links and times: the same files give the same bytes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / "a.txt").write_text("a")
    ...     zipfile.ZipFile(io.BytesIO(b"".join(zipped(Path(place))))).namelist()
    ['a.txt']
    """
    outlet = Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            about = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            about.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, packed.open(about, "w", force_zip64=True) as into:
                while piece := source.read(PIECE):
                    into.write(piece)
                    yield outlet.take()
            yield outlet.take()
    yield outlet.take()
