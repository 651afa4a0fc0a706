"""The page on explanations says what is so."""

import doctest
import re
from pathlib import Path

import numpy as np

from karat.explanations import FACT_KINDS, ExplainedFailures, RunFailures, compare_concepts, make_concepts

PAGE = Path(__file__).parents[2] / "docs" / "explain.md"


def test_its_code_runs():
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_it_names_columns_that_exist():
    text = PAGE.read_text(encoding="utf-8")
    nothing = np.zeros(0, np.int64)
    failures = RunFailures("a", "b", "t2i", (1,), *(nothing,) * 7, n_queries=0)
    summary = ExplainedFailures(failures, {"all": compare_concepts(make_concepts([{}]), [], [])}).summary(1)
    listed = re.findall(r"^\| [^|]+ \| `(\w+)` \|", text, re.MULTILINE)
    assert len(listed) > 7
    assert set(listed) <= set(summary)
    assert set(re.findall(r"`same_(\w+)`", text)) == set(FACT_KINDS)
