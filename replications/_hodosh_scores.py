"""Scores of Hodosh's systems on the test split, and tests of their differences, as tables 3 to 6, 11 and 12.

R@k and the median rank ask for the original item, S@k and R-precision for any that the crowd found to fit.
McNemar's test (mid-p) is for R@k and S@k, Fisher's randomisation with 100,000 samples for medians and
R-precision; p-values are as they are, as in the paper, not corrected for their number.
"""

import hashlib
from functools import cache
from typing import NamedTuple

import numpy as np
from _hodosh_store import kept
from _hodosh_systems import BEST, NO_BNC, SYSTEMS, Lab

import karat
from karat.measures.aggregates import MEDIAN
from karat.scores import Column, Scorecard
from karat.stats.paired_tests import is_binary, mcnemar, randomisation_test

TASKS = {"Annotation": "i2t", "Search": "t2i"}
MEASURES = {
    "Median r": ("original", "MedR"),
    "R-precision": ("crowd", "RP"),
    "Judged@10": ("crowd", "Judged@10"),
    **{f"R@{k}": ("original", f"R@{k}") for k in (1, 5, 10)},
    **{f"S@{k}": ("crowd", f"R@{k}") for k in (1, 5, 10)},
}
DIFFERS = "images of 256 px, our texture bank, our words"
STAND_IN = f"{BEST} in place of TRI5SEM, which {NO_BNC}"
TRI5SEM = "TRI5^{√idf}_{A,D_{BNC+ic}}"


class Tested(NamedTuple):
    """A difference of two systems in the paper's units, its p-value, and the test."""

    difference: float
    p: float
    test: str


class Scores:
    """The scores of every system that is asked for, by the rows and columns of tables 11 and 12."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.bench = lab.flickr.benches["test"]

    @cache  # noqa: B019 - one object lives as long as the program
    def card(self, row: str) -> Scorecard:
        """Return all scores of one system."""
        names = dict.fromkeys(name for _, name in MEASURES.values())
        return karat.evaluate(self.lab.run(row), self.bench, names, truth=["original", "crowd"])

    def column(self, row: str, column: str) -> Column:
        """Return one score of one system, with its values per query."""
        task, _, measure = column.partition(" ")
        truth, name = MEASURES[measure]
        return self.card(row).column(name, truth=truth, direction=TASKS[task])

    def value(self, row: str, column: str) -> tuple[float | None, str]:
        """Return one score in the paper's units, percent or ranks, and a note."""
        if row not in SYSTEMS:
            return None, NO_BNC
        found = self.column(row, column)
        assert found.value is not None  # every query has an original item
        note = "; ".join(filter(None, [DIFFERS, SYSTEMS[row].note]))
        return found.value if found.measure.unit == "rank" else 100 * found.value, note

    def tested(self, first: str, second: str, column: str) -> Tested | None:
        """Return the difference of two systems and its p-value; None where one is not computed."""
        first, second = (BEST if row == TRI5SEM else row for row in (first, second))
        if first not in SYSTEMS or second not in SYSTEMS:
            return None
        a, b = self.column(first, column), self.column(second, column)
        scale = 1.0 if a.measure.unit == "rank" else 100.0
        difference, p, test = difference_of(np.asarray(a.values), np.asarray(b.values), column)
        return Tested(scale * difference, p, test)


def difference_of(first: np.ndarray, second: np.ndarray, column: str) -> Tested:
    """Return the difference of two systems' values per query, by the paper's test for the column."""
    if column.endswith("Median r"):
        decides = [hashlib.sha256(one.tobytes()).hexdigest() for one in (first, second)]

        def make() -> dict[str, np.ndarray]:
            found = randomisation_test(first, second, aggregate=MEDIAN)
            return {"found": np.array([found.difference, found.p])}

        difference, p = kept("median-test", decides, make)["found"].tolist()
        return Tested(difference, p, "randomisation")
    found = (
        mcnemar(first, second)
        if is_binary_column(first, second, column)
        else randomisation_test(first, second)
    )
    return Tested(found.difference, found.p, found.test)


def is_binary_column(first: np.ndarray, second: np.ndarray, column: str) -> bool:
    """Whether queries succeed or fail; R-precision may be 0 or 1 by chance, and is not asked so."""
    return not column.endswith("R-precision") and is_binary(first) and is_binary(second)
