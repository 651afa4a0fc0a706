"""Other judged sets as one more annotator: what is relevant when people and sets are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice
from karat.benchmarks import Judgments, Provenance, Share, Truth
from karat.errors import InputError
from karat.judging.pools import distinct, find, keys_of_truth, lookup, split_key

POLICIES = ("union", "people", "majority")
"""Who is right where a set and people differ: whoever says yes, people, or most of those who answered."""
GRADES = "grade, 0 not relevant, 1 fully relevant"


@dataclass(frozen=True, eq=False)
class Said:
    """What one source says: pairs sorted by their keys, each once, with a grade.

    Parameters
    ----------
    name
        Of the source.
    key, grade
        The pairs, as numbers, and what the source says of them: 0 is no, above 0 is yes.
    policy
        What happens where people differ; nothing for people themselves.
    everything
        Whether the source says no to all pairs that it does not list.
    """

    name: str
    key: np.ndarray
    grade: np.ndarray
    policy: str = "union"
    everything: bool = False

    def of(self, key: np.ndarray) -> np.ndarray:
        """Return the grade of each pair, NaN where the source says nothing."""
        return lookup(self.key, self.grade, key, 0.0 if self.everything else np.nan)


def said_by(truth: Truth, name: str, policy: str = "union", positives: bool = False) -> Said:
    """Return what a judged set says.

    Parameters
    ----------
    truth
        The set; a rule lists no pairs and cannot be merged.
    name
        What its judgments are called.
    policy
        "union": one yes suffices (ECCV Caption §3.3). "people": the set counts only where people did not
        answer. "majority": every person's answer and every such set is a vote; people decide ties.
    positives
        Leave out what the set says no to.
    """
    if truth.judgments is None:
        raise InputError(
            f"truth {truth.name!r} is a rule", fix="only truths that list their pairs are merged"
        )
    chosen = check_choice(policy, POLICIES, "policy")
    return Said(name, *keys_of_truth(truth, positives), chosen, truth.complete and not positives)


@dataclass(frozen=True, eq=False)
class Merged:
    """What people and sets say together.

    Parameters
    ----------
    key
        The judged pairs, as sorted numbers.
    grade
        The outcome.
    sources
        People first.
    said
        Sources by pairs: what each says, NaN for nothing.
    kept
        Sources by pairs: whose word the outcome is the highest of.
    """

    key: np.ndarray
    grade: np.ndarray
    sources: tuple[Said, ...]
    said: np.ndarray
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

    def words(
        self, who: np.ndarray, names: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
        """Return every word that is kept: its pair's row, its source, its grade; and the sources' names.

        Parameters
        ----------
        who, names
            Of each of the people's pairs, whose verdict it is, as an index into `names`.
        """
        row, source = np.nonzero(self.kept.T)
        first = source == 0
        number = source + len(names) - 1
        number[first] = who[find(self.sources[0].key, self.key[row[first]])]
        return row, number, self.said[source, row], [*names, *(one.name for one in self.sources[1:])]

    def judgments(self, who: np.ndarray, names: Sequence[str]) -> Judgments:
        """Return the table behind a truth: every word that is kept, its grade as the rating."""
        row, source, grade, called = self.words(who, names)
        made = [Provenance(name, GRADES, Share(top=1)) for name in called]
        return Judgments(self.image[row], self.caption[row], rating=grade, source=source, sources=made)


def merge(people: Said, sets: Sequence[Said], yes: np.ndarray, answers: np.ndarray) -> Merged:
    """Put people and other judged sets together.

    Parameters
    ----------
    people
        Their verdicts.
    sets
        Other judged sets, each with its policy.
    yes, answers
        Of each of the people's pairs, how many answers say yes, and how many there are: the votes.

    Examples
    --------
    People say no to pair 0 and yes to pair 1; a set says yes to pairs 0 and 2:

    >>> people = Said("people", np.array([0, 1]), np.array([0.0, 0.5]))
    >>> for policy in POLICIES:
    ...     cxc = Said("cxc", np.array([0, 2]), np.ones(2), policy)
    ...     print(policy, merge(people, [cxc], np.array([1, 3]), np.array([3, 3])).grade.tolist())
    union [1.0, 0.5, 1.0]
    people [0.0, 0.5, 1.0]
    majority [0.0, 0.5, 1.0]
    """
    names = [one.name for one in (people, *sets)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two sources are called {twice!r}", fix="rename one")
    key = distinct(np.concatenate([people.key, *(one.key for one in sets)]))
    said = np.stack([one.of(key) for one in (people, *sets)])
    kept = ~np.isnan(said)
    asked = kept[0].copy()
    for row, one in enumerate(sets, start=1):
        if one.policy == "people":
            kept[row] &= ~asked
    vote(kept, said, key, people, [one.policy == "majority" for one in sets], yes, answers)
    grade = np.where(kept, said, -1.0).max(axis=0, initial=-1.0)
    return Merged(key, grade, (people, *sets), said, kept)


def vote(
    kept: np.ndarray,
    said: np.ndarray,
    key: np.ndarray,
    people: Said,
    voting: Sequence[bool],
    yes: np.ndarray,
    answers: np.ndarray,
) -> None:
    """Where people and voting sets differ, keep only those who say no if most votes do; changes `kept`.

    A tie goes to the people's verdict, and among sets alone to yes. People's single answers count only where
    a set differs from their verdict: elsewhere the verdict stands.
    """
    rows = np.r_[0, 1 + np.flatnonzero(voting)]
    if len(rows) == 1:
        return
    for_yes, for_no = (kept[rows] & side for side in (said[rows] > 0, said[rows] == 0))
    differ = for_yes.any(axis=0) & for_no.any(axis=0)
    good = lookup(people.key, yes.astype(np.float64), key, 0.0) + for_yes[1:].sum(axis=0)
    bad = lookup(people.key, (answers - yes).astype(np.float64), key, 0.0) + for_no[1:].sum(axis=0)
    against = differ & ((good < bad) | ((good == bad) & for_no[0]))
    kept[rows] &= ~(against & (said[rows] > 0))
