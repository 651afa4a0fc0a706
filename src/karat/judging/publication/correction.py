"""From answers to a corrected truth: aggregate, merge with what was known, leave out invalid items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark, Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.forms import ADJUDICATOR, DATASET, MACHINE, PERSON, AnswerTable, Form, find, key_of, split_key
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.policies import (
    GRADES,
    POLICIES,
    Merged,
    SourceGrades,
    check_source,
    merge,
    truth_source,
)
from karat.judging.publication.validity import (
    pairs_of_queries,
    valid_fold,
    valid_items,
    valid_pairs,
    valid_queries,
)
from karat.judging.quality import AcceptanceRule, Aggregated

MEASURES = ("R@1", "RP", "mAP@R")
"""The default measures of a corrected truth: ECCV Caption's choice."""
ANSWERS, ORIGINAL = "answers", "original"
GROUPS = {PERSON: "people", MACHINE: "machines", DATASET: "sets", ADJUDICATOR: "adjudicators"}
"""What the kinds of annotators are called in published files."""


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
        The truth of the verdicts alone, before they were merged with anything.
    verdicts
        One for each pair that was judged, hidden gold left out.
    merged
        The verdicts with the original positives and other judged sets.
    who, who_names
        For each verdict, who answered, as an index into the names: "people", "machines", …
    original
        The name of the truth with the original positives.
    policies
        Per source, what counts where it and the annotators differ.
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
        """For each published verdict, who answered: pairs of invalid items are left out."""
        verdicts = key_of(self.verdicts.image, self.verdicts.caption)
        return self.who[find(verdicts, self.merged.sources[0].key)]

    def __repr__(self) -> str:
        return f"Correction({self.truth.name!r} of {self.benchmark.name!r}: {self.truth.judgments})"


def correct(
    evidence: Evidence,
    *,
    name: str = "corrected",
    original: str | None = None,
    original_policy: str = "union",
    others: Sequence[str | Truth] = (),
    policy: str = "union",
) -> Correction:
    """Return a benchmark with a corrected truth.

    The truth covers the queries whose rankings were pooled. A pair is judged when annotators judged it,
    when it is an original positive, or when one of `others` judges it; everything else stays unjudged.
    Invalid images and captions are neither queries nor ranked, and their pairs are left out: the truth has
    one fold with all valid items, so that runs made for the older benchmark still fit.

    Parameters
    ----------
    evidence
        The pairs and the answers, which become verdicts by its own acceptance rule.
    name
        Of the new truth; "machine(name)" if only machine judges answered.
    original
        The truth with the original positives; by default the benchmark's first that lists its pairs and was
        not made by a machine.
    original_policy
        "union": original positives stay unless they are marked invalid (ECCV Caption). "people": they are
        rejected where the annotators say no. "majority": they count as one more vote.
    others
        Further judged sets, names or truths, each treated as one more annotator.
    policy
        The policy of these; as `original_policy`.
    """
    benchmark = evidence.benchmark
    first, *further = judged_sets(benchmark, original, original_policy, others, policy)
    sets = [
        truth_source(first, ORIGINAL, original_policy, positives=True),
        *(truth_source(truth, truth.name, policy) for truth in further),
    ]
    valid = valid_items(benchmark, evidence.marked)
    queries = valid_queries(evidence, valid)
    rule = evidence.acceptance or AcceptanceRule()
    verdicts = rule.verdicts(evidence.counted, evidence.form, evidence.left_out)
    asked = evidence.counted.asked
    key = key_of(verdicts.image, verdicts.caption)
    who, who_names = who_answered(asked, key)
    machine = who_names == ("machines",)
    name = f"machine({name})" if machine and not name.startswith("machine") else name
    check_new_truth(benchmark, name)
    kept = valid_pairs(key, valid)
    voted = find(key, key_of(asked.image, asked.caption))
    votes = np.bincount(voted, minlength=len(key))
    yes = np.bincount(voted, evidence.form.grades(asked.rating) > 0, len(key))
    # Where an adjudicator decided, all votes count as the adjudicator's.
    yes = np.where(verdicts.adjudicated, votes * verdicts.relevant, yes)
    scored = [valid_pairs(each.key, valid) & pairs_of_queries(each.key, queries, valid) for each in sets]
    known = [replace(each, key=each.key[rows], grade=each.grade[rows]) for each, rows in zip(sets, scored)]
    uncertain = label_probabilities(verdicts.where(kept), evidence.form)
    answers = SourceGrades(ANSWERS, key[kept], verdicts.grade[kept], **uncertain)
    merged = merge(answers, known, yes[kept], votes[kept])
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
        first.name,
        {source.name: source.policy for source in sets},
    )


