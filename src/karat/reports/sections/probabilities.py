"""How sure the estimator is: the probabilities of the pairs that nobody vetted."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.estimation import EstimatedColumn
from karat.reports.effort_curves import VIEW_AXES
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import direction_heading, table
from karat.reports.section import SectionData, section

BINS = 20


@section("probabilities", "How sure are the guesses?", "Guesses", order=40, pages=["estimate"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return a histogram per measure and direction, apart by the noisy label."""
    views = [view(column) for column in material.estimate.columns]
    drawn = [one for one in views if one is not None]
    if not drawn and all(
        column.labels.vetted[column.looked_at].all() for column in material.estimate.columns
    ):
        return "Every pair that the measures look at is vetted: nothing is guessed."
    if not drawn:
        return "The estimator says nothing of pairs that nobody vetted."
    return {"axes": list(VIEW_AXES), "views": drawn}


def view(column: EstimatedColumn) -> dict[str, Any] | None:
    """Return the histogram of one column; None where nothing is guessed."""
    open_rows = column.looked_at & ~column.labels.vetted
    known = open_rows & ~np.isnan(column.probability)
    if not known.any():
        return None
    edges = np.linspace(0, 1, BINS + 1)
    counts = {
        says: np.histogram(column.probability[known & (column.candidates.noisy == says)], edges)[0].tolist()
        for says in (True, False)
    }
    guesses = column.probability[known]
    relevant, noisy = float(guesses.sum()), int(column.candidates.noisy[known].sum())
    unsure = int(((guesses > 0.2) & (guesses < 0.8)).sum())
    says = (
        f"Of {len(guesses):,} pairs that nobody vetted, about {relevant:,.0f} are relevant by these "
        f"probabilities; the noisy labels say {noisy:,}. {unsure:,} are between 20% and 80%."
    )
    missing = int(open_rows.sum()) - len(guesses)
    if missing:
        says += f" Of {missing:,} more the estimator says nothing."
    rows = [
        [f"{100 * low:.0f} to {100 * high:.0f}%", f"{yes:,}", f"{no:,}"]
        for low, high, yes, no in zip(edges, edges[1:], counts[True], counts[False])
    ]
    return {
        "key": [direction_heading(column.direction), str(column.measure)],
        "middles": [round(100 * float(edge) + 50 / BINS, 2) for edge in edges[:-1]],
        "yes": counts[True],
        "no": counts[False],
        "says": says,
        "table": table(
            f"Pairs that are not vetted, by probability: {column.title}",
            ["Probability", "Noisy label: relevant", "Noisy label: not"],
            rows,
        ),
    }
