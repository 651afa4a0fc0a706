"""The one pass over the scores of a table: tile by tile in bounded memory, with checkpoints and progress."""

from __future__ import annotations

import hashlib
import math
import re
import signal
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import karat
from karat._util import (
    GOES_ON,
    alone,
    bytes_text,
    check_folder,
    check_own_work,
    keeping,
    replacing,
    stage,
    ways_to_set,
)
from karat.errors import InputError
from karat.runs.device import DEVICES, Device
from karat.runs.remote_pass import add_on_workers
from karat.runs.run import PassOptions
from karat.runs.scan import Grid, Partial, Tile, TileScores

LEAST = (512, 1024)
"""Rows and columns of a tile at least, whatever the memory."""
PER_ENTRY = 17
"""Bytes of an item in a list that is being made: score, item, and whether the score is exact."""
SOON = 1 << 25
"""Scores of a tile at most where a checkpoint is kept: a processor takes about a second for them."""
SHARE = 0.05
"""Saving takes at most this share of the time: tiles of a second or more are saved one by one."""

MOST_TILES = 1 << 30
"""Bytes of the numbers of tiles in a checkpoint at most."""
HEAD = 1 << 16
"""Bytes of the description of an array in it at most."""


class Tiled(Protocol):
    """A table of scores that a pass can read."""

    name: str

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def tile_bytes(self, step: tuple[int, int]) -> int:
        """Return how much memory it takes to read a tile of so many rows and columns."""

    def tile_scores(self, tile: Tile, before: TileScores | None) -> TileScores:
        """Read a tile; `before` is the one that was read before it."""

    def digest(self) -> bytes:
        """Return what changes with the scores."""


def check_device(name: str) -> None:
    """Raise where a device is unknown, or where this machine does not have it."""
    DEVICES[name].check()


