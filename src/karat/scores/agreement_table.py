"""What `agree` returns: alpha, kappa of every two raters, kappa over thresholds; in text and files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.scores.phrasing import or_none, with_interval
from karat.scores.tables import Layout, text_of
from karat.scores.thresholds import ThresholdTable, cut_texts
from karat.stats.estimate import Estimate

MOST_SHOWN = 15
"""Pairs of raters; of more, the text shows the least and the most agreeing."""


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two raters: plain, and with linear and quadratic weights."""

    first: str
    second: str
    nominal: Estimate
    linear: Estimate
    quadratic: Estimate


@dataclass(frozen=True, eq=False)
class RaterAgreement:
    """Agreement of the raters of one table.

    Parameters
    ----------
    name, about
        Of the table.
    alpha
        Krippendorff's alpha by scale; empty where there is one rater.
    kappas
        Of every two raters, where asked for.
    notes
        What a reader should know.
    """

    name: str
    about: str
    alpha: dict[str, Estimate]
    kappas: tuple[PairKappa, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the table's line and its alphas."""
        width = max((len(scale) for scale in self.alpha), default=0)
        return [
            f"{self.name}: {self.about}",
            *(f"  alpha, {scale.ljust(width)}  {with_interval(one)}" for scale, one in self.alpha.items()),
        ]

    def lay_out(self) -> Layout:
        """Return kappa of every two raters or, where there are too many, of the least and most agreeing."""
        shown = list(self.kappas)
        if len(shown) > MOST_SHOWN:
            shown = [pair for pair in shown if not np.isnan(pair.nominal.value)]
            shown.sort(key=lambda pair: pair.nominal.value)
            shown = [*shown[: MOST_SHOWN // 2], *shown[-(MOST_SHOWN // 2) :]]
        rows = [
            [f"{pair.first} and {pair.second}", f"{pair.nominal.n:,}",
             *(with_interval(one) for one in (pair.nominal, pair.linear, pair.quadratic))]
            for pair in shown
        ]  # fmt: skip
        return Layout(["raters", "items", "kappa", "linear", "quadratic"], rows, set(), 1, set())

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        out = [
            {"statistic": "alpha", "table": self.name, "scale": scale, **numbers(one)}
            for scale, one in self.alpha.items()
        ]
        for pair in self.kappas:
            for weights in ("nominal", "linear", "quadratic"):
                out.append(
                    {"statistic": "kappa", "table": self.name, "first": pair.first, "second": pair.second,
                     "weights": weights, **numbers(getattr(pair, weights))}
                )  # fmt: skip
        return out


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement within and between tables of ratings.

    Parameters
    ----------
    tables
        The raters of each table.
    thresholds
        Two tables over the thresholds of their scales.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    """

    tables: tuple[RaterAgreement, ...]
    thresholds: ThresholdTable | None = None
    notes: tuple[str, ...] = ()
    how: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number: alphas, kappas of raters, kappas of thresholds."""
        records = [record for table in self.tables for record in table.records()]
        return records + ([] if self.thresholds is None else self.thresholds.records())

    def to_json(self) -> str:
        """Return the records as json."""
        return json.dumps(self.records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def parts(self, intervals: bool | None = None) -> list[str | Layout]:
        """Return what there is to show, in order: lines of text, and tables."""
        out: list[str | Layout] = []
        for table in self.tables:
            out += [*(["", ] if out else []), *table.lines()]  # fmt: skip
            if table.kappas:
                out += ["", table.lay_out()]
        if self.thresholds is not None:
            found = self.thresholds
            items = found.kappa[0, 0].n
            title = f"kappa over {items:,} items: {found.first} down, {found.second} across"
            out += ["", title, found.lay_out(intervals)]
            if found.best is not None:
                out += ["", self.best_in_words()]
        return [*out, "", self.how] if self.how else out

    def best_in_words(self) -> str:
        """Return the two thresholds that agree best, as a sentence."""
        found = self.thresholds
        if found is None or found.best is None:
            return ""
        one = found.kappa[found.best]
        first, second = (
            cut_texts(found.first_from)[found.best[0]],
            cut_texts(found.second_from)[found.best[1]],
        )
        where = f"{found.first} from {first}, {found.second} from {second}"
        return f"* best: kappa {with_interval(one)}\n  {where}"

    def __str__(self) -> str:
        shown = [part if isinstance(part, str) else text_of(part) for part in self.parts()]
        return "\n".join([*shown, *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"Agreement(of {' and '.join(table.name for table in self.tables)})"


def numbers(one: Estimate) -> dict[str, Any]:
    """Return what a record tells of an estimate; None where it is not defined."""
    return {**{key: or_none(getattr(one, key)) for key in ("value", "low", "high")}, "n": one.n}
