"""Results and progress in the terminal; plain text when piped."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from karat.errors import printable

if TYPE_CHECKING:
    from karat._util import Layout, Result
    from karat.reports import PageOptions
    from karat.store import Project

WIDEST_BAR = 30
NARROWEST_BAR = 10


def console(stderr: bool = False) -> Console:
    """Return a console; one that goes to a file never wraps a line."""
    from karat._util import current_reporter

    showing = getattr(current_reporter(), "console", None)
    if stderr and showing is not None:
        # What it prints appears above the bars.
        return showing
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=10_000)


QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


def quiet() -> bool:
    """Return whether only errors are printed."""
    return QUIET.get()


@contextmanager
def silenced() -> Iterator[None]:
    """Print no notes and show no progress in this block; errors are always printed."""
    token = QUIET.set(True)
    try:
        yield
    finally:
        QUIET.reset(token)


@contextmanager
def working(what: str = "") -> Iterator[None]:
    """Show on a terminal how far the work in this block is; an interrupted pass says how to go on.

    `what` is shown until the library says what it does.
    """
    from karat._util import bars, current_reporter, say, stage

    if current_reporter() is not None:
        with stage(what):
            yield
        return
    try:
        with nullcontext() if quiet() else bars(console(stderr=True)):
            say(what)
            yield
    except KeyboardInterrupt as interruption:
        if str(interruption):
            tell(f"karat: {interruption}", sys.stderr)
        raise


@contextmanager
def opening(place: str) -> Iterator[Project]:
    """Open a project, and say on standard error what happened to it, such as a migration."""
    from karat.store import open_project

    with open_project(place) as project:
        print_notes(project.notes)
        yield project


def show(result: Result, quiet: bool = False) -> None:
    """Print a result: as `print` does when piped, drawn on a terminal; with `quiet`, its notes alone.

    If standard output is redirected to a file, the notes still appear on standard error.
    """
    screen = console()
    if quiet or not screen.is_terminal:
        if not quiet:
            print(result)
        print_notes(result.notes)
        return
    for k, part in enumerate(result.parts()):
        if k:
            screen.print()
        if isinstance(part, str):
            screen.print(escape(printable(part, lines=True)))
        else:
            print_layout(part, screen)
    for note in result.notes:
        screen.print(escape(f"note: {printable(note, lines=True)}"))


def finish(result: Result, json: Path | None, output: Path | None, page: PageOptions | None = None) -> None:
    """Write a result where `--json` and `-o` say, then print it; a page says which command made it."""
    from dataclasses import replace

    from karat._util import is_page
    from karat.reports import PageOptions, write_report

    taken = write_json(result, json)
    if output is not None and is_page(output):
        with working(f"writing {output.name}"):
            write_report(result, output, page=replace(page or PageOptions(), command=as_typed()))  # type: ignore[arg-type]
        say_where(output, sys.stderr if taken else sys.stdout)
    elif output is not None:
        result.save(output)
    show(result, quiet=taken)


def keep(result: Result, json: Path | None, output: Path | None = None) -> None:
    """Write a result that has no report of its own where `--json` and `-o` say, then print it."""
    taken = write_json(result, json)
    if output is not None:
        result.save(output)
    show(result, quiet=taken)


def as_typed() -> str:
    """Return the command as it was typed, for the report's methods."""
    return shlex.join(["karat", *sys.argv[1:]])


def say_where(output: Path, stream: TextIO | None = None) -> None:
    """Print the file's name and size, on standard output by default."""
    size = f"{output.stat().st_size / 1e6:.1f} MB"
    tell(f"wrote {output} ({size}); open it in a browser", stream)


def tell(sentence: str, stream: TextIO | None = None) -> None:
    """Print a sentence, on standard output by default; a name in it cannot command the terminal."""
    print(printable(sentence, lines=True), file=stream or sys.stdout, flush=True)


def write_json(result: Result, path: Path | None) -> bool:
    """Write what `--json` asks for; return whether that is all that belongs on standard output."""
    from karat._util import stream_of

    if path is None:
        return False
    result.save_json(path)
    return stream_of(path) == 1


def print_notes(notes: Iterable[str]) -> None:
    """Print what a reader should know on standard error."""
    if quiet():
        return
    errors = console(stderr=True)
    for note in notes:
        errors.print(escape(f"note: {printable(note, lines=True)}"))


def with_bars(layout: Layout, width: int) -> Layout:
    """Add a bar to each row that has a share, where there is room for it.

    >>> from karat._util import Layout
    >>> with_bars(Layout(["measure", "mean"], [["R@1", "50.00"]], shares=[0.5]), 27).rows
    [['R@1', '50.00', '█████     ']]
    """
    from dataclasses import replace

    from karat._util import bar

    widths = [max(cell_len(row[k]) for row in [layout.head, *layout.rows]) + 2
              for k in range(len(layout.head))]  # fmt: skip
    room = min(WIDEST_BAR, width - sum(widths) - 1)
    if not layout.shares or room < NARROWEST_BAR:
        return layout
    rows = [[*row, bar(share or 0.0, room)] for row, share in zip(layout.rows, layout.shares)]
    return replace(layout, head=[*layout.head, ""], rows=rows)


def print_layout(layout: Layout, screen: Console) -> None:
    """Draw a table below its title, in several parts when its columns do not fit side by side."""
    from dataclasses import replace

    from karat._util import printable_table, text_of

    layout = printable_table(layout)
    if layout.title:
        screen.print(f"[bold]{escape(layout.title)}[/]")
    if not any(layout.head):
        # Labelled lines: long ones are wrapped, not cut.
        screen.print(escape(text_of(replace(layout, title=""))))
        return
    layout = with_bars(layout, screen.width)
    parts = parts_that_fit(layout, screen.width)
    for shown in parts:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for k in shown:
            # Columns without a head are drawings: their blanks count.
            left = k < layout.labels or not layout.head[k]
            table.add_column(escape(layout.head[k]), justify="left" if left else "right", no_wrap=True)
        for r, row in enumerate(layout.rows):
            bold = [(r, k) in layout.best for k in shown]
            table.add_row(
                *(f"[bold]{escape(row[k])}[/]" if b else escape(row[k]) for b, k in zip(bold, shown))
            )
            if r in layout.rules:
                table.add_row()
        screen.print(table)
    if layout.legend and {k for shown in parts for k in shown} == set(range(len(layout.head))):
        screen.print(escape(layout.legend))


def parts_that_fit(layout: Layout, width: int) -> list[list[int]]:
    """Return which columns are shown side by side; each part begins with the labels.

    A last column without a header is decoration (bars, stars): it is dropped where there is no room for it.

    >>> from karat._util import Layout
    >>> layout = Layout(["run", "a", "b", ""], [["x", "1.23", "4.56", "****"]])
    >>> parts_that_fit(layout, 80), parts_that_fit(layout, 16), parts_that_fit(layout, 10)
    ([[0, 1, 2, 3]], [[0, 1, 2]], [[0, 1], [0, 2]])
    """
    sizes = [
        max(cell_len(row[k]) for row in [layout.head, *layout.rows]) + 2 for k in range(len(layout.head))
    ]
    labels = list(range(layout.labels))
    parts = [list(labels)]
    for k in range(layout.labels, len(layout.head)):
        # The last column needs no gap behind it.
        fits = sum(sizes[c] for c in parts[-1]) + sizes[k] - 2 <= width
        if fits or parts[-1] == labels:
            parts[-1].append(k)
        elif layout.head[k] or k < len(layout.head) - 1:
            parts.append([*labels, k])
    return parts
