"""Tables and progress in the terminal; plain text when piped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from karat._util import Layout
    from karat.scores import Comparison, Scorecard

READING = {
    "misses": "unjudged pairs count as misses",
    "left_out": "unjudged pairs are left out",
    "bounds": "unjudged pairs count as misses, [bounds] say what they could change",
}


def console(stderr: bool = False) -> Console:
    """Return a console; one that goes to a file never wraps a line."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=10_000)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], object] | None]:
    """Yield what shows the run being scored, on a terminal and for more than one run."""
    if total < 2:
        yield None
        return
    done = 0
    with saying() as say:

        def step(name: str) -> None:
            nonlocal done
            done += 1
            say(f"scoring {name} ({done} of {total})")

        yield step


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal what is being done."""
    with saying() as say:
        say(what)
        yield


@contextmanager
def saying() -> Iterator[Callable[[str], object]]:
    """Yield what shows the part of the work that is being done, on a terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda what: None
        return
    with screen.status("") as status:
        yield lambda what: status.update(escape(what))


def print_scorecard(card: Scorecard) -> None:
    """Print the table, then how it was made, then, on standard error, what a reader should know."""
    from karat.measures import in_percent
    from karat.scores import lay_out, similarities_of, to_text, units_drawn

    screen = console()
    if screen.is_terminal:
        layout = lay_out(card)
        print_layout(with_bars(layout, card, screen.width) if len(card.runs) == 1 else layout, screen)
    else:
        print(to_text(card, notes=False))
    percent = [in_percent(column.measure) for column in card]
    unit = "Values in percent" if any(percent) else "Values are ranks"
    if any(percent) and not all(percent):
        unit += ", ranks as they are"
    # By meaning, every pair has its value: nothing is unjudged.
    by_labels = [c for c in card if not similarities_of(c.measure)]
    reading = [READING[card.unjudged]] if by_labels else []
    screen.print(escape("\n" + "; ".join([unit, *reading, f"ties are {card.ties}."])))
    if card.intervals is not None:
        made = card.intervals
        screen.print(
            f"In parentheses {100 * made.level:g}% {made.shown} intervals from {made.resamples:,} resamples "
            f"of {units_drawn(card)}."
        )
    print_notes(card.notes)


def print_comparison(found: Comparison, detail: bool) -> None:
    """Print every table with its title, what they say in words, how they were made, and the notes."""
    from karat.scores import headline, layouts, method_line, shown_standings

    screen = console()
    for title, layout in layouts(found, detail):
        screen.print(f"[bold]{escape(title)}[/]")
        print_table(layout, screen)
        screen.print()
    for sentence in headline(shown_standings(found, detail)):
        screen.print(escape(sentence))
    screen.print(escape(f"\n{method_line(found)}"))
    print_notes(found.card.notes)


def print_table(layout: Layout, screen: Console) -> None:
    """Draw a table on a terminal; print it as plain text elsewhere."""
    from karat._util import text_of

    if screen.is_terminal:
        print_layout(layout, screen)
    else:
        print(text_of(layout))


def print_notes(notes: Iterable[str]) -> None:
    """Print what a reader should know on standard error."""
    errors = console(stderr=True)
    for note in notes:
        errors.print(escape(f"note: {note}"))


def with_bars(layout: Layout, card: Scorecard, width: int) -> Layout:
    """Add a bar to each row of a single run's fractions, where there is room for it."""
    from dataclasses import replace

    from karat.measures import is_share

    widths = [max(len(row[k]) for row in [layout.head, *layout.rows]) + 2 for k in range(len(layout.head))]
    room = min(30, width - sum(widths) - 1)
    if room < 10:
        return layout
    rows: dict[tuple[str, str], float] = {}
    for column in card:
        # The last column of a row sums it up: the mean of both directions, or the only one there is.
        if column.value is not None and is_share(column.measure):
            rows[column.truth, str(column.measure)] = column.value
    names = list(dict.fromkeys((column.truth, str(column.measure)) for column in card))
    drawn = [bar(rows.get(name, 0.0), room) for name in names]
    return replace(
        layout, head=[*layout.head, ""], rows=[[*row, one] for row, one in zip(layout.rows, drawn)]
    )


def bar(share: float, width: int) -> str:
    """Return a bar for a share of 1, in eighths of a letter; sums such as RSUM have none.

    >>> bar(0.5, 4), bar(0.53, 4), bar(4.2, 4)
    ('██  ', '██▏ ', '    ')
    """
    if not 0 <= share <= 1:
        return " " * width
    eighths = round(8 * width * share)
    full, rest = divmod(eighths, 8)
    return ("█" * full + " ▏▎▍▌▋▊▉"[rest] * (rest > 0)).ljust(width)


def print_layout(layout: Layout, screen: Console) -> None:
    """Draw a table, in several parts when its columns do not fit beside each other."""
    for shown in parts_that_fit(layout, screen.width):
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


def parts_that_fit(layout: Layout, width: int) -> list[list[int]]:
    """Return which columns stand beside each other; each part begins with the labels.

    A last column without a head is an ornament (bars, stars): it goes where there is no room for it.

    >>> from karat._util import Layout
    >>> layout = Layout(["run", "a", "b", ""], [["x", "1.23", "4.56", "****"]], set(), 1, set())
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
