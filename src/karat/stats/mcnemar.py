"""McNemar's test: of the queries on which two systems disagree, does one win too many?"""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.stats.paired import PairedTest
from karat.stats.randomisation import paired_values
from karat.validation import InputError


def mcnemar(first: np.ndarray, second: np.ndarray, kind: Literal["exact", "mid-p"] = "mid-p") -> PairedTest:
    """Test whether two systems that succeed or fail on each query differ.

    With b and c the queries that only the first and only the second answers, b is binomial with
    n = b + c and probability 1/2 under the null hypothesis; exact p = 2 P(X ≤ min(b, c)), at most
    1; mid-p takes half of P(X = min(b, c)) away on each side, which is less conservative and still
    keeps its level in practice (Fagerland, Lydersen & Laake 2013). Queries are taken to be
    independent: for captions that come five to an image use `randomisation_test` with clusters.
    McNemar 1947; Hodosh §4.2.1.

    Parameters
    ----------
    first, second
        1 where a system succeeds and 0 where it fails, such as R@1 per query; NaN is left out.
    kind
        "exact" or "mid-p".

    Examples
    --------
    Twelve queries won, four lost:

    >>> ours, theirs = np.repeat([1.0, 0.0, 1.0], [12, 4, 50]), np.repeat([0.0, 1.0, 1.0], [12, 4, 50])
    >>> mcnemar(ours, theirs, "exact")
    difference +0.1212, p = 0.0768 (McNemar exact, n = 66)
    >>> mcnemar(ours, theirs)
    difference +0.1212, p = 0.049 (McNemar mid-p, n = 66)
    """
    if kind not in ("exact", "mid-p"):
        raise InputError(f"kind is {kind!r}", fix="choose exact or mid-p")
    first, second, _ = paired_values(first, second, None)
    if not (is_binary(first) and is_binary(second)):
        raise InputError(
            "McNemar's test needs values that are 0 or 1", fix="use a randomisation test for this measure"
        )
    won, lost = int((first > second).sum()), int((first < second).sum())
    p = binomial_p(won, lost, kind)
    return PairedTest(float(first.mean() - second.mean()), p, f"McNemar {kind}", len(first), len(first))


def is_binary(values: np.ndarray) -> bool:
    """Whether every value that is defined is 0 or 1."""
    known = values[~np.isnan(values)]
    return bool(((known == 0) | (known == 1)).all())


def binomial_p(won: int, lost: int, kind: str) -> float:
    """Return the two-sided p-value of `won` against `lost`.

    >>> binomial_p(3, 3, "exact"), binomial_p(0, 0, "mid-p"), binomial_p(0, 5, "exact")
    (1.0, 1.0, 0.0625)
    """
    from scipy.special import bdtr, gammaln

    n, least = won + lost, min(won, lost)
    if n == 0:
        return 1.0
    p = 2 * float(bdtr(least, n, 0.5))
    if kind == "mid-p":
        p -= float(np.exp(gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1) - n * np.log(2)))
    # Where all of a thousand queries go one way, p is smaller than any float: it is never 0.
    return min(1.0, max(p, float(np.finfo(np.float64).tiny)))
