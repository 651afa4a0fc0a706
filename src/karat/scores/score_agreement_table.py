"""What `score_agreement` returns: correlations and kappas of scores with ratings; in text and files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from karat.scores.agreement_table import numbers
from karat.scores.phrasing import with_interval
from karat.scores.tables import Layout, text_of
from karat.scores.thresholds import ThresholdTable, cut_texts
from karat.stats.estimate import Estimate
from karat.validation import plural, unknown_name

ALL, NOT_ORIGINAL = "all", "not original"
"""The groups of pairs: every rated one, and those whose caption was written for another image."""
TITLES = {ALL: "all {}", NOT_ORIGINAL: "{} that are not the benchmark's original ones"}
HEADS = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "tau": "Kendall's τ-b"}
CHOSEN = "The best of several thresholds on these very pairs: elsewhere expect less."
MANY = 10_000
"""So many pairs tell the third digit."""


@dataclass(frozen=True, eq=False)
class ScoreRow:
    """One score beside the ratings, over one group of pairs.

    Parameters
    ----------
    score
        Its name.
    pairs
        The group: "all" or "not original".
    pearson, spearman, tau
        The correlations with the ratings; NaN where one side does not vary.
    thresholds
        Kappa of every two thresholds, ratings first; None where a side does not vary.
    """

    score: str
    pairs: str
    pearson: Estimate
    spearman: Estimate
    tau: Estimate
    thresholds: ThresholdTable | None = None

    @property
    def best_kappa(self) -> Estimate | None:
        """The highest kappa over the thresholds; None where it is nowhere defined."""
        best = None if self.thresholds is None else self.thresholds.best
        return None if self.thresholds is None or best is None else self.thresholds.kappa[best]

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        out = [
            {"statistic": name, "score": self.score, "pairs": self.pairs, **numbers(getattr(self, name))}
            for name in HEADS
        ]
        cuts = [] if self.thresholds is None else self.thresholds.records()
        return out + [{**record, "score": self.score, "pairs": self.pairs} for record in cuts]


@dataclass(frozen=True, eq=False)
class ScoreAgreement:
    """Agreement of scores with people's ratings.

    Parameters
    ----------
    ratings, about
        The name of the ratings, and one line on them.
    rows
        Every score over every group of pairs.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    """

    ratings: str
    about: str
    rows: tuple[ScoreRow, ...]
    notes: tuple[str, ...] = ()
    how: str = ""

    def row(self, score: str, pairs: str = ALL) -> ScoreRow:
        """Return what one score has over one group of pairs."""
        for row in self.rows:
            if (row.score, row.pairs) == (score, pairs):
                return row
        known = [f"{row.score}, {row.pairs}" for row in self.rows]
        raise unknown_name("score and pairs", f"{score}, {pairs}", known)

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number: correlations, and kappas of thresholds."""
        return [record for row in self.rows for record in row.records()]

    def to_json(self) -> str:
        """Return the records as json."""
        return json.dumps(self.records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def lay_out(self, pairs: str) -> Layout:
        """Return the correlations of every score over one group of pairs."""
        chosen = [row for row in self.rows if row.pairs == pairs]
        digits = 3 if max(row.pearson.n for row in chosen) >= MANY else 2
        rows = [[row.score, *(with_interval(getattr(row, name), digits) for name in HEADS)] for row in chosen]
        return Layout(["score", *HEADS.values()], rows, set(), 1, set())

    def lay_out_kappas(self) -> Layout:
        """Return the best kappa of every score and group, with its thresholds."""
        rows = []
        for row in self.rows:
            found, one = row.thresholds, row.best_kappa
            if found is None or found.best is None or one is None:
                continue
            cuts = zip((found.first_from, found.second_from), found.best)
            shown = [cut_texts(values[at : at + 1])[0] for values, at in cuts]
            rows.append([row.score, row.pairs, *shown, with_interval(one)])
        head = ["score", "pairs", "rating from", "score from", "kappa"]
        return Layout(head, rows, set(), 2, set())

    def parts(self, intervals: bool | None = None) -> list[str | Layout]:
        """Return what there is to show, in order: lines of text, and tables."""
        out: list[str | Layout] = [f"{self.ratings}: {self.about}"]
        for group, title in TITLES.items():
            sizes = [row.pearson.n for row in self.rows if row.pairs == group]
            if sizes:
                out += ["", title.format(plural(max(sizes), "pair")), self.lay_out(group)]
        # One cut of each side leaves nothing to choose from, and no table to show.
        tables = [(row, found) for row in self.rows if (found := row.thresholds) and found.kappa.size > 1]
        if len({row.score for row in self.rows}) == 1:
            for row, found in tables:
                title = f"kappa, {row.pairs} pairs: {found.first} down, {found.second} across"
                out += ["", title, found.lay_out(intervals)]
        kappas = self.lay_out_kappas()
        if kappas.rows:
            out += ["", "best kappa, both sides cut into yes and no", kappas]
        if kappas.rows and tables:
            out += ["", CHOSEN]
        return [*out, "", self.how] if self.how else out

    def __str__(self) -> str:
        shown = [part if isinstance(part, str) else text_of(part) for part in self.parts()]
        return "\n".join([*shown, *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(row.score for row in self.rows))
        return f"ScoreAgreement({names} against {self.ratings})"
