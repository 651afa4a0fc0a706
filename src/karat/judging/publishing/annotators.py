"""Who answered: people, machines or other judged sets, and the names under which people are published."""

from __future__ import annotations

import numpy as np

from karat.judging.checking import ADJUDICATOR, DATASET, MACHINE, PERSON, AnswerTable
from karat.judging.pools import find, key_of

GROUPS = {PERSON: "people", MACHINE: "machines", DATASET: "sets", ADJUDICATOR: "adjudicators"}


def who_answered(answers: AnswerTable, key: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return, of each pair, which groups answered about it, as an index into the names returned with it.

    Parameters
    ----------
    answers
        What was answered.
    key
        The pairs, as sorted numbers.

    Examples
    --------
    >>> from karat.judging import make_answers
    >>> kinds = (PERSON, MACHINE)
    >>> said = make_answers([0, 0, 1], [0, 0, 1], [0, 1, 0], [4, 4, 1], ("ann", "vlm"), kinds=kinds)
    >>> who_answered(said, key_of(np.array([0, 1]), np.array([0, 1])))
    (array([1, 0]), ('people', 'people and machines'))
    """
    place = find(key, key_of(answers.image, answers.caption))
    kind = np.array([list(GROUPS).index(kind) for kind in answers.kinds], np.int64)
    mask = np.zeros(len(key), np.int64)
    for number in range(len(GROUPS)):
        mask[place[(kind[answers.worker] == number) & (place >= 0)]] |= 1 << number
    masks, who = np.unique(mask, return_inverse=True)
    names = [[name for k, name in enumerate(GROUPS.values()) if one >> k & 1] for one in masks.tolist()]
    return who, tuple(" and ".join(each) or "nobody" for each in names)


def published_names(answers: AnswerTable, real: bool = False) -> list[str]:
    """Return the names of those who answered as they are published: people as w001, w002, …

    Machines and judged sets keep their names, which say where answers come from.

    Parameters
    ----------
    answers
        Whose workers.
    real
        Publish people's own names.

    Examples
    --------
    >>> from karat.judging import make_answers
    >>> said = make_answers([0], [0], [0], [4], ("Ann Lee", "vlm"), kinds=(PERSON, MACHINE))
    >>> published_names(said)
    ['w001', 'vlm']
    """
    if real:
        return list(answers.workers)
    kept = {name for name, kind in zip(answers.workers, answers.kinds) if kind != PERSON}
    width = max(3, len(str(len(answers.workers))))
    prefix = "w"
    # A machine may be called w001: then no person is.
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in kept):
        prefix += "w"
    names, people = [], 0
    for name, kind in zip(answers.workers, answers.kinds):
        people += kind == PERSON
        names.append(f"{prefix}{people:0{width}d}" if kind == PERSON else name)
    return names
