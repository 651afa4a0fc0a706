"""The parts of a data card that say how a truth was made: the pool, the question, the answers."""

from __future__ import annotations

from karat._util import plural
from karat.judging.publishing.correction import ORIGINAL, Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts
from karat.judging.publishing.markdown import bullets, plain, table
from karat.stats import with_interval

POLICY = {
    "union": "one yes suffices",
    "people": "people are right where they answered",
    "majority": "most of those who answered are right, and people decide ties",
}


def making_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return how pairs were chosen, asked about and put together."""
    pool, form, counts = evidence.pool, evidence.form, facts.counts
    settings = ", ".join(f"{name}={value}" for name, value in found.verdicts.settings.items())
    tasks = (
        f"{counts['tasks']:,}, for {counts['overlap']} people each, with {counts['gold_items']:,} known pairs"
    )
    hand_ins = counts["hand_ins"]
    rows: list[tuple[str, str]] = [
        ("systems that suggested pairs", ", ".join(pool.systems) or "none"),
        ("how deep their rankings were read", f"top {pool.top}"),
        ("queries", f"{counts['queries']['i2t']:,} images, {counts['queries']['t2i']:,} captions"),
        ("pairs in the pool", f"{len(pool):,} of {pool.suggestions:,} suggestions"),
        ("left out of it", f"{pool.judged:,} judged before, {pool.filtered:,} by a filter"),
        ("form", f"{form.name}: {form.question}"),
        ("answers and their grades", "; ".join(f"{one.text} ({one.grade:g})" for one in form.answers)),
        ("tasks", tasks if counts["tasks"] else "none"),
        (
            "hand-ins reviewed",
            f"{hand_ins.get('approve', 0):,} approved, {hand_ins.get('reject', 0):,} rejected",
        ),
        ("from answers to verdicts", f"{found.verdicts.method} ({settings})"),
        ("judged pairs", f"{counts['judged_pairs']:,}, {counts['relevant_pairs']:,} of them relevant"),
        ("original positives", f"from {found.original}; {POLICY[found.policies[ORIGINAL]]}"),
    ]
    rows += [(f"merged with {name}", POLICY[how]) for name, how in found.policies.items() if name != ORIGINAL]
    published = f"{counts['published_pairs']:,}, {counts['published_relevant']:,} of them relevant"
    return table(["what", "how"], [*rows, ("published pairs", published)], labels=2)


def answers_part(evidence: Evidence, found: Correction, facts: Facts) -> str:
    """Return how many answers there are, from whom, and how far they agree."""
    counts, agreement = facts.counts, facts.agreement
    total = max(1, sum(counts["by_answer"].values()))
    people = "1 person" if counts["people"] == 1 else f"{counts['people']:,} people"
    lines = [
        f"{plural(counts['answers'], 'answer')}, {counts['answers_used']:,} of them used, from {people}; "
        f"{counts['gold_answers']:,} of these are about known pairs. `answers.parquet` holds every answer.",
        bullets(plain(one) for one in evidence.left_out),
        table(
            ["answer", "times", "share"],
            [(code, f"{n:,}", f"{100 * n / total:.1f}%") for code, n in counts["by_answer"].items()],
        ),
        f"Agreement of people on {plural(agreement.pairs, 'pair')} with two answers or more:",
        table(
            ["coefficient", "with 95% interval"],
            [
                *(
                    (f"Krippendorff's alpha, {scale}", with_interval(one))
                    for scale, one in agreement.alpha.items()
                ),
                (
                    f"Cohen's kappa, mean of {agreement.couples:,} twos of people",
                    with_interval(agreement.kappa),
                ),
            ],
        ),
        machines_part(evidence, facts),
    ]
    return "\n\n".join(line for line in lines if line)


def machines_part(evidence: Evidence, facts: Facts) -> str:
    """Return what machine judges did; nothing where there are none."""
    counts = facts.counts
    if not counts["machines"]:
        return ""
    by = ", ".join(f"{n:,} by {plain(name)}" for name, n in counts["judged_by"].items())
    names = ", ".join(plain(name) for name in counts["machines"])
    compared = bullets(plain(one, 400) for one in evidence.machines)
    return (
        f"**Machine judges gave {plural(counts['machine_answers'], 'answer')}** ({names}). "
        f"Judged pairs: {by}.\n\n" + (compared or "How far they agree with people is not recorded.")
    )
