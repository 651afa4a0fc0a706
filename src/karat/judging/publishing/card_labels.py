"""The parts of a data card about labels: how good the older ones were, and what became of them."""

from __future__ import annotations

from karat._util import plural
from karat.benchmarks import DIRECTIONS
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.label_quality import LabelQuality
from karat.judging.publishing.listing import invalid_rows
from karat.judging.publishing.markdown import bars, code, table
from karat.stats import percent

FOUND = {"i2t": "captions of an image", "t2i": "images of a caption"}
SHOWN = 20
"""How many invalid items the card names; the file has all."""


def quality_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return precision and recall of the older truths."""
    rows = [quality_row(one, whole) for one, whole in zip(facts.by_answers, facts.by_truth)]
    heads = ["truth", "positives", "judged", "right of those", "recall", "precision, §3.3", "recall, §3.3"]
    return "\n\n".join(
        [
            "How good the labels were before, means over queries with 95% intervals:",
            table(heads, rows, labels=2),
            "*Judged*: the share of the older positives that were asked about. *Right of those*: the share "
            "that was confirmed. *Recall*: the share of the corrected positives that the older truth lists. "
            "The last two columns are those of ECCV Caption, section 3.3: against the answers alone, where a "
            "positive that nobody was asked about counts as wrong, so that they say as much of the pool as "
            "of the labels.",
        ]
    )


def quality_row(one: LabelQuality, whole: LabelQuality) -> tuple[str, ...]:
    """Return a truth in one direction: against the answers, and against the corrected truth."""
    seen = bool(one.counts.judged.any())
    return (
        one.truth,
        FOUND[one.direction],
        f"{100 * one.judged_share:.1f}%" if seen else "none",
        percent(one.judged_precision) if seen else "—",
        percent(whole.recall),
        percent(one.precision),
        percent(one.recall),
    )


def growth_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return how many positives there are, before and after."""
    rows = [(one.truth, one.shown("t2i"), one.shown("i2t")) for one in facts.growth]
    lines = [table(["truth", "positive images", "positive captions"], rows)]
    last = facts.growth[-1]
    for direction in DIRECTIONS:
        if len(last.positives[direction]):
            lines.append(f"Queries by their number of positives ({FOUND[direction]}):")
            lines.append(code(bars(last.histogram(direction))))
    return "\n\n".join(lines)


def invalid_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return what was removed, and what somebody should look at."""
    rows = invalid_rows(evidence, facts)
    removed = [one for one in rows if one["status"] == "removed"]
    others = [one for one in rows if one["status"] != "removed"]
    lines = [
        f"Marked invalid: {plural(len(removed), 'item')}. They neither ask nor are ranked, and their pairs "
        f"do not count. By the answers, {plural(len(others), 'more item')} may be invalid and stayed in. "
        "`invalid.csv` lists all of them."
    ]
    for title, part in (("Removed:", removed), ("To be looked at, the worst first:", others)):
        if part:
            cells = [[one[name] for name in ("kind", "id", "text", "why")] for one in part[:SHOWN]]
            lines += [title, table(["kind", "id", "text", "why"], cells, labels=4)]
    return "\n\n".join(lines)


def conflicts_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return where answers and other sets differ."""
    names = ("both", "set_yes", "answers_yes", "published_yes")
    rows = [(one["set"], *(f"{one[name]:,}" for name in names)) for one in facts.conflicts.counts()]
    heads = ["set", "judged by both", "set yes, answered no", "set no, answered yes", "published as relevant"]
    return table(heads, rows) + "\n\n`conflicts.csv` lists them."
