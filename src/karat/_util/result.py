"""Results: what every verb that computes returns, as text, tables, plain data, pages and files."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from karat._util.checks import check_extension
from karat._util.extras import extra, require
from karat._util.files import write_file
from karat._util.notebook import fragment
from karat._util.registry import Registry, import_later
from karat._util.tables import Layout, latex_comment, latex_of, markdown_of, text_of
from karat._util.text import guard_table
from karat.errors import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Part = str | Layout
"""What a result shows: a sentence or several lines of text, or a table."""

PAGES: Registry[Callable[[Any, Path], object]] = Registry("page", fill=lambda: import_later("page"))
"""By the name of a result's class, what writes its page, such as the report of a Scorecard: it takes the
result and the file. Results without one have a plain page of their tables."""

PAGE_NEEDS = ("jinja2", "plotly")
"""The packages that write such a page."""

PAGE_SUFFIXES = (".html", ".htm")

TEXT_FORMATS = (".json", ".csv", ".parquet", ".md", *PAGE_SUFFIXES)
"""The extensions of results that are sentences: LaTeX is for tables."""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em }} th, td {{ padding: 0.1em 0.6em }}</style></head>
<body>
{body}
</body></html>
"""


class Result(ABC):
    """What was computed: it prints itself, gives its numbers as plain data, and writes itself to files.

    A subclass says what is shown (`parts`) and gives its numbers (`records`); the rest follows. Most are
    frozen dataclasses, where `notes` is a field with a default.

    Examples
    --------
    >>> class Count(Result):
    ...     notes = ("one image could not be read",)
    ...     def parts(self):
    ...         return ["Pictures by kind.", Layout(["kind", "images"], [["dog", "3"], ["cat", "2"]])]
    ...     def records(self):
    ...         return [{"kind": "dog", "images": 3}, {"kind": "cat", "images": 2}]
    >>> print(Count())
    Pictures by kind.
    <BLANKLINE>
    kind  images
    ────  ──────
    dog        3
    cat        2
    note: one image could not be read
    """

    formats: ClassVar[tuple[str, ...]] = (".json", ".csv", ".parquet", ".md", ".tex", *PAGE_SUFFIXES)
    """The extensions of files that `save` writes."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know."""
        return ()

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return the numbers as plain data: one flat dictionary per number or row."""

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return what is shown, in order: text, and tables. A blank line separates two parts."""

    def tables(self) -> list[Layout]:
        """Return the tables of what is shown."""
        return [part for part in self.parts() if isinstance(part, Layout)]

    def with_notes(self, notes: Sequence[str]) -> Self:
        """Return it with further notes."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self  # type: ignore[type-var]

    def __str__(self) -> str:
        shown = [
            printable(part, lines=True) if isinstance(part, str) else text_of(part) for part in self.parts()
        ]
        notes = [f"note: {printable(note, lines=True)}" for note in self.notes]
        return "\n".join([*(["\n\n".join(shown)] if shown else []), *notes])

    def _repr_html_(self) -> str:
        """Return it for notebooks: parts and notes, everything escaped; long tables are cut, and say so."""
        return fragment(self.parts(), self.notes)

    def to_json(self) -> str:
        """Return the records as json."""
        return json_text(self.records())

    def to_markdown(self) -> str:
        """Return what is shown in markdown, the best values in bold."""
        shown = [
            # Two blanks at its end keep a line from running into the next.
            markdown_of(part) if isinstance(part, Layout) else part.replace("\n", "  \n") + "\n"
            for part in self.parts()
        ]
        notes = ["".join(f"- {note}\n" for note in self.notes)] if self.notes else []
        return "\n".join([*shown, *notes])

    def to_latex(self) -> str:
        """Return the tables in LaTeX, for the package booktabs; sentences and notes are comments."""
        return latex_text(self.parts(), self.notes)

    def to_frame(self) -> pl.DataFrame:
        """Return the records as a polars table."""
        import polars as pl

        records = self.records()
        names = dict.fromkeys(name for record in records for name in record)
        return pl.DataFrame({name: [record.get(name) for record in records] for name in names}, strict=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return the records as a pandas table; pandas is the only package that this needs."""
        return pandas_of(self.to_frame())

    def save_json(self, path: Path) -> None:
        """Write the records as json, whatever the file is called; `--json` does so."""
        write_file(path, lambda draft: write_text(draft, self.to_json()))

    @classmethod
    def check_path(cls, path: str | Path | None) -> None:
        """Raise before the work starts when `save` could not write a file with this extension."""
        if path is not None and not is_page(path):
            check_extension(Path(path), cls.formats)
        elif path is not None and any(kind.__name__ in PAGES for kind in cls.__mro__):
            require(*PAGE_NEEDS)

    def save(self, path: str | Path) -> None:
        """Write the result; the extension, one of `formats`, says how.

        Json holds what `to_json` returns, csv and Parquet the records, md what is shown, tex the tables; html
        is a page. A file appears whole or not at all.
        """
        path = Path(path)
        self.check_path(path)
        if path.suffix == ".json":
            self.save_json(path)
            return
        if not is_page(path):
            write_file(path, lambda draft: WRITERS[path.suffix](self, draft))
            return
        for kind in type(self).__mro__:
            if kind.__name__ in PAGES:
                PAGES[kind.__name__](self, path)
                return
        self.save_page(path)

    def save_page(self, path: Path) -> None:
        """Write a plain page of what is shown."""
        page = PAGE.format(
            title=escape(type(self).__name__), body=fragment(self.parts(), self.notes, cut=False)
        )
        write_file(path, lambda draft: write_text(draft, page))


def latex_text(parts: Sequence[Part], notes: Sequence[str]) -> str:
    """Return the text of a LaTeX file: tables, and what else is shown as comments."""
    shown = [latex_of(part) if isinstance(part, Layout) else latex_comment(part) + "\n" for part in parts]
    below = ["".join(latex_comment(f"note: {note}") + "\n" for note in notes)] if notes else []
    return "\n".join([r"% \usepackage{booktabs}" + "\n", *shown, *below])


def is_page(path: str | Path | None) -> bool:
    """Whether a file is to be a page.

    >>> is_page("report.HTML"), is_page("table.md"), is_page(None)
    (True, False, False)
    """
    return path is not None and Path(path).suffix.lower() in PAGE_SUFFIXES


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose values are single cells: a table can hold it.

    >>> flat({"systems": ["a", "b"], "scores": {"a": 0.5, "b": None}})
    {'systems': '["a", "b"]', 'scores_a': 0.5, 'scores_b': None}
    """
    out: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            out |= {f"{key}_{name}": cell for name, cell in flat(value).items()}
        else:
            out[key] = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
    return out


def pandas_of(frame: pl.DataFrame) -> pd.DataFrame:
    """Return a polars table in pandas, without pyarrow, which polars itself would need."""
    pandas = extra("pandas")
    import polars as pl

    # A column without any value is one of missing numbers.
    return pandas.DataFrame({column.name: column.to_numpy() for column in frame.cast({pl.Null: pl.Float64})})


def json_text(data: Any) -> str:
    """Return plain data as json."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write text; bytes of a file's name that are not text, as Python reads them, are written as escapes."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


WRITERS: dict[str, Callable[[Result, Path], object]] = {
    ".csv": lambda result, path: guard_table(result.to_frame()).write_csv(path),
    ".parquet": lambda result, path: result.to_frame().write_parquet(path),
    ".md": lambda result, path: write_text(path, result.to_markdown()),
    ".tex": lambda result, path: write_text(path, result.to_latex()),
}