def judged_sets(
    benchmark: Benchmark,
    original: str | None,
    original_policy: str,
    others: Sequence[str | Truth],
    policy: str,
) -> list[Truth]:
    """Return the truth with the original positives, then the others, or raise; see `correct`."""
    first = benchmark.truth(original or first_listed(benchmark))
    further = [benchmark.truth(other) if isinstance(other, str) else other for other in others]
    check_source(first, original_policy)
    # Also where there is nothing to merge.
    check_choice(policy, POLICIES, "policy")
    for truth in further:
        check_source(truth, policy)
    return [first, *further]


def check_new_truth(benchmark: Benchmark, name: str) -> None:
    """Raise where a benchmark already has a truth of this name."""
    if name in benchmark.truths:
        raise InputError(f"the benchmark already has a truth {name!r}", fix="choose another name")


def label_probabilities(verdicts: Aggregated, form: Form) -> dict[str, Any]:
    """Return the probability that each pair is relevant, and the grade that it then has.

    Nothing if the aggregation does not estimate probabilities. A pair with a negative verdict has the grade
    of its most probable relevant rating, which is what a positive verdict would have given it.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> from karat.judging import aggregate
    >>> form = load_form("pair")
    >>> answers = make_answers([0, 0, 1, 1], [7, 7, 7, 7], [0, 1, 0, 1], [4, 4, 1, 3], ("ann", "bob"))
    >>> label_probabilities(aggregate(answers, form, "dawid-skene"), form)["grade_if_relevant"].tolist()
    [1.0, 0.5]
    >>> label_probabilities(aggregate(answers, form, "majority"), form)
    {}
    """
    if not verdicts.probabilistic:
        return {}
    grades = form.grades(verdicts.ratings)
    likeliest = np.where(grades > 0, verdicts.posterior, -1.0).argmax(axis=1)
    grade = np.where(verdicts.relevant, verdicts.grade, grades[likeliest])
    return {"probability": verdicts.relevance, "grade_if_relevant": np.where(grade > 0, grade, np.nan)}


def first_listed(benchmark: Benchmark) -> str:
    """Return the name of the first truth that lists its pairs and was not made by a machine."""
    for name, truth in benchmark.truths.items():
        if truth.judgments is not None and not truth.machine:
            return name
    raise InputError(
        f"no truth of {benchmark.name!r} lists pairs that people labelled", fix="name one with --original"
    )


def who_answered(answers: AnswerTable, key: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return, for each pair, which groups answered about it, as an index into the names returned with it.

    Parameters
    ----------
    answers
        The answers.
    key
        The pairs, as sorted numbers.

    Examples
    --------
    >>> from karat.forms import make_answers
    >>> kinds = (PERSON, MACHINE)
    >>> answers = make_answers([0, 0, 1], [0, 0, 1], [0, 1, 0], [4, 4, 1], ("ann", "vlm"), kinds=kinds)
    >>> who_answered(answers, key_of(np.array([0, 1]), np.array([0, 1])))
    (array([1, 0]), ('people', 'people and machines'))
    """
    place = find(key, key_of(answers.image, answers.caption))
    kind = np.array([list(GROUPS).index(kind) for kind in answers.kinds], np.int64)
    mask = np.zeros(len(key), np.int64)
    for number in range(len(GROUPS)):
        mask[place[(kind[answers.annotator] == number) & (place >= 0)]] |= 1 << number
    masks, who = np.unique(mask, return_inverse=True)
    names = [[name for k, name in enumerate(GROUPS.values()) if bits >> k & 1] for bits in masks.tolist()]
    return who, tuple(" and ".join(group) or "nobody" for group in names)


def describe(evidence: Evidence, verdicts: Aggregated, who: np.ndarray, names: tuple[str, ...]) -> str:
    """Return one line that describes the truth."""
    pairs, models = plural(len(verdicts), "judged pair"), plural(len(evidence.pool.systems), "model")
    counts = np.bincount(who, minlength=len(names)).tolist()
    judges = [name.replace("machines", "machine judges") for name in names]
    by = ", ".join(f"{count:,} by {name}" for count, name in zip(counts, judges))
    return (
        f"corrected labels: {pairs} from the top {evidence.pool.top} of {models} ({by}), "
        f"aggregated by {verdicts.method}"
    )