def one_pass(table: Tiled, partial: Partial, threads: int, options: PassOptions) -> None:
    """Add all tiles of a table to a partial result, except those that a checkpoint has already."""
    device, workers = DEVICES[options.device], options.workers
    step = options.tile or tile_step(table, partial, options.memory, device)
    if workers is not None and options.tile is None:
        step = shared_step(table.shape, step, workers.parts)
    elif options.checkpoint is not None and options.tile is None and options.device == "cpu":
        # Who stops it waits for a tile, and a processor cuts it again anyway.
        step = shared_step(table.shape, step, math.prod(table.shape) // SOON)
    done: set[int] = set()
    checkpoint, begun = None, step
    if options.checkpoint is not None:
        check_folder(Path(options.checkpoint))
        checkpoint = Checkpoint(options.checkpoint, table.name, table.digest(), table.shape, partial)
        # What was begun with larger or smaller tiles goes on with them; larger ones are computed in parts.
        begun, done = checkpoint.load() or (step, done)
    grid = Grid(table.shape, begun)
    rest = ((number, tile) for number, tile in enumerate(grid.tiles()) if number not in done)
    added = (
        add_here(table, partial, rest, device, threads, step)
        if workers is None
        else add_on_workers(workers, table, partial, rest, options.device)
    )
    with (
        stage("tiles", len(grid), len(done)) as tiles,
        closing(added),
        alone(),
        keeping(lambda: "" if checkpoint is None else checkpoint.kept(len(grid))),
        pending_interrupt(checkpoint is not None) as interrupted,
    ):
        for number in added:
            done.add(number)
            tiles.at(len(done))
            if checkpoint is not None and (interrupted.number or checkpoint.due):
                checkpoint.save(begun, done)
            interrupted.stop(f"stopped with {len(done):,} of {len(grid):,} tiles done; {GOES_ON}")
    if checkpoint is not None:
        checkpoint.remove()


def add_here(
    table: Tiled,
    partial: Partial,
    tiles: Iterable[tuple[int, Tile]],
    device: Device,
    threads: int,
    step: tuple[int, int],
) -> Generator[int]:
    """Add tiles to a partial result on this machine, in parts of `step`; yield the number of each."""
    listed = [(number, part) for number, tile in tiles for part in tile.parts(step)]
    with ThreadPoolExecutor(1) as reader:
        reading = None
        for (number, tile), following in zip(listed, [*listed[1:], None]):
            scores = table.tile_scores(tile, None) if reading is None else reading.result()
            # While a tile is computed, the next one is read.
            reading = following and reader.submit(table.tile_scores, following[1], scores)
            device.add(scores, partial, threads)
            if following is None or following[0] != number:
                yield number


def tile_step(table: Tiled, partial: Partial, memory: int | None, device: Device) -> tuple[int, int]:
    """Return rows and columns of tiles, as large as the memory and the device allow."""
    available = device.working if memory is None else memory - partial.nbytes
    rows, columns = (min(step, size) for step, size in zip(device.step, table.shape))

    def needed(rows: int, columns: int) -> int:
        lists = sum(
            one.room * PER_ENTRY * min(rows if one.by_rows else columns, len(one.size))
            for one in partial.lists
        )
        return lists + table.tile_bytes((rows, columns))

    while needed(rows, columns) > available:
        smaller = [(rows // 2, columns)] if rows > LEAST[0] else []
        smaller += [(rows, columns // 2)] if columns > LEAST[1] else []
        if not smaller:
            break
        rows, columns = min(smaller, key=lambda step: needed(*step))
    if memory is not None and needed(rows, columns) > available:
        least = partial.nbytes + needed(rows, columns)
        raise InputError(
            f"the {bytes_text(memory)} of memory that are left for the pass are not enough for the result "
            "and a tile",
            fix=f"give {bytes_text(least - memory)} more: {ways_to_set('memory')}",
        )
    return rows, columns


def shared_step(shape: tuple[int, int], step: tuple[int, int], parts: int) -> tuple[int, int]:
    """Return rows and columns of at least so many tiles, where they do not become too small.

    >>> shared_step((50_000, 250_000), (8192, 32768), 32), shared_step((50_000, 250_000), (8192, 32768), 256)
    ((8192, 32768), (8192, 4096))
    """
    rows, columns = step
    while len(Grid(shape, (rows, columns))) < parts and (rows > LEAST[0] or columns > LEAST[1]):
        if columns > LEAST[1] and (columns >= rows or rows <= LEAST[0]):
            columns = max(LEAST[1], columns // 2)
        else:
            rows = max(LEAST[0], rows // 2)
    return rows, columns


class Interruption:
    """Whether a signal has asked to stop, which waits until what is done is saved."""

    def __init__(self) -> None:
        self.number: int = 0
        self.before: dict[int, Any] = {}

    def note(self, number: int, frame: Any) -> None:
        """Take a signal; the second one is not waited with."""
        again, self.number = self.number, number
        if again:
            self.stop("stopped")

    def stop(self, sentence: str) -> None:
        """Do what the signal would have done, where there was one."""
        if not self.number:
            return
        before = self.before[self.number]
        # What the command line does knows what is kept.
        if before is not signal.default_int_handler:
            before(self.number, None)
        raise KeyboardInterrupt(sentence)


@contextmanager
def pending_interrupt(wait: bool) -> Iterator[Interruption]:
    """Yield what knows whether Ctrl+C was pressed; with `wait` the first press stops nothing by itself."""
    pending = Interruption()
    if not wait or threading.current_thread() is not threading.main_thread():
        yield pending
        return
    for number in map(int, (signal.SIGINT, signal.SIGTERM)):
        # What ends the process at once, or is ignored, stays so.
        if callable(handler := signal.getsignal(number)):
            pending.before[number] = handler
    for number in pending.before:
        signal.signal(number, pending.note)
    try:
        yield pending
    finally:
        for number, handler in pending.before.items():
            signal.signal(number, handler)


class Checkpoint:
    """What is kept of a pass in a folder, so that it can go on after an interruption.

    The name of the file has a digest of what was asked, of the tables and of karat's version: another
    request, or other scores, never find it, so that all passes of all commands can share a folder. When the
    pass is complete, the file is removed.

    Parameters
    ----------
    folder
        Where it is kept; made where it is missing.
    name
        Of the run, for the name of the file.
    table, shape
        A digest of the scores, and how many rows and columns they have.
    partial
        What is asked, and what the tiles so far have added.
    """

    def __init__(
        self, folder: Path, name: str, table: bytes, shape: tuple[int, int], partial: Partial
    ) -> None:
        digest = hashlib.blake2b(table + karat.__version__.encode(), digest_size=8)
        for part in partial.parts:
            changing = part.arrays()
            for field, value in vars(part).items():
                if field not in changing:
                    digest.update(f"{field} {np.shape(value)}".encode())
                    digest.update(np.ascontiguousarray(value).tobytes())
        word = re.sub(r"[^\w.-]+", "_", name)[:60]
        self.path = Path(folder) / f"{word}-{digest.hexdigest()}.npz"
        self.shape, self.partial = shape, partial
        self._saved, self._took = time.monotonic(), 0.0
        self._tiles = 0

    def load(self) -> tuple[tuple[int, int], set[int]] | None:
        """Restore what was added; return the size of the tiles and the numbers of those that are done."""
        check_own_work(self.path)
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return self._read(arrays)
        except FileNotFoundError:
            return None
        except Exception as error:  # broken archives raise a dozen kinds
            raise InputError(
                f"is not a complete checkpoint: {error}",
                where=str(self.path),
                fix="delete it and start again",
            ) from error

    def _read(self, arrays: Any) -> tuple[tuple[int, int], set[int]]:
        """Take over what the file holds, once all of it is what this pass would have written."""
        expected = self.partial.arrays()
        sizes = {entry.filename.removesuffix(".npy"): entry.file_size for entry in arrays.zip.infolist()}
        # Before anything is read: a few bytes may claim to be a terabyte.
        allowed = {name: array.nbytes for name, array in expected.items()}
        for name, size in sizes.items():
            if size > allowed.get(name, MOST_TILES) + HEAD:
                raise ValueError(f"{name} is larger than it can be")
        if str(arrays["of"]) != self.path.stem:
            raise ValueError("it belongs to another pass")
        rows, columns = (int(size) for size in arrays["step"])
        if rows < 1 or columns < 1:
            raise ValueError("it has no tiles")
        done = arrays["done"]
        if not np.issubdtype(done.dtype, np.integer) or done.ndim != 1:
            raise ValueError("it does not say which tiles are done")
        numbers = set(done.tolist())
        if not numbers or min(numbers) < 0 or max(numbers) >= len(Grid(self.shape, (rows, columns))):
            raise ValueError("it names tiles that there are not")
        read = {name: arrays[name] for name in expected}
        for name, array in expected.items():
            if (read[name].shape, read[name].dtype) != (array.shape, array.dtype):
                raise ValueError(f"{name} has another shape or type")
        self.partial.restore(read)
        self._tiles = len(numbers)
        return (rows, columns), numbers

    def save(self, step: tuple[int, int], done: Iterable[int]) -> None:
        """Write what is done, in place of what was written before."""
        begin, kept = time.monotonic(), sorted(done)
        with replacing(self.path, parents=True) as draft, draft.open("wb") as file:
            arrays: dict[str, Any] = {**self.partial.arrays(), "of": np.array(self.path.stem)}
            np.savez(file, step=np.array(step), done=np.array(kept), **arrays)
        self._saved = time.monotonic()
        self._took = self._saved - begin
        self._tiles = len(kept)

    def kept(self, tiles: int) -> str:
        """Return how much of a pass the file holds, as a clause; nothing where there is none."""
        if not self._tiles:
            return ""
        return f"{self._tiles:,} of {tiles:,} tiles done"

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return SHARE * (time.monotonic() - self._saved) >= self._took

    def remove(self) -> None:
        """Delete the file: the pass is complete."""
        self.path.unlink(missing_ok=True)
