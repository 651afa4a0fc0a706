"""What the numbers of a bias report leave out, in sentences."""

from __future__ import annotations

from karat._util import plural
from karat.benchmarks import Pairs
from karat.judging.bias.subsets import SuggestedLabels
from karat.judging.pools import Pool


def bias_notes(
    labels: SuggestedLabels,
    judged: Pairs,
    pool: Pool,
    sampled: int | None,
    alone: bool,
    truth: str | None,
) -> list[str]:
    """Say what a reader should know.

    Parameters
    ----------
    labels, judged, pool
        What was counted, judged and pooled.
    sampled
        How many subsets of each size were drawn; None when all were taken.
    alone
        Whether there were no runs but the pool's own places.
    truth
        The complete truth that was compared with, if any.
    """
    notes = []
    asked = int(labels.by.any(axis=1).sum())
    if asked < len(pool):
        unjudged = f"{len(pool) - asked:,} of {plural(len(pool), 'pooled pair')} have no judgment"
        notes.append(f"{unjudged} or no system that suggested them: they count as misses")
    if len(judged) > asked:
        strange = plural(len(judged) - asked, "judged pair")
        notes.append(f"{strange} that no system suggested (hidden gold, fillers) belong to no subset")
    if pool.judged or pool.filtered:
        left = plural(pool.judged + pool.filtered, "suggestion")
        notes.append(f"{left} were left out of the pool (judged before, or filtered) and count as misses, "
                     "unless they are among the original positives")  # fmt: skip
    if sampled is not None:
        most = max(sampled, len(pool.systems))
        notes.append(f"subsets are a random sample of at most {most} of each size, so minima may be missed")
    if alone:
        notes.append(f"without the runs nothing below place {pool.top} is known")
    if truth is not None and ((judged.grade > 0) & (judged.grade < 1)).any():
        notes.append(
            f"people gave part grades, {truth} knows yes and no: R(rel=1)@1 and RP(rel=1) treat both alike"
        )
    return notes
