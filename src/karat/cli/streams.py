"""Standard output and error where they are not a terminal, and the signals that end a command."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from karat._util import UNHURRIED, WRITTEN, cannot_write, discard_drafts, what_stays
from karat.errors import KaratError, KaratWarning, printable

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a command after it has removed what is unfinished."""
MOMENT = 1.2
"""Seconds that the work may take to end by itself."""


class GuardedFile(io.FileIO):
    """A stream that takes no more when its reader, such as ``head``, has seen enough; the work goes on.

    Parameters
    ----------
    number
        The number of the open stream.
    required
        Whether anything else that prevents writing, such as a full disk, is an error; it is raised once.
    """

    def __init__(self, number: int, required: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self.required = required
        self.done = False

    def write(self, data: Any) -> int:
        """Write some bytes, or drop them when nobody reads them."""
        if self.done:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.done = True
            if self.required and not isinstance(error, BrokenPipeError):
                raise cannot_write(Path("-"), error) from None
            return len(data)


def guarded(stream: TextIO, required: bool) -> TextIO:
    """Return a stream that ends in a `GuardedFile`; one of a terminal, or that is no file, as it is."""
    # A terminal that cannot show a character of a caption or a name shows its code.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return stream
    if stream.isatty():
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(GuardedFile(number, required)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=bool(stream.line_buffering),
    )


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and error for as long as the block runs."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = guarded(sys.stdout, True), guarded(sys.stderr, False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(KaratError):
                stream.flush()
        sys.stdout, sys.stderr = before


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings of karat in one line, as notes, for as long as the block runs."""
    before = warnings.showwarning

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, KaratWarning):
            from karat.cli.show import print_notes

            print_notes([str(message)])
        else:
            before(message, category, *place, **more)

    with warnings.catch_warnings():
        # They are notes, whatever is asked of warnings elsewhere (PYTHONWARNINGS=error).
        warnings.simplefilter("always", KaratWarning)
        warnings.showwarning = show
        yield


@contextmanager
def orderly_end(process: bool = False) -> Iterator[None]:
    """Let signals that would end the process end the block as an error does, and say what is kept then.

    Drafts are removed.

    Parameters
    ----------
    process
        The block is all that the process is for. Where it does not end in a moment, because it waits for
        threads or computes without looking up, another thread then ends the process; a second signal does so
        at once.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    # nohup ignores one of them, which stays so; only the main thread may change them.
    mine = threading.current_thread() is threading.main_thread()
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: signal.getsignal(number) for number in numbers if mine}
    before = {number: handler for number, handler in before.items() if handler in usual}
    if not before:
        yield
        return
    WRITTEN.clear()
    ending = Ending(process)
    for number in before:
        signal.signal(number, ending.end)
    try:
        with ending.watched() if process and os.name == "posix" else contextlib.nullcontext():
            yield
    except (KeyboardInterrupt, SystemExit) as error:
        if ending.caused(error):
            discard_drafts()
            ending.tell(lambda line: print(line, end="", file=sys.stderr, flush=True))
            if process:
                # Unloading large libraries may take seconds, which nobody needs any more.
                atexit.register(ending.leave)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Ending:
    """A command that a signal ends: which signal, and what is kept of the work."""

    def __init__(self, process: bool) -> None:
        self.process = process
        self.number = 0
        self.kept = ""
        self.over = threading.Event()
        self.told = threading.Lock()
        self.waking = -1

    def caused(self, error: BaseException | None) -> bool:
        """Return whether an error is the end that a signal asked for; a server ends well after one.

        One that Python drops, because it was raised while an object was removed, is waited for by the thread.
        """
        return bool(self.number) and (
            isinstance(error, KeyboardInterrupt) or getattr(error, "code", None) == 128 + self.number
        )

    def end(self, number: int, frame: Any) -> None:
        """Raise what ends the work; called by Python in the main thread."""
        if self.number and self.process and not UNHURRIED:
            self.end_now(number)
        self.number, self.kept = number, what_stays(WRITTEN)
        if self.waking >= 0:
            # Whoever has called this, such as a pass that saved its checkpoint, has a moment from now on.
            os.write(self.waking, bytes([number]))
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let a thread hear of signals at once: Python calls handlers between two steps of Python alone."""
        reader, self.waking = os.pipe()
        os.set_blocking(self.waking, False)
        before = signal.set_wakeup_fd(self.waking, warn_on_full_buffer=False)
        watcher = threading.Thread(target=self.watch, args=(reader,), name="signals", daemon=True)
        watcher.start()
        stopped, hook = False, sys.unraisablehook
        sys.unraisablehook = lambda lost: None if self.caused(lost.exc_value) else hook(lost)
        try:
            yield
        except (KeyboardInterrupt, SystemExit) as error:
            stopped = self.caused(error)
            raise
        finally:
            signal.set_wakeup_fd(before)
            number, self.waking = self.waking, -1
            sys.unraisablehook = hook
            # Otherwise the thread stays: what is computed on others may keep the process alive.
            if not stopped:
                self.over.set()
                os.close(number)
                watcher.join(MOMENT)

    def watch(self, reader: int) -> None:
        """Wait for a signal, and end the process where it does not end in a moment by itself."""
        with os.fdopen(reader, "rb", buffering=0) as heard:
            while number := heard.read(1):
                # A server, or a pass with a checkpoint, has handlers of its own.
                if not self.number and signal.getsignal(number[0]) != self.end:
                    continue
                if not self.over.wait(MOMENT) and not UNHURRIED:
                    self.end_now(number[0])

    def leave(self) -> None:
        """End the process where it is about to end."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(128 + self.number)

    def end_now(self, number: int) -> None:
        """End the process, after removing drafts and saying what is kept."""
        if not self.number:
            self.kept = what_stays(WRITTEN)
        discard_drafts(ending=True)
        # Past the stream, which somebody may be writing to.
        self.tell(lambda line: os.write(2, line.encode(errors="replace")))
        os._exit(128 + number)

    def tell(self, write: Callable[[str], object]) -> None:
        """Say once what is kept."""
        if self.told.acquire(blocking=False):
            with contextlib.suppress(OSError, ValueError):
                # The bars of long work hide the cursor.
                cursor = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""
                write(f"{cursor}karat: {printable(self.kept)}\n")
