"""How many vetted labels were enough: the first screen of a simulation."""

from __future__ import annotations

import numpy as np

from karat._util import MISSING, plural
from karat.estimation import CLOSE, Simulated, Simulation, spread_of
from karat.reports.effort_curves import VIEW_AXES, key_of
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import Cell, called, cell, in_words, shown, table
from karat.reports.section import SectionData, section

EFFORT = 0.2
"""The share of vetted pairs that the first sentence speaks of."""


@section("simulation", "How many labels were enough", "Summary", order=10, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the finding, and per method the effort until scores are close."""
    found = material.simulation
    result = found.results[0]
    return {
        "finding": finding(result),
        "tiles": tiles(found, result),
        "points": points(found, result),
        "axes": list(VIEW_AXES),
        "views": [{"key": key_of(one), "table": enough_table(one)} for one in found.results],
    }


def finding(result: Simulated) -> str:
    """Return what the simulation says, in a sentence."""
    last = min(float(curve.effort[-1]) for curve in result.curves)
    effort = min(EFFORT, last)
    errors = {curve.method: float(spread_of(curve.error)[0][curve.at(effort)]) for curve in result.curves}
    known = {method: error for method, error in errors.items() if not np.isnan(error)}
    if not known:
        return f"After vetting {effort:.0%} of the {result.unit}s, no method has an estimate yet."
    best = min(known, key=lambda method: known[method])
    labels = round(effort * result.looked_at)
    return (
        f"After {plural(labels, f'vetted {result.unit}')} ({effort:.0%}), {called(best)} is off by "
        f"{known[best]:.1f} points per {result.per} in {called(result.measure)}; the noisy labels alone are "
        f"off by {100 * result.noisy_error:.1f}."
    )


def tiles(found: Simulation, result: Simulated) -> list[dict[str, str]]:
    """Return the numbers of the first measure, direction and run."""
    run = result.runs[0]
    return [
        {"number": shown(result.measure, float(result.truth[0])), "text": f"true score of {run}"},
        {"number": shown(result.measure, float(result.noisy[0])), "text": "its score by the noisy labels"},
        {"number": f"{result.looked_at:,}", "text": f"{result.unit}s to vet: 100% of the effort"},
        {"number": f"{found.times:,}", "text": "repetitions per method"},
    ]


def points(found: Simulation, result: Simulated) -> list[dict[str, str]]:
    """Return what was estimated and from what, as terms and sentences."""
    outside = (
        f" Pairs outside the candidates count as not relevant; candidates hold {100 * result.recall:.1f}% "
        f"of all relevant pairs ({result.way})."
    )
    return [
        {
            "term": "What is estimated",
            "text": f"The score of {result.target}.{outside if result.unit == 'pair' else ''}",
        },
        {"term": str(result.measure), "text": in_words(result.measure)},
        {
            "term": "Labels",
            "text": f"Noisy: {called(found.noisy)}. True, asked one {result.unit} at a time: "
            f"{called(found.vetted)}.",
        },
    ]


def enough_table(result: Simulated) -> dict[str, object]:
    """Return, per method, how much was to be vetted until the score was close."""
    rows: list[list[Cell]] = []
    for curve in result.curves:
        row: list[Cell] = [curve.method]
        for within in CLOSE:
            effort = result.enough(curve, within)
            row.append(
                MISSING
                if effort is None
                else cell(f"{100 * effort:.0f}%", f"{round(effort * result.looked_at):,} {result.unit}s")
            )
        rows.append(row)
    heads = [f"{100 * within:g} point{'' if within == 0.01 else 's'}" for within in CLOSE]
    caption = (
        f"{result.unit.capitalize()}s to vet until the score is off by no more than … ({result.title}; mean "
        "over repetitions and systems, from there on)"
    )
    return table(caption, ["Method", *heads], rows)
