"""Holm's correction against statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from karat.stats import holm


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=30))
def test_holm_equals_statsmodels(p):
    ours = holm(np.array(p))
    assert ours == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)


def test_holm_leaves_missing_tests_out():
    corrected = holm(np.array([[0.02, np.nan], [0.03, 0.5]]))
    assert corrected[0, 0] == pytest.approx(0.06)
    assert np.isnan(corrected[0, 1])
    assert corrected[1].tolist() == pytest.approx([0.06, 0.5])
