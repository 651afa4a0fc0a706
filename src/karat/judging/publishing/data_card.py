"""A data card in Markdown: what a published truth is, how it was made, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable

from karat.judging.publishing.card_labels import conflicts_part, growth_part, invalid_part, quality_part
from karat.judging.publishing.card_making import answers_part, making_part
from karat.judging.publishing.card_use import bias_part, limits_part, use_part
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.markdown import plain

PARTS: dict[str, Callable[[Evidence, Correction, Facts], str]] = {
    "How it was made": making_part,
    "Answers and agreement": answers_part,
    "The older labels": quality_part,
    "Positives": growth_part,
    "Invalid images and captions": invalid_part,
    "Conflicts with other judged sets": conflicts_part,
    "Bias": bias_part,
    "Known limits": limits_part,
    "How to use it": use_part,
}
"""By heading, in order."""
NO_LICENCE = (
    "*Not stated yet.* Before you share this folder, write here under which licence the judgments are given, "
    "and name the licence and the source of the images and captions, which may not be yours to give."
)


def data_card(
    evidence: Evidence, found: Correction, facts: Facts, *, licence: str = "", made: str = ""
) -> str:
    """Return the card; every text that comes from outside is escaped.

    Parameters
    ----------
    evidence, found, facts
        What was answered, what it became, and the figures.
    licence
        Under which licence the judgments are given; a reminder stands there when left out.
    made
        When or by whom, as it shall be printed; nothing when left out.
    """
    truth = found.truth
    lines = [f"# {plain(found.benchmark.name)}", plain(truth.about[:1].upper() + truth.about[1:], 400) + "."]
    if made:
        lines.append(f"Made: {plain(made)}")
    if truth.machine:
        lines.append("**Machines alone made these labels; no person judged any of the pairs.**")
    elif facts.counts["machines"]:
        lines.append("**Machine judges made a part of these labels; see below.**")
    for heading, part in PARTS.items():
        lines += [f"## {heading}", part(evidence, found, facts)]
    lines += ["## Licence", plain(licence, 2000) if licence else NO_LICENCE]
    return "\n\n".join(line for line in lines if line) + "\n"
