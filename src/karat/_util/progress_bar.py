"""Bars of long work: in a terminal by rich, in a notebook as HTML."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from html import escape
from importlib import import_module
from time import monotonic
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from karat._util.long_work import Stage, current_reporter, reporting
from karat.errors import printable

YOUNG = 0.5
"""Seconds after which a stage inside another gets a line of its own: shorter ones would only flicker."""
WIDTH = 32
"""Letters of a bar."""


@contextmanager
def progress() -> Iterator[None]:
    """Show how far the work in this block is, in a terminal or a notebook; elsewhere nothing.

    Examples
    --------
    >>> import karat
    >>> with karat.progress():                               # doctest: +SKIP
    ...     card = karat.evaluate("sims.npy", "coco")
    """
    screen = Console(stderr=True, highlight=False)
    with nullcontext() if current_reporter() is not None else bars(screen):
        yield


@contextmanager
def bars(screen: Console) -> Iterator[None]:
    """Show how far the work in this block is on a console, if somebody can look at it."""
    if screen.is_jupyter:
        notebook = NotebookBars()
        try:
            with reporting(notebook):
                yield
        finally:
            notebook.clear()
    elif screen.is_terminal:
        shown = TerminalBars(screen)
        # What is printed on standard output goes through this console only where both are the same terminal.
        with Live(
            get_renderable=shown.draw, console=screen, transient=True, refresh_per_second=10,
            redirect_stdout=sys.stdout.isatty(),
        ), reporting(shown):  # fmt: skip
            yield
    else:
        yield


class TerminalBars:
    """What a terminal shows, which looks at the stages by itself ten times a second.

    Parameters
    ----------
    console
        Where it is shown; what else is printed there meanwhile appears above it.
    """

    every = 0.1

    def __init__(self, console: Console) -> None:
        self.console = console
        self.stages: Sequence[Stage] = ()
        self.spinner = Spinner("dots")

    def show(self, stages: Sequence[Stage]) -> None:
        """Take the stages that are under way."""
        self.stages = stages

    def draw(self) -> Table:
        """Return a line for each stage that is worth one."""
        grid = Table.grid(padding=(0, 1))
        for stage in lines(self.stages):
            share = share_of(stage)
            sign: Any = self.spinner if share is None else ProgressBar(1.0, share, width=WIDTH)
            figures = [] if share is None else [f"{share:4.0%}", *after(stage)]
            row = [sign, Text(sentence(stage))] if share is None else [Text(sentence(stage)), sign]
            line = Table.grid(padding=(0, 1))
            line.add_row(*row, Text("  ".join(figures or after(stage)), style="dim"))
            grid.add_row(line)
        return grid


class NotebookBars:
    """What a notebook shows below the cell."""

    every = 0.2

    def __init__(self) -> None:
        # Who runs a notebook has it.
        shown = import_module("IPython.display")
        self.html = shown.HTML
        self.place = shown.display(self.html(""), display_id=True)

    def show(self, stages: Sequence[Stage]) -> None:
        """Show a line for each stage that is worth one."""
        self.place.update(self.html("".join(f"<div>{line_html(stage)}</div>" for stage in lines(stages))))

    def clear(self) -> None:
        """Show nothing any more."""
        self.place.update(self.html(""))


def line_html(stage: Stage) -> str:
    """Return the line of a stage.

    >>> line_html(Stage(None, "reading", 4, done=1))
    '<progress value="0.25"></progress>  25% reading  1 of 4  0:00'
    """
    share = share_of(stage)
    value, figure = ("", "") if share is None else (f' value="{share:.4g}"', f"{share:4.0%} ")
    words = "  ".join([sentence(stage), *after(stage)])
    return f"<progress{value}></progress> {figure}{escape(words)}"


def lines(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages that are shown: the outermost and the innermost that last a while.

    >>> whole, outer = Stage(None, "", None), Stage(None, "scoring", 3)
    >>> inner = Stage(None, "tiles", 900)
    >>> [stage.what for stage in lines([whole, outer, inner])]
    ['scoring']
    >>> inner.began -= 1
    >>> outer.began -= 1
    >>> [stage.what for stage in lines([whole, outer, inner])]
    ['scoring', 'tiles']
    """
    now = monotonic()
    said = [stage for stage in stages if stage.what or stage.said]
    # A total of 1 says nothing where something inside has a larger one.
    told = [stage for stage in said if stage is said[-1] or stage.total != 1]
    told = told[1:] if len(told) > 1 and not told[0].what else told
    old = [stage for stage in told if now - stage.began >= YOUNG] or told[:1]
    return old if len(old) < 3 else [old[0], old[-1]]


def sentence(stage: Stage) -> str:
    """Return what is done."""
    return printable(": ".join(part for part in (stage.what, stage.said) if part))


def share_of(stage: Stage) -> float | None:
    """Return how much of a stage is done; None where nobody knows."""
    return min(1.0, stage.done / stage.total) if stage.total else None


def after(stage: Stage) -> list[str]:
    """Return how many are done of how many, the time that has passed, and the time that is left.

    >>> half = Stage(None, "reading", 1000, done=0)
    >>> half.began -= 65
    >>> half.at(500)
    >>> after(half)
    ['500 of 1,000', '1:05', '1:05 left']
    """
    passed, begun = monotonic() - stage.began, stage.done - stage.start
    count = [f"{stage.done:,} of {stage.total:,}"] if stage.total else [f"{stage.done:,}"] * bool(stage.done)
    left = passed / begun * (stage.total - stage.done) if stage.total and begun else None
    return [*count, clock(passed), *([] if left is None else [f"{clock(left)} left"])]


def clock(seconds: float) -> str:
    """Return a time as a clock shows it.

    >>> clock(65), clock(3725)
    ('1:05', '1:02:05')
    """
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
