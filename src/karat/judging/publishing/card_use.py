"""The parts of a data card for whoever uses the truth: bias, limits, how to load it."""

from __future__ import annotations

import json

from karat._util import plural
from karat.judging.publishing.card_labels import FOUND
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.markdown import bullets, code, plain, table

FILES = [
    ("benchmark.json and its tables", "the benchmark with all truths, as karat.load_benchmark reads it"),
    ("answers.parquet", "every answer, also those that do not count"),
    ("pairs.parquet", "every pair: the verdict, who suggested it at which rank, whose word is published"),
    ("qrels-i2t.trec, qrels-t2i.trec", "the judgments for other tools, unless an id has a blank in it"),
    ("conflicts.csv, invalid.csv", "as above"),
    ("karat-judging.json", "how it was made, as data, with a fingerprint of every file"),
]


def bias_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return what the choice of systems does to scores."""
    systems = ", ".join(plain(one) for one in evidence.pool.systems) or "none"
    return (
        f"The systems that suggested the pairs ({systems}) had their own top {evidence.pool.top} judged; "
        "others had not. On this truth they, and systems like them, look better than they are beside systems "
        "that find other positives. `karat bias` on the project says by how much. Report scores with this "
        "list of systems."
    )


def limits_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return what a user has to know."""
    counts = facts.counts
    lines = [
        "Pairs that no system suggested are unjudged, not irrelevant. `karat evaluate --unjudged bounds` "
        "shows what they could change.",
        "Original positives that nobody was asked about are taken as they were.",
        "The image files are not part of this folder.",
    ]
    if counts["unanswered_pairs"]:
        lines.append(
            f"No answer counts for {plural(counts['unanswered_pairs'], 'pooled pair')}: unjudged, too."
        )
    lines += [
        f"Queries without any positive, which are not scored ({FOUND[direction]}): {n:,}."
        for direction, n in counts["queries_without_positive"].items()
        if n
    ]
    return bullets(lines)


def use_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return how to load and score, and what the files are."""
    name = json.dumps(found.truth.name, ensure_ascii=False)
    python = (
        'import karat\n\nbench = karat.load_benchmark("this-folder")\n'
        f'print(karat.evaluate("run.npy", bench, truth={name}))'
    )
    shell = "karat evaluate run.npy --benchmark this-folder/"
    return "\n\n".join([code(shell), code(python, "python"), table(["file", "what"], FILES, labels=2)])
