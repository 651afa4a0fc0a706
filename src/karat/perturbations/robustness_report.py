"""Robustness: what changed queries do to a run, as it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from karat._util import MISSING, Layout, Part, Result, ends, grouped, signed
from karat.errors import unknown_name
from karat.measures import Named, is_in_percent, scale_value, show_value
from karat.stats import Estimate, Intervals, how_intervals, percent, with_interval

EVEN = 0.5
"""How often scores fall that move by chance alone."""


@dataclass(frozen=True)
class QueryEffect:
    """What became of the own images of changed queries of one kind.

    Parameters
    ----------
    kind, control
        What was changed, and whether that keeps the meaning.
    per
        Whether a query is a "caption", or the "set" of all captions of an image.
    changed, of, images
        How many queries were changed, of how many, and of how many images they are.
    lower, higher, same
        The shares whose own image ranks lower than before, higher, or at the same place.
    fall
        The share for which the own image's score fell, by half where it stayed: 0.5 is chance. Of ranked
        lists, the same of ranks.
    unnoticed
        The share for which the score did not fall; None of ranked lists.
    score_change
        By how much the own image's score changed, on the run's own scale; None of ranked lists.
    cosine
        Of the query's vector before and after; None without embeddings.
    beyond_controls
        `fall` less that of the controls; None of controls, and without them.
    """

    kind: str
    control: bool
    per: str
    changed: int
    of: int
    images: int
    lower: Estimate
    higher: Estimate
    same: Estimate
    fall: Estimate
    unnoticed: Estimate | None = None
    score_change: Estimate | None = None
    cosine: Estimate | None = None
    beyond_controls: Estimate | None = None

    def answer(self) -> str:
        """Return whether the model notices the change, in a sentence."""
        moved = self._moved()
        falls, rises = self.fall.low > EVEN, self.fall.high < EVEN
        if self.control:
            way = "falls" if falls else "rises"
            verdict = (
                f"it {way} although the meaning is the same" if falls or rises else "not shown to matter"
            )
            return f"{self.kind} (control): {moved}: {verdict}."
        beyond = self.beyond_controls
        if beyond is not None:
            moved += f"; it falls {_points(beyond)} points more often than for controls"
        if self.fall.low != self.fall.low:
            verdict = "Too few images to tell"
        elif falls and (beyond is None or beyond.low > 0):
            verdict = "Yes"
        else:
            verdict = "Not shown"
        return f"Does it notice {self.kind}? {verdict}: {moved}."

    def _moved(self) -> str:
        queries = f"{self.changed:,} changed {'query' if self.changed == 1 else 'queries'}"
        if self.unnoticed is None:
            higher = f"higher for {100 * self.higher.value:.1f}%"
            return f"the own image ranks lower for {percent(self.lower)} of {queries} and {higher}"
        same = self.unnoticed
        fell = replace(same, value=1 - same.value, low=1 - same.high, high=1 - same.low)
        # Of `fall`, scores that stayed are one half.
        rose = max(0.0, 1 + fell.value - 2 * self.fall.value)
        return f"the own image's score fell for {percent(fell)} of {queries} and rose for {100 * rose:.1f}%"


@dataclass(frozen=True)
class MeasureEffect:
    """A measure before and after.

    Parameters
    ----------
    kind, control, per
        See `QueryEffect`.
    queries
        "changed" for these alone, or "all".
    truth, measure
        What was scored.
    before, after, difference
        The values, and the second less the first.
    """

    kind: str
    control: bool
    per: str
    queries: str
    truth: str
    measure: Named
    before: float
    after: float
    difference: Estimate


@dataclass(frozen=True, eq=False)
class Robustness(Result):
    """What changed queries do to a run; `karat.robustness` makes it.

    Parameters
    ----------
    run, benchmark, ties
        What was asked, and how equal scores are ordered.
    effects
        Per kind and caption or set, what became of ranks and scores.
    measures
        Per kind and caption or set, every measure before and after.
    intervals
        How intervals were made.
    notes
        What a reader should know.
    """

    run: str
    benchmark: str
    ties: str
    effects: Sequence[QueryEffect]
    measures: Sequence[MeasureEffect]
    intervals: Intervals
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(effect.kind for effect in self.effects))
        return f"Robustness({self.run} on {self.benchmark}: {kinds})"

    def effect(self, kind: str, per: str = "caption") -> QueryEffect:
        """Return what became of ranks and scores of one kind."""
        effects = {(effect.kind, effect.per): effect for effect in self.effects}
        if (kind, per) not in effects:
            known = [f"{each} ({unit})" for each, unit in effects]
            raise unknown_name("effect", f"{kind} ({per})", known, owner=self.run)
        return effects[kind, per]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per number: shares are fractions, differences those of the measure's values."""
        records = []
        for effect in self.effects:
            head = {"kind": effect.kind, "control": effect.control, "per": effect.per, "queries": "changed"}
            share = {"value": effect.changed / effect.of, "low": None, "high": None, "n": effect.of}
            records.append(_record(head, "changed", **share))
            for name in (
                "lower", "higher", "same", "unnoticed", "fall", "score_change", "cosine", "beyond_controls",
            ):  # fmt: skip
                estimate = getattr(effect, name)
                if estimate is not None:
                    records.append(_record(head, name, **_numbers(estimate)))
        for each in self.measures:
            head = {"kind": each.kind, "control": each.control, "per": each.per, "queries": each.queries}
            numbers = _numbers(each.difference)
            value = {"truth": each.truth, "before": _finite(each.before), "after": _finite(each.after)}
            records.append(_record(head, str(each.measure), **value, **numbers))
        return records

    def parts(self) -> list[Part]:
        """Return the answers, ranks and scores by kind, and the measures before and after."""
        first = self.effects[0].per
        answers = [effect.answer() for effect in self.effects if effect.per == first]
        return ["\n".join(answers), self._ranks(), *self._measures(), self._reading()]

    def _ranks(self) -> Layout:
        scored = any(effect.unnoticed is not None for effect in self.effects)
        vectors = any(effect.cosine is not None for effect in self.effects)
        head = ["kind", "per", "changed", "%", "lower %", "higher %", "same %"]
        head += ["not noticed %", "score change"] if scored else []
        head += ["cosine"] if vectors else []
        lines = []
        for each in self.effects:
            row = [f"{each.changed:,}", f"{100 * each.changed / each.of:.1f}"]
            row += [_share(share) for share in (each.lower, each.higher, each.same)]
            row += [_share(each.unnoticed), _change(each.score_change)] if scored else []
            row += [MISSING if each.cosine is None else f"{each.cosine.value:.3f}"] if vectors else []
            lines.append(((_kind(each), each.per), row))
        title = f"{self.run} on {self.benchmark}: the own image of changed queries, ties {self.ties}"
        return grouped(head, lines, title=title)

    def _measures(self) -> list[Layout]:
        by_line: dict[tuple[str, str, str, str], dict[str, MeasureEffect]] = {}
        for each in self.measures:
            key = (_kind(each), each.per, each.truth, str(each.measure))
            by_line.setdefault(key, {})[each.queries] = each
        if not by_line:
            return []
        head = ["kind", "per", "truth", "measure"]
        for queries in ("changed", "all"):
            head += [f"{queries}: before", "after", "difference"]
        lines = [
            (key, [cell for queries in ("changed", "all") for cell in _before_after(pair.get(queries))])
            for key, pair in by_line.items()
        ]
        title = "Measures before and after, on the changed queries and on all"
        return [grouped(head, lines, title=title)]

    def _reading(self) -> str:
        lines = []
        if any(not effect.control for effect in self.effects):
            lines.append(
                "Where the meaning changes, the own image should fall: not noticed is the share of queries "
                "whose own image scores no less than before."
            )
        if any(effect.control for effect in self.effects):
            lines.append(
                "A control keeps the meaning, and nothing should move: what does is the noise of wording."
            )
        if any(effect.per == "set" for effect in self.effects):
            lines.append("A set is an image's captions together; its score is the mean of theirs.")
        lines.append(
            f"Fractions in percent, ranks as they are. {how_intervals(self.intervals, 'images')}".replace(
                "In brackets", "In parentheses"
            )
        )
        return "\n".join(lines)


