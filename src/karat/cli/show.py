"""Tables and progress in the terminal; plain text when piped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from karat.scores import Scorecard

WIDE = 2000


def console(stderr: bool = False) -> Console:
    """Return a console that never wraps numbers when its output goes to a file."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=WIDE)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], object] | None]:
    """Yield what shows the run being scored, on a terminal and for more than one run."""
    screen = console(stderr=True)
    if total < 2 or not screen.is_terminal:
        yield None
        return
    done = 0
    with screen.status("") as status:

        def step(name: str) -> None:
            nonlocal done
            done += 1
            status.update(f"scoring {escape(name)} ({done} of {total})")

        yield step


def print_scorecard(card: Scorecard) -> None:
    """Print the table, as wide as the terminal allows, then what a reader should know."""
    from karat.scores.tables import lay_out

    layout = lay_out(card)
    screen = console()
    for begin in range(layout.labels, len(layout.head), (step := columns_that_fit(layout, screen.width))):
        shown = [*range(layout.labels), *range(begin, min(begin + step, len(layout.head)))]
        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0))
        for k in shown:
            label = k < layout.labels
            table.add_column(escape(layout.head[k]), justify="left" if label else "right", no_wrap=True)
        for r, row in enumerate(layout.rows):
            cells = [
                f"[bold]{escape(row[k])}[/bold]" if (r, k) in layout.best else escape(row[k]) for k in shown
            ]
            table.add_row(*cells, end_section=r in layout.rules)
            if r in layout.rules:
                table.add_row(*[""] * len(shown))
        screen.print(table)
    percent = "Values in percent" if any(c.measure.unit == "fraction" for c in card) else "Values are ranks"
    reading = {
        "misses": "unjudged pairs count as misses",
        "left_out": "unjudged pairs are left out",
        "bounds": "unjudged pairs count as misses; [bounds] if they are judged",
    }[card.unjudged]
    screen.print(escape(f"\n{percent}; {reading}; ties are {card.ties}."))
    errors = console(stderr=True)
    for note in card.notes:
        errors.print(escape(f"note: {note}"))


def columns_that_fit(layout: object, width: int) -> int:
    """Return how many value columns fit beside the labels."""
    head, rows, labels = layout.head, layout.rows, layout.labels  # type: ignore[attr-defined]
    widths = [max(len(row[k]) for row in [head, *rows]) + 2 for k in range(len(head))]
    values = max(widths[labels:], default=1)
    return max(1, (width - sum(widths[:labels])) // values)
