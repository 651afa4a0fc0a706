"""Captions and images that may be no good: found in the answers, listed for somebody to decide.

ECCV Caption removed 18 captions that describe nothing ("I am unable to see an image above"), 14 that people
found wrong, and one image (appendix C.1). Nothing is removed here: only what somebody marked is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Truth
from karat.judging.checking import AnswerTable
from karat.judging.forms import Form
from karat.judging.pools import find, key_of, keys_of_truth, lookup, split_key

KINDS = ("caption", "image")
LEAST_PAIRS = 3
"""How many pairs of an item must be judged before "nothing fits it" says anything."""


@dataclass(frozen=True)
class Candidate:
    """An item that may be invalid.

    Parameters
    ----------
    kind, index
        "caption" or "image", and which one.
    own, own_worst
        How many answers its original pairs got, and how many of these were the lowest.
    sets_no
        How many of its original pairs another judged set says no to.
    pairs, pairs_yes
        How many of its pairs people judged, and how many of these are relevant.
    """

    kind: str
    index: int
    own: int
    own_worst: int
    sets_no: int
    pairs: int
    pairs_yes: int

    @property
    def why(self) -> str:
        """What speaks against it, in words."""
        reasons = []
        if self.own_worst:
            reasons.append(f"{self.own_worst} of {self.own} answers to its original pairs are the lowest")
        if self.sets_no:
            reasons.append(f"another judged set says no to {self.sets_no} of its original pairs")
        if self.pairs >= LEAST_PAIRS and not self.pairs_yes:
            reasons.append(f"none of its {self.pairs} judged pairs is relevant")
        return "; ".join(reasons)


def invalid_candidates(
    original: Truth,
    answers: AnswerTable,
    form: Form,
    sets: Sequence[Truth] = (),
    share: float = 0.5,
) -> list[Candidate]:
    """Return captions and images that may be invalid, the most suspicious first.

    A caption is listed when at least `share` of the answers to its original pairs, hidden known ones
    included, are the lowest that the form has ("100% no"); when another judged set says no to all of its
    original pairs that the set judges; or when people judged three or more of its pairs and found none
    relevant. An image likewise, with all of its original pairs together.

    Parameters
    ----------
    original
        Which pairs are the original ones.
    answers, form
        What people answered, and on which scale.
    sets
        Other judged sets.
    share
        How much of the answers must be the lowest.

    Examples
    --------
    >>> from karat.benchmarks import Judgments, Provenance
    >>> from karat.judging import load_form, make_answers
    >>> own = Judgments([0, 1], [0, 1], sources=[Provenance("original")])
    >>> original = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(2)})
    >>> three = make_answers([0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 4], ("ann", "bob"))
    >>> for one in invalid_candidates(original, three, load_form("pair")):
    ...     print(one.kind, one.index, one.why)
    caption 0 2 of 2 answers to its original pairs are the lowest
    image 0 2 of 2 answers to its original pairs are the lowest
    """
    own_key, _ = keys_of_truth(original, positives=True)
    asked = key_of(answers.image, answers.caption)
    worst = answers.rating == form.ratings[0]
    about_own = find(own_key, asked) >= 0
    judged, pair = np.unique(asked, return_inverse=True)
    yes = np.bincount(pair, form.grades(answers.rating) > 0, len(judged)) * 2 >= np.bincount(pair)
    said_no, said = np.zeros(len(own_key)), np.zeros(len(own_key))
    for one in sets:
        theirs = lookup(*keys_of_truth(one), own_key, 0.0 if one.complete else np.nan)
        said_no += theirs == 0
        said += ~np.isnan(theirs)
    counted = {
        "own": (asked[about_own], None),
        "own_worst": (asked[about_own & worst], None),
        "sets_no": (own_key, said_no),
        "pairs": (judged, None),
        "pairs_yes": (judged, yes),
        "sets": (own_key, said),
    }
    out = []
    for side, kind in ((1, "caption"), (0, "image")):
        size = 1 + max(int(split_key(keys)[side].max(initial=-1)) for keys in (own_key, asked))
        table = {
            name: np.bincount(split_key(keys)[side], weights, size).astype(np.int64)
            for name, (keys, weights) in counted.items()
        }
        judged_by_sets = table.pop("sets")
        bad = (table["own_worst"] > 0) & (table["own_worst"] >= share * table["own"])
        bad |= (table["sets_no"] > 0) & (table["sets_no"] == judged_by_sets)
        bad |= (table["pairs"] >= LEAST_PAIRS) & (table["pairs_yes"] == 0)
        rows = np.flatnonzero(bad)
        columns = [column[rows].tolist() for column in table.values()]
        out += [Candidate(kind, index, *values) for index, *values in zip(rows.tolist(), *columns)]
    return sorted(
        out, key=lambda one: (-one.own_worst - one.sets_no, one.pairs_yes, -one.pairs, one.kind, one.index)
    )
