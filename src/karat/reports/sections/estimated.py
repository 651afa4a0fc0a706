"""The estimated scores, and what they rest on: the first screen of a page of estimates."""

from __future__ import annotations

import numpy as np

from karat.estimation import OTHERS, TARGETS, EstimatedColumn, ScoreEstimate
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import called, direction_heading, in_words, shown
from karat.reports.section import SectionData, section

OTHER_TEXTS = {
    "naive": "if the noisy labels were right",
    "sample_mean": "with the mean of the vetted pairs for all others",
    "vetted_only": "on the queries that are vetted completely",
}


@section("estimated", "Estimated scores", "Summary", order=10, scripted=False, pages=["estimate"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the finding, its numbers, and what it rests on."""
    found = material.estimate
    column = main_column(found)
    at = best_run(column)
    numbers = {"value": column.scores, **{key: getattr(column, key) for key in OTHERS}}
    texts = {"value": f"{column.measure} of {column.candidates.runs[at]}, estimated", **OTHER_TEXTS}
    tiles = [
        {"number": value_text(column, values[at], spread_at(column, at) if key == "value" else None),
         "text": texts[key]}
        for key, values in numbers.items()
        if not np.isnan(values[at])
    ]  # fmt: skip
    inside = column.looked_at
    vetted = int((inside & column.labels.vetted).sum())
    tiles.append({"number": f"{vetted:,}", "text": f"vetted of {int(inside.sum()):,} pairs that it looks at"})
    return {"finding": finding(found, column, at), "tiles": tiles, "points": points(found, column, vetted)}


def main_column(found: ScoreEstimate) -> EstimatedColumn:
    """Return the first column with an estimate, or the first."""
    known = [column for column in found.columns if not np.isnan(column.scores).all()]
    return (known or list(found.columns))[0]


def best_run(column: EstimatedColumn) -> int:
    """Return the run with the highest estimate."""
    return int(np.argmax(np.nan_to_num(column.scores, nan=-1.0)))


def spread_at(column: EstimatedColumn, at: int) -> float | None:
    """Return a run's spread, None where it is unknown."""
    return None if np.isnan(column.spread[at]) else float(column.spread[at])


def value_text(column: EstimatedColumn, value: float, spread: float | None = None) -> str:
    """Return a value as people read it, with its spread."""
    return shown(column.measure, float(value)) + ("" if spread is None else f" ± {100 * spread:.1f}")


def finding(found: ScoreEstimate, column: EstimatedColumn, at: int) -> str:
    """Return what was estimated, in a sentence."""
    run, score, noisy = column.candidates.runs[at], column.scores[at], column.naive[at]
    if np.isnan(score):
        return f"{called(found.estimator)} has no estimate of {called(column.measure)} from these labels."
    where = f" ({direction_heading(column.direction)})"
    first = "" if len(column.candidates.runs) == 1 else ", the highest of all"
    says = (
        f"If every label were vetted, {called(run)} would score about "
        f"{value_text(column, score, spread_at(column, at))} in {called(column.measure)}{where}{first}"
    )
    return f"{says}." if np.isnan(noisy) else f"{says}; the noisy labels say {value_text(column, noisy)}."


def points(found: ScoreEstimate, column: EstimatedColumn, vetted: int) -> list[dict[str, str]]:
    """Return what is estimated and from what, as terms and sentences."""
    inside = column.looked_at
    queries = len(column.candidates.queries)
    open_pairs = int(inside.sum()) - vetted
    if open_pairs:
        rests = (
            f"{vetted:,} vetted pairs; {open_pairs:,} pairs of {queries:,} queries are guessed by "
            f"{called(found.estimator)} from them."
        )
    else:
        rests = f"{vetted:,} vetted pairs: all that the measure looks at, so nothing is guessed."
    return [
        {"term": "What is estimated", "text": f"The score for {TARGETS[found.target]}."},
        {"term": str(column.measure), "text": in_words(column.measure)},
        {"term": "What it rests on", "text": rests},
        {
            "term": "Labels",
            "text": f"Noisy, for all pairs: {called(found.noisy)}. Vetted, for some: {called(found.vetted)}.",
        },
        {
            "term": "±",
            "text": "One standard deviation of the score if the guessed probabilities are right; no "
            "confidence interval.",
        },
    ]
