"""bpref: how often a relevant item comes before one that was judged not relevant."""

from typing import ClassVar

import numpy as np

from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class BPref(Measure):
    """Binary preference: unjudged items do not count. Grades count as relevant or not.

    With R relevant and N judged not relevant, each retrieved relevant item loses the judged not relevant
    ones before it, as a share of min(R, N); no more than R are counted. As trec_eval computes it, where the
    paper divides by R. Where nothing is judged not relevant, it is the share of relevant items retrieved.

    >>> ranked = Ranked.from_places([[1, 2, 3, 8]], [[1, 0, 1, 0]], size=10)
    >>> BPref()(ranked).tolist()
    [0.75]
    """

    name = "bpref"
    trec_eval: ClassVar = {"bpref": "bpref"}
    formula = "(1/R) Σ_r (1 − min(n_r, R) / min(N, R)), n_r judged not relevant before the relevant item r"
    source = "Buckley and Voorhees, SIGIR 2004; as in trec_eval"
    plain = "how rarely a result that was judged wrong comes before a right answer"

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the expectation over tied places.

        Of the z judged not relevant items that tie with it, a relevant item has j before it, with equal
        chance for every j from 0 to z.
        """
        groups = ranked.groups()
        negatives, before, all_negatives = ranked.judged_negatives(groups)
        lengths = np.diff(groups.ptr)
        relevant, most = (
            np.repeat(per_query, lengths, axis=-1)
            for per_query in (ranked.relevant, np.minimum(ranked.relevant, all_negatives))
        )
        found = np.isfinite(groups.start) & (groups.relevant > 0)
        before = np.where(found, before, 0.0)
        # The sum of min(before + j, R) over j: the first `below` terms are less than R.
        below = np.clip(relevant - before, 0, negatives + 1)
        terms = below * before + below * (below - 1) / 2 + (negatives + 1 - below) * relevant
        lost = np.where(most > 0, terms / ((negatives + 1) * np.maximum(most, 1)), 0.0)
        return groups.sum(np.where(found, groups.relevant * (1 - lost), 0.0)) / ranked.relevant
