"""Forms and answers for tests of quality: people with known confusion matrices."""

import numpy as np
from hypothesis import strategies as st

from karat.judging.checking.answers import AnswerTable, make_answers
from karat.judging.forms.form import Choice, Form
from karat.judging.tasks.plan import KNOWN_NO, KNOWN_YES, UNKNOWN


def scale(*grades, layout="pair", codes=None):
    """A form with the ratings 1, 2, … and these grades."""
    codes = codes or [f"r{k}" for k in range(1, len(grades) + 1)]
    answers = [Choice(code, code, rating=k, grade=g) for k, (code, g) in enumerate(zip(codes, grades), 1)]
    return Form("test", "", "", tuple(answers), layout=layout)


FOUR = scale(0, 0, 0.5, 1, codes=["no", "mostly_no", "partially", "yes"])
YES_NO = scale(0, 1, codes=["no", "yes"])
GRID = scale(0, 1, layout="grid", codes=["no", "yes"])


def table(rows, workers=None, **more):
    """A table from rows of (image, caption, worker, rating[, gold[, slot]])."""
    columns = list(zip(*rows)) if rows else [()] * 4
    names = ("gold", "slot")
    more |= {name: np.array(column) for name, column in zip(names, columns[4:])}
    count = max(columns[2], default=-1) + 1 if workers is None else workers
    return make_answers(*map(np.array, columns[:4]), tuple(f"w{k}" for k in range(count)), **more)


def simulated(confusion, right, people_per_pair, rng, gold_every=0, workers=None):
    """Answers of `people_per_pair` people about each pair, and every n-th pair known if asked for."""
    pairs, everyone = len(right), len(confusion)
    worker = np.concatenate([rng.choice(everyone, people_per_pair, replace=False) for _ in range(pairs)])
    pair = np.repeat(np.arange(pairs), people_per_pair)
    edges = np.cumsum(np.asarray(confusion), axis=2)[worker, right[pair]]
    code = np.minimum((rng.random(len(pair))[:, None] > edges).sum(axis=1), edges.shape[1] - 1)
    gold = np.full(pairs, UNKNOWN)
    if gold_every:
        known = np.arange(0, pairs, gold_every)
        gold[known] = np.where(right[known] >= 2, KNOWN_YES, KNOWN_NO)
    names = workers or tuple(f"w{k}" for k in range(everyone))
    return make_answers(pair // 5, pair, worker, code + 1, names, gold=gold[pair])


@st.composite
def answer_tables(draw, ratings=4, workers=5, pairs=6, gold=False):
    """Any answers of a few people about a few pairs; nobody answers a pair twice."""
    known = draw(
        st.lists(st.sampled_from([-1, 0, 1]) if gold else st.just(-1), min_size=pairs, max_size=pairs)
    )
    cells = st.tuples(st.integers(0, pairs - 1), st.integers(0, workers - 1))
    chosen = draw(st.lists(cells, min_size=1, max_size=25, unique=True))
    said = draw(st.lists(st.integers(1, ratings), min_size=len(chosen), max_size=len(chosen)))
    rows = [(pair // 3, pair % 3, who, rating, known[pair]) for (pair, who), rating in zip(chosen, said)]
    return table(rows, workers)


def shuffled(answers: AnswerTable, rng):
    """The same rows in another order."""
    order = rng.permutation(len(answers))
    names = ("image", "caption", "worker", "rating", "gold", "slot", "seconds", "at")
    columns = {name: getattr(answers, name)[order] for name in names}
    image, caption, worker, rating = (columns.pop(name) for name in names[:4])
    return make_answers(image, caption, worker, rating, answers.workers, **columns)
