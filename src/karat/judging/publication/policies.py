"""Verdicts and other judged sets together: which of them count under a policy, and where they conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.benchmarks import Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.forms import distinct, find, keys_of_truth, lookup, split_key

POLICIES = ("union", "people", "majority")
"""What counts where a set and the annotators differ: any yes, the annotators' verdict, or most votes."""
GRADES = "grade, 0 not relevant, 1 fully relevant"


@dataclass(frozen=True, eq=False)
class SourceGrades:
    """The grades that one source gives: pairs sorted by their keys, each once.

    Parameters
    ----------
    name
        Of the source.
    key, grade
        The pairs, as numbers, and their grades: 0 is no, above 0 is yes.
    policy
        What counts where the annotators differ; ignored for the annotators themselves.
    everything
        Whether the source says no to all pairs that it does not list.
    probability, grade_if_relevant
        Of the annotators' verdicts: the probability that each pair is relevant, and the grade that it then
        has, as in `karat.benchmarks.Judgments`. None where the grades are certain; those of sets always are.
    """

    name: str
    key: np.ndarray
    grade: np.ndarray
    policy: str = "union"
    everything: bool = False
    probability: np.ndarray | None = None
    grade_if_relevant: np.ndarray | None = None

    def of(self, key: np.ndarray) -> np.ndarray:
        """Return the grade of each pair, NaN where the source has none."""
        return lookup(self.key, self.grade, key, 0.0 if self.everything else np.nan)


def truth_source(truth: Truth, name: str, policy: str = "union", positives: bool = False) -> SourceGrades:
    """Return a judged set as a source.

    Parameters
    ----------
    truth
        The set; a rule lists no pairs and cannot be merged.
    name
        What its judgments are called.
    policy
        "union": one yes suffices (ECCV Caption §3.3). "people": the set counts only where no annotator
        answered. "majority": every answer and every such set is a vote; the annotators' verdict decides ties.
    positives
        Leave out the pairs that the set says no to.
    """
    checked = check_source(truth, policy)
    return SourceGrades(name, *keys_of_truth(truth, positives), checked, truth.complete and not positives)


def check_source(truth: Truth, policy: str) -> str:
    """Return the policy of a judged set, or raise where there is no such policy or the set is a rule."""
    if truth.judgments is None:
        raise InputError(
            f"truth {truth.name!r} is a rule", fix="only truths that list their pairs can be merged"
        )
    return check_choice(policy, POLICIES, "policy")


