"""The page on text kernels runs, and names only what there is."""

import re
from pathlib import Path

import numpy as np

from karat.baselines import text

PAGE = (Path(__file__).parents[3] / "docs" / "text-kernels.md").read_text(encoding="utf-8")


def test_its_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    found = names["kernel"].kernel(names["asked"], names["training"])
    assert found.shape == (1, 2)
    assert np.isfinite(found).all()


def test_it_names_classes_that_exist():
    named = set(re.findall(r"`(\w+)\(", PAGE)) - {"read_corpus"}
    assert {"BagOfWords", "TagRank", "Trigram", "AlignmentSimilarity"} <= named
    for name in named - {"text_kernel"}:
        assert hasattr(text, name), name
