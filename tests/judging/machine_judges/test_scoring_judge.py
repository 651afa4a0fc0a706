"""Machine judges that score: thresholds, and how they are learned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.forms import load_form
from karat.judging.machine_judges import Question, ScoringJudge
from karat.judging.machine_judges.scoring_judge import fit_thresholds

FORM = load_form("pair")
CODES = ["no", "mostly_no", "partially", "yes"]


def test_scores_become_answers():
    judge = ScoringJudge("s", lambda asked: np.array([float(q.caption) for q in asked]), (1, 2, 3), FORM)
    said = list(judge.judge([Question(0, n) for n in range(4)]))
    assert [one.code for one in said] == CODES
    assert [one.raw for one in said] == ["0.0", "1.0", "2.0", "3.0"]
    for bad in [(1, 2), (3, 2, 1), (1, 2, np.nan)]:
        with pytest.raises(InputError, match="needs 3 that rise"):
            ScoringJudge("s", lambda asked: np.zeros(len(asked)), bad, FORM)
    for scores in (lambda asked: np.zeros(1), lambda asked: np.full(len(asked), np.nan)):
        with pytest.raises(InputError, match="not finite"):
            list(ScoringJudge("s", scores, (1, 2, 3), FORM).judge([Question(0, 0), Question(0, 1)]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_fitted_thresholds_keep_peoples_shares(seed, n):
    rng = np.random.default_rng(seed)
    scores, ratings = rng.normal(size=n), rng.integers(1, 5, n)
    edges = fit_thresholds(scores, ratings, FORM)
    given = 1 + np.searchsorted(edges, scores, side="right")
    assert sorted(given.tolist()) == sorted(ratings.tolist())
