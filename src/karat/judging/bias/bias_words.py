"""What a bias report says, in sentences."""

from __future__ import annotations

import numpy as np

from karat._util import plural
from karat.judging.bias.bias_report import BiasReport
from karat.scores import DIRECTION_TITLES


def bias_sentences(report: BiasReport) -> list[str]:
    """Return the findings: how biased few systems are, what staying away costs, how far the truth is."""
    return [*curve_sentences(report), *outsider_sentences(report), *truth_sentences(report)]


def points(share: float) -> str:
    """Return a share in points.

    >>> points(0.0123)
    '1.2 points'
    """
    return f"{100 * share:.1f} points"


def curve_sentences(report: BiasReport) -> list[str]:
    """Say what one system alone, and all but one, do to the scores."""
    n = len(report.systems)
    out = []
    for (direction, measure), table in report.tables.items():
        found = {point.size: point.bias for point in table.curve()}
        one, most = found[1], found[n - 1] if n > 1 else None
        if one is None or most is None:
            continue
        said = (
            f"{measure}, {DIRECTION_TITLES[direction]}: on the labels of one system scores are "
            f"{points(one)} off those on the labels of all {n}"
        )
        if n > 2:
            said += f"; on those of {n - 1}, {points(most)}"
        out.append(f"{said}.")
    return out


def outsider_sentences(report: BiasReport) -> list[str]:
    """Say what a system loses that does not contribute, compared with those that do."""
    out = []
    for direction, measure in report.tables:
        rows = [one for one in report.left_out if (one.direction, one.measure) == (direction, measure)]
        if not rows:
            continue
        loss = -float(np.mean([one.unfairness.value for one in rows]))
        sure = sum(one.unfairness.high < 0 for one in rows)
        falls = sum(one.rank_without > one.rank for one in rows)
        verb = "loses" if loss >= 0 else "gains"
        out.append(
            f"{measure}, {DIRECTION_TITLES[direction]}: a system that stays away {verb} {points(abs(loss))} "
            f"more than the others on average; the loss is beyond chance for {sure} of "
            f"{plural(len(rows), 'system')}, and {falls} would stand lower."
        )
    return out


def truth_sentences(report: BiasReport) -> list[str]:
    """Say how far the labels of all systems are from the complete truth."""
    return [
        f"{measure}, {DIRECTION_TITLES[direction]}: on all labels together scores are "
        f"{points(float(table.bias[-1]))} off the truth {report.truth}."
        for (direction, measure), table in report.against_truth.items()
    ]
