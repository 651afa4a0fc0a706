"""Forms and answers for tests of quality: annotators with known confusion matrices."""

import numpy as np
from hypothesis import strategies as st

from karat.forms import GOLD_NO, GOLD_YES, NOT_GOLD, Choice, Form
from karat.forms.answer_table import PER_ANSWER, AnswerTable, make_answers


def scale(*grades, layout="pair", codes=None):
    """A form with the ratings 1, 2, … and these grades."""
    codes = codes or [f"r{k}" for k in range(1, len(grades) + 1)]
    answers = [Choice(code, code, rating=k, grade=g) for k, (code, g) in enumerate(zip(codes, grades), 1)]
    return Form("test", "", "", tuple(answers), layout=layout)


FOUR = scale(0, 0, 0.5, 1, codes=["no", "mostly_no", "partially", "yes"])
YES_NO = scale(0, 1, codes=["no", "yes"])
GRID = scale(0, 1, layout="grid", codes=["no", "yes"])

NO, YES, ASKED = GOLD_NO, GOLD_YES, NOT_GOLD


def submitted(rows):
    """A table from rows of (assignment, annotator, image, caption, rating, gold)."""
    return table(
        [
            (image, caption, annotator, rating, gold, assignment)
            for assignment, annotator, image, caption, rating, gold in rows
        ]
    )


def table(rows, annotators=None, **more):
    """A table from rows of (image, caption, annotator, rating[, gold[, assignment]])."""
    columns = list(zip(*rows)) if rows else [()] * 4
    names = ("gold", "assignment")
    more |= {name: np.array(column) for name, column in zip(names, columns[4:])}
    count = max(columns[2], default=-1) + 1 if annotators is None else annotators
    return make_answers(*map(np.array, columns[:4]), tuple(f"w{k}" for k in range(count)), **more)


CHECKED = submitted([
    (10, 0, 0, 0, 4, YES), (10, 0, 1, 0, 2, NO), (10, 0, 2, 0, 3, ASKED),
    (11, 1, 0, 0, 1, YES), (11, 1, 1, 0, 1, NO), (11, 1, 2, 0, 1, ASKED),
    (12, 1, 0, 1, 3, YES), (12, 1, 1, 1, 3, NO), (12, 1, 2, 1, 1, ASKED),
    (13, 2, 5, 5, 4, ASKED),
])  # fmt: skip
"""Four assignments of three annotators; 10 passes on gold, 11 and 12 do not, 13 has no gold."""


def simulated(confusion, right, per_pair, rng, gold_every=0, annotators=None):
    """Answers of `per_pair` annotators about each pair; with `gold_every`, every n-th pair is gold."""
    pairs, count = len(right), len(confusion)
    annotator = np.concatenate([rng.choice(count, per_pair, replace=False) for _ in range(pairs)])
    pair = np.repeat(np.arange(pairs), per_pair)
    edges = np.cumsum(np.asarray(confusion), axis=2)[annotator, right[pair]]
    code = np.minimum((rng.random(len(pair))[:, None] > edges).sum(axis=1), edges.shape[1] - 1)
    gold = np.full(pairs, NOT_GOLD)
    if gold_every:
        known = np.arange(0, pairs, gold_every)
        gold[known] = np.where(right[known] >= 2, GOLD_YES, GOLD_NO)
    names = annotators or tuple(f"w{k}" for k in range(count))
    return make_answers(pair // 5, pair, annotator, code + 1, names, gold=gold[pair])


@st.composite
def answer_tables(draw, ratings=4, annotators=5, pairs=6, gold=False):
    """Any answers of a few annotators about a few pairs; no annotator answers a pair twice."""
    known = draw(
        st.lists(st.sampled_from([-1, 0, 1]) if gold else st.just(-1), min_size=pairs, max_size=pairs)
    )
    cells = st.tuples(st.integers(0, pairs - 1), st.integers(0, annotators - 1))
    chosen = draw(st.lists(cells, min_size=1, max_size=25, unique=True))
    said = draw(st.lists(st.integers(1, ratings), min_size=len(chosen), max_size=len(chosen)))
    rows = [(pair // 3, pair % 3, who, rating, known[pair]) for (pair, who), rating in zip(chosen, said)]
    return table(rows, annotators)


def shuffled(answers: AnswerTable, rng):
    """The same rows in another order."""
    order = rng.permutation(len(answers))
    columns = {name: getattr(answers, name)[order] for name in PER_ANSWER}
    image, caption, annotator, rating = (columns.pop(name) for name in PER_ANSWER[:4])
    return make_answers(image, caption, annotator, rating, answers.annotators, **columns)