@dataclass(frozen=True, eq=False)
class Merged:
    """The verdicts and the judged sets together.

    Parameters
    ----------
    key
        The judged pairs, as sorted numbers.
    grade
        The outcome.
    sources
        The annotators first.
    by_source
        Sources by pairs: the grade that each source gives, NaN for none.
    kept
        Sources by pairs: which grades count. The outcome is the highest of them.
    """

    key: np.ndarray
    grade: np.ndarray
    sources: tuple[SourceGrades, ...]
    by_source: np.ndarray
    kept: np.ndarray

    def __len__(self) -> int:
        return len(self.key)

    @property
    def image(self) -> np.ndarray:
        """The image of each pair."""
        return split_key(self.key)[0]

    @property
    def caption(self) -> np.ndarray:
        """The caption of each pair."""
        return split_key(self.key)[1]

    def kept_grades(
        self, who: np.ndarray, names: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
        """Return every grade that counts: its pair's row, its source, the grade; and the sources' names.

        Parameters
        ----------
        who, names
            For each pair with a verdict, who gave it, as an index into `names`.
        """
        row, source = np.nonzero(self.kept.T)
        first = source == 0
        number = source + len(names) - 1
        number[first] = who[find(self.sources[0].key, self.key[row[first]])]
        return row, number, self.by_source[source, row], [*names, *(part.name for part in self.sources[1:])]

    def judgments(self, who: np.ndarray, names: Sequence[str]) -> Judgments:
        """Return the table behind a truth: every grade that counts, as the rating."""
        row, source, grade, source_names = self.kept_grades(who, names)
        sources = [Provenance(name, GRADES, Share(top=1)) for name in source_names]
        verdicts, by_verdict = self.sources[0], source < len(names)

        def of_verdict(column: np.ndarray | None) -> np.ndarray | None:
            if column is None:
                return None
            return np.where(by_verdict, lookup(verdicts.key, column, self.key[row], np.nan), np.nan)

        return Judgments(
            self.image[row],
            self.caption[row],
            rating=grade,
            source=source,
            sources=sources,
            probability=of_verdict(verdicts.probability),
            grade_if_relevant=of_verdict(verdicts.grade_if_relevant),
        )


def merge(
    verdicts: SourceGrades, sets: Sequence[SourceGrades], yes: np.ndarray, answers: np.ndarray
) -> Merged:
    """Merge the annotators' verdicts with other judged sets.

    Parameters
    ----------
    verdicts
        The annotators' verdicts.
    sets
        Other judged sets, each with its policy.
    yes, answers
        For each verdict, how many answers say yes, and how many there are: the votes.

    Examples
    --------
    The annotators say no to pair 0 and yes to pair 1; a set says yes to pairs 0 and 2:

    >>> verdicts = SourceGrades("answers", np.array([0, 1]), np.array([0.0, 0.5]))
    >>> for policy in POLICIES:
    ...     cxc = SourceGrades("cxc", np.array([0, 2]), np.ones(2), policy)
    ...     print(policy, merge(verdicts, [cxc], np.array([1, 3]), np.array([3, 3])).grade.tolist())
    union [1.0, 0.5, 1.0]
    people [0.0, 0.5, 1.0]
    majority [0.0, 0.5, 1.0]
    """
    sources = (verdicts, *sets)
    names = [source.name for source in sources]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise InputError(f"two sources are called {duplicate!r}", fix="rename one of them")
    key = distinct(np.concatenate([source.key for source in sources]))
    by_source = np.stack([source.of(key) for source in sources])
    kept = ~np.isnan(by_source)
    answered = kept[0].copy()
    for row, source in enumerate(sets, start=1):
        if source.policy == "people":
            kept[row] &= ~answered
    voting = [source.policy == "majority" for source in sets]
    vote(kept, by_source, key, verdicts, voting, yes, answers)
    grade = np.where(kept, by_source, -1.0).max(axis=0, initial=-1.0)
    return Merged(key, grade, sources, by_source, kept)


def vote(
    kept: np.ndarray,
    by_source: np.ndarray,
    key: np.ndarray,
    verdicts: SourceGrades,
    voting: Sequence[bool],
    yes: np.ndarray,
    answers: np.ndarray,
) -> None:
    """Drop every yes where the verdict and the voting sets differ and most votes say no; changes `kept`.

    The verdict decides a tie, and yes wins a tie among sets alone. Single answers count as votes only where
    a set differs from the verdict; elsewhere the verdict counts.
    """
    rows = np.r_[0, 1 + np.flatnonzero(voting)]
    if len(rows) == 1:
        return
    for_yes, for_no = (kept[rows] & side for side in (by_source[rows] > 0, by_source[rows] == 0))
    differ = for_yes.any(axis=0) & for_no.any(axis=0)
    yes_votes = lookup(verdicts.key, yes.astype(np.float64), key, 0.0) + for_yes[1:].sum(axis=0)
    no_votes = lookup(verdicts.key, (answers - yes).astype(np.float64), key, 0.0) + for_no[1:].sum(axis=0)
    rejected = differ & ((yes_votes < no_votes) | ((yes_votes == no_votes) & for_no[0]))
    kept[rows] &= ~(rejected & (by_source[rows] > 0))


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs on which the annotators and a set contradict each other, one row for each pair and set.

    Parameters
    ----------
    key
        The pairs, as numbers.
    source
        The set, as an index into `names`.
    set_grade, answered_grade, published_grade
        The grade that the set gives, that of the verdict, and the published one.
    names
        The sets.
    both
        Per set, how many pairs both judged.
    """

    key: np.ndarray
    source: np.ndarray
    set_grade: np.ndarray
    answered_grade: np.ndarray
    published_grade: np.ndarray
    names: tuple[str, ...]
    both: np.ndarray

    def __len__(self) -> int:
        return len(self.key)

    def counts(self) -> list[dict[str, int | str]]:
        """Return, per set, how many pairs both judged, and how many conflicts of each kind there are.

        `set_yes` counts pairs that the set calls relevant and the annotators do not; `answers_yes` the
        opposite; `published_yes` how many of all conflicts were published as relevant.
        """
        out: list[dict[str, int | str]] = []
        for number, name in enumerate(self.names):
            rows = self.source == number
            out.append(
                {
                    "set": name,
                    "both": int(self.both[number]),
                    "set_yes": int((rows & (self.set_grade > 0)).sum()),
                    "answers_yes": int((rows & (self.set_grade == 0)).sum()),
                    "published_yes": int((rows & (self.published_grade > 0)).sum()),
                }
            )
        return out


def find_conflicts(merged: Merged) -> Conflicts:
    """Return where the annotators and a set contradict each other.

    Examples
    --------
    >>> verdicts = SourceGrades("answers", np.array([0, 1, 2]), np.array([0.0, 0.5, 1.0]))
    >>> cxc = SourceGrades("cxc", np.array([0, 1, 2, 9]), np.array([1.0, 0.0, 1.0, 1.0]))
    >>> find_conflicts(merge(verdicts, [cxc], np.array([0, 2, 3]), np.array([3, 3, 3]))).counts()
    [{'set': 'cxc', 'both': 3, 'set_yes': 1, 'answers_yes': 1, 'published_yes': 2}]
    """
    verdicts, sets = merged.by_source[0], merged.by_source[1:]
    both = ~np.isnan(verdicts) & ~np.isnan(sets)
    source, row = np.nonzero(both & ((verdicts > 0) != (sets > 0)))
    return Conflicts(
        merged.key[row],
        source,
        sets[source, row],
        verdicts[row],
        merged.grade[row],
        tuple(source.name for source in merged.sources[1:]),
        both.sum(axis=1),
    )
