"""From answers to a corrected truth: aggregate, merge with what was known, leave out what is invalid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.judging.checking import Aggregated, aggregate
from karat.judging.pools import distinct, find, key_of, split_key
from karat.judging.publishing.annotators import who_answered
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.merging import GRADES, Merged, Said, merge, said_by
from karat.judging.publishing.validity import pairs_inside, touching, valid_fold, valid_items, valid_queries
from karat.judging.tasks import UNKNOWN

MEASURES = ("R@1", "RP", "mAP@R")
"""What is computed on a corrected truth when nothing is asked for: ECCV Caption's choice."""
ANSWERS, ORIGINAL = "answers", "original"


@dataclass(frozen=True, eq=False)
class Correction:
    """A benchmark with a corrected truth, and what it was made of.

    Parameters
    ----------
    benchmark
        The older truths and, last, the corrected one.
    truth
        The corrected truth.
    answered
        What was answered alone, before it was merged with anything.
    verdicts
        One for each pair that somebody was asked about, hidden known pairs left out.
    merged
        The verdicts with the original positives and other judged sets.
    who, who_names
        Of each verdict, who answered, as an index into the names: "people", "machines", …
    original
        The name of the truth whose positives are the original ones.
    policies
        Per source, who is right where it and people differ.
    """

    benchmark: Benchmark
    truth: Truth
    answered: Truth
    verdicts: Aggregated
    merged: Merged
    who: np.ndarray
    who_names: tuple[str, ...]
    original: str
    policies: Mapping[str, str]

    @property
    def published_who(self) -> np.ndarray:
        """Of each verdict that is published, who answered: pairs of invalid items are left out."""
        verdicts = key_of(self.verdicts.image, self.verdicts.caption)
        return self.who[find(verdicts, self.merged.sources[0].key)]

    def __repr__(self) -> str:
        return f"Correction({self.truth.name!r} of {self.benchmark.name!r}: {self.truth.judgments})"


def correct(
    evidence: Evidence,
    *,
    name: str = "corrected",
    aggregation: str = "dawid-skene",
    settings: Mapping[str, Any] | None = None,
    original: str | None = None,
    original_policy: str = "union",
    others: Sequence[str | Truth] = (),
    policy: str = "union",
) -> Correction:
    """Return a benchmark with a corrected truth.

    The truth covers the queries whose rankings were pooled. A pair is judged when people judged it, when it
    is an original positive, or when one of `others` judges it; everything else stays unjudged. Pairs of
    invalid images and captions are left out, and these neither ask nor are ranked: the truth has one fold
    with all the others, so that runs made for the older benchmark still fit.

    Parameters
    ----------
    evidence
        What was asked and answered.
    name
        Of the new truth. Where machines alone answered, "machine(name)".
    aggregation, settings
        How several answers become one; see `karat.judging.checking.verdicts`.
    original
        The truth whose positives are the original ones; when left out, the benchmark's first that lists its
        pairs and that no machine made.
    original_policy
        "union": original positives stay unless they are marked invalid (ECCV Caption). "people": they go
        where people say no. "majority": they are one more vote.
    others
        Further judged sets, names or truths, each read as one more annotator.
    policy
        Of these; as `original_policy`.
    """
    benchmark = evidence.benchmark
    original = original or first_listed(benchmark)
    sets = [said_by(benchmark.truth(original), ORIGINAL, original_policy, positives=True)]
    for other in (benchmark.truth(one) if isinstance(one, str) else one for one in others):
        sets.append(said_by(other, other.name, policy))
    valid = valid_items(benchmark, evidence.marked)
    queries = valid_queries(evidence, valid)
    asked = evidence.counted.asked
    if not len(asked):
        raise InputError("no answer counts yet", fix="import answers, or approve them, first")
    verdicts = verdicts_of(evidence, aggregation, settings or {})
    key = key_of(verdicts.image, verdicts.caption)
    who, who_names = who_answered(asked, key)
    machine = who_names == ("machines",)
    name = f"machine({name})" if machine and not name.startswith("machine") else name
    if name in benchmark.truths:
        raise InputError(f"the benchmark has a truth {name!r} already", fix="choose another name")
    kept = pairs_inside(key, valid)
    voted = find(key, key_of(asked.image, asked.caption))
    votes = np.bincount(voted, minlength=len(key))
    yes = np.bincount(voted, evidence.form.grades(asked.rating) > 0, len(key))
    # Where somebody decided, all votes are that person's.
    yes = np.where(verdicts.adjudicated, votes * verdicts.relevant, yes)
    known = [restrict(one, pairs_inside(one.key, valid) & touching(one.key, queries, valid)) for one in sets]
    merged = merge(Said(ANSWERS, key[kept], verdicts.grade[kept]), known, yes[kept], votes[kept])
    answered = Judgments(
        *split_key(key[kept]),
        rating=verdicts.grade[kept],
        sources=[Provenance(ANSWERS, GRADES, Share(top=1))],
    )
    folds = valid_fold(benchmark, valid)
    truth = Truth(
        name,
        merged.judgments(who[kept], who_names),
        queries,
        folds,
        about=describe(evidence, verdicts, who, who_names),
        machine=machine,
    )
    made = replace(
        benchmark,
        name=f"{benchmark.name}-{name}",
        truths={**benchmark.truths, name: truth},
        defaults={**benchmark.defaults, name: MEASURES},
    )
    return Correction(
        made,
        truth,
        Truth(ANSWERS, answered, queries, folds),
        verdicts,
        merged,
        who,
        who_names,
        original,
        {one.name: one.policy for one in sets},
    )


def verdicts_of(evidence: Evidence, method: str, settings: Mapping[str, Any]) -> Aggregated:
    """Return the verdicts on pairs that somebody was asked about; from known pairs is only learned."""
    counted = evidence.counted
    found = aggregate(counted, evidence.form, method, **settings)
    asked = distinct(
        key_of(*(column[counted.gold == UNKNOWN] for column in (counted.image, counted.caption)))
    )
    # A pair may be pooled, and hidden gold in another task.
    return found.where(find(asked, key_of(found.image, found.caption)) >= 0)


def first_listed(benchmark: Benchmark) -> str:
    """Return the name of the first truth that lists its pairs and that no machine made."""
    names = [one.name for one in benchmark.truths.values() if one.judgments is not None and not one.machine]
    if not names:
        raise InputError(
            f"no truth of {benchmark.name!r} lists pairs that people made", fix="name one with --original"
        )
    return names[0]


def restrict(said: Said, rows: np.ndarray) -> Said:
    """Return only some of what a source says."""
    return replace(said, key=said.key[rows], grade=said.grade[rows])


def describe(evidence: Evidence, verdicts: Aggregated, who: np.ndarray, names: tuple[str, ...]) -> str:
    """Return a line on what the truth is."""
    pool = f"{plural(len(evidence.pool.systems), 'system')}' top {evidence.pool.top}"
    counts = np.bincount(who, minlength=len(names)).tolist()
    by = ", ".join(f"{count:,} by {name}" for count, name in zip(counts, names))
    return (
        f"corrected labels: {plural(len(verdicts), 'pair')} of {pool} judged ({by}), "
        f"combined by {verdicts.method}"
    )