def _kind(effect: QueryEffect | MeasureEffect) -> str:
    return f"{effect.kind} (control)" if effect.control else effect.kind


def _record(head: dict[str, Any], number: str, **values: Any) -> dict[str, Any]:
    keys = {"truth": None, "before": None, "after": None, **values}
    return {**head, "number": number, **keys}


def _numbers(estimate: Estimate) -> dict[str, Any]:
    return {
        **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
        "n": estimate.n,
    }


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


def _share(estimate: Estimate | None) -> str:
    return MISSING if estimate is None else percent(estimate).replace("%", "")


def _change(estimate: Estimate | None) -> str:
    return MISSING if estimate is None else with_interval(estimate, 3)


def _points(estimate: Estimate) -> str:
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{signed(100 * estimate.value, 1)} ({ends(low, high, 1)})"


def _before_after(effect: MeasureEffect | None) -> list[str]:
    if effect is None:
        return ["", "", ""]
    digits = 2 if is_in_percent(effect.measure) else 1
    value, low, high = (
        scale_value(effect.measure, number)
        for number in (effect.difference.value, effect.difference.low, effect.difference.high)
    )
    shown = signed(value, digits)
    shown = f"+{shown}" if not shown.startswith("−") and float(shown) else shown
    interval = f" ({ends(low, high, digits)})" if low == low else " (no interval)"
    return [*(show_value(effect.measure, each) for each in (effect.before, effect.after)), shown + interval]
