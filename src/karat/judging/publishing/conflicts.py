"""Where people and other judged sets say opposite things: counted, and listed for whoever wants to look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat._util import write_file
from karat.benchmarks import Benchmark
from karat.judging.pools import split_key
from karat.judging.publishing.merging import Merged

COLUMNS = ("image", "caption", "set", "set_grade", "answered_grade", "published_grade", "text")


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of which people and one set say opposite things, a row each.

    Parameters
    ----------
    key
        The pairs, as numbers.
    source
        Which of `names`.
    theirs, people, outcome
        The grade by the set, by people, and as published.
    names
        The sets.
    both
        Per set, how many pairs both judged.
    """

    key: np.ndarray
    source: np.ndarray
    theirs: np.ndarray
    people: np.ndarray
    outcome: np.ndarray
    names: tuple[str, ...]
    both: np.ndarray

    def __len__(self) -> int:
        return len(self.key)

    def counts(self) -> list[dict[str, int | str]]:
        """Return, per set, how many pairs both judged, and how many of each kind of conflict there are.

        `set_yes` counts pairs that the set calls relevant and people do not; `answers_yes` the opposite;
        `published_yes` how many of all conflicts were published as relevant.
        """
        out: list[dict[str, int | str]] = []
        for number, name in enumerate(self.names):
            mine = self.source == number
            out.append(
                {
                    "set": name,
                    "both": int(self.both[number]),
                    "set_yes": int((mine & (self.theirs > 0)).sum()),
                    "answers_yes": int((mine & (self.theirs == 0)).sum()),
                    "published_yes": int((mine & (self.outcome > 0)).sum()),
                }
            )
        return out

    def write(self, path: str | Path, benchmark: Benchmark) -> None:
        """Write them as csv, with the benchmark's ids and the captions where they are known."""
        import polars as pl

        image, caption = split_key(self.key)
        texts = caption_texts(benchmark, caption.tolist())
        values = (
            benchmark.images[image],
            benchmark.captions[caption],
            np.array(self.names, dtype=object)[self.source] if len(self) else [],
            self.theirs,
            self.people,
            self.outcome,
            [inert(text) for text in texts],
        )
        kinds = (None, None, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.String)
        table = pl.DataFrame(
            {name: pl.Series(name, column, dtype=kind) for name, column, kind in zip(COLUMNS, values, kinds)}
        )
        write_file(Path(path), table.write_csv)


def inert(text: str) -> str:
    """Return a text that a spreadsheet shows instead of computing it: captions are untrusted.

    >>> inert("=1+1"), inert("a dog")
    ("'=1+1", 'a dog')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def caption_texts(benchmark: Benchmark, caption: Iterable[int]) -> list[str]:
    """Return captions by their indices; empty for those that are not in the gallery."""
    texts = [] if benchmark.texts is None else benchmark.texts
    return [str(texts[one]) if one < len(texts) else "" for one in caption]


def find_conflicts(merged: Merged) -> Conflicts:
    """Return where people and a set say opposite things.

    Examples
    --------
    >>> from karat.judging.publishing.merging import Said, merge
    >>> people = Said("people", np.array([0, 1, 2]), np.array([0.0, 0.5, 1.0]))
    >>> cxc = Said("cxc", np.array([0, 1, 2, 9]), np.array([1.0, 0.0, 1.0, 1.0]))
    >>> find_conflicts(merge(people, [cxc], np.array([0, 2, 3]), np.array([3, 3, 3]))).counts()
    [{'set': 'cxc', 'both': 3, 'set_yes': 1, 'answers_yes': 1, 'published_yes': 2}]
    """
    people, sets = merged.said[0], merged.said[1:]
    both = ~np.isnan(people) & ~np.isnan(sets)
    source, row = np.nonzero(both & ((people > 0) != (sets > 0)))
    return Conflicts(
        merged.key[row],
        source,
        sets[source, row],
        people[row],
        merged.grade[row],
        tuple(one.name for one in merged.sources[1:]),
        both.sum(axis=1),
    )
