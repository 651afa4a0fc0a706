"""Standard output and error where they are not a terminal, and the signals that end a command."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from karat._util import cannot_write
from karat.errors import KaratError, KaratWarning

ENDING = ("SIGTERM", "SIGHUP")
"""The signals that end a command after it has removed what is unfinished."""


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
def orderly_end() -> Iterator[None]:
    """Let signals that would end the process at once end the block as an error does: drafts are removed."""

    def end(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    # nohup ignores one of them, which stays so; only the main thread may change them.
    mine = threading.current_thread() is threading.main_thread()
    changed = [number for number in numbers if mine and signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
