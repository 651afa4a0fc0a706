"""How far are eq. 12 of Active testing as printed, and G_j with N = Σ p, from the expected change of AP?

``python -m tests.estimation.equation_12`` prints the tables of docs/estimate-formulas.md.
"""

from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from karat.estimation import expected_change, form_of, printed_change
from karat.estimation.change import covariances
from karat.measures import Ranked, parse_measure

QUERIES, ROWS = 50, 100
AP, RP = parse_measure("AP"), parse_measure("RP")


def lists_of() -> dict[str, Ranked]:
    """Return random probabilities, by their kind: 50 queries of 100 rows each, without gaps."""
    rng = np.random.default_rng(0)
    place = np.arange(1, ROWS + 1)
    vetted = np.where(rng.random((QUERIES, ROWS)) < 0.3, rng.random((QUERIES, ROWS)) < 0.3, np.nan)
    uniform = rng.random((QUERIES, ROWS))
    kinds = {
        "all 0.1": np.full((QUERIES, ROWS), 0.1),
        "uniform": uniform,
        "uniform, 30% vetted": np.where(np.isnan(vetted), uniform, vetted),
        "falling with the place": rng.beta(0.5, 0.5, (QUERIES, ROWS)) * np.minimum(1, 5 / place),
        "mostly near 0": rng.beta(0.05, 1, (QUERIES, ROWS)),
    }
    return {
        kind: Ranked.from_places([place.tolist()] * QUERIES, p.tolist(), size=ROWS)
        for kind, p in kinds.items()
    }


def agreement(change: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """Return Spearman's correlation, and the share of the best 5% that both choose."""
    best = [set(np.argsort(-x, kind="stable")[: len(exact) // 20].tolist()) for x in (change, exact)]
    return spearmanr(change, exact).statistic, len(best[0] & best[1]) / len(best[1])


def ap_table() -> list[str]:
    """Return the rows of the table on AP."""
    lines = []
    for kind, ranked in lists_of().items():
        rows = (ranked.grade > 0) & (ranked.grade < 1)
        exact, printed = expected_change(ranked, AP)[rows], printed_change(ranked)[rows]
        known = expected_change(replace(ranked, total=ranked.sum(ranked.grade)), AP)[rows]
        lowered = (form_of(ranked, AP).expect(ranked, change=True)[1][rows] < 0).mean()
        cells = [f"{printed.sum() / exact.sum():.2f}", *(f"{x:.2f}" for x in agreement(printed, exact))]
        cells += [f"{known.sum() / exact.sum():.2f}", *(f"{x:.2f}" for x in agreement(known, exact))]
        lines.append(f"| {kind} | {' | '.join(cells)} | {lowered:.0%} |")
    return lines


def rp_table() -> list[str]:
    """Return the rows of the table on RP: covariances over 256 draws, against the exact change."""
    lines = []
    for kind, ranked in lists_of().items():
        rows = (ranked.grade > 0) & (ranked.grade < 1)
        exact, drawn = expected_change(ranked, RP)[rows], 2 * np.abs(covariances(ranked, RP, 256, 0))[rows]
        lines.append(f"| {kind} | {' | '.join(f'{x:.2f}' for x in agreement(drawn, exact))} |")
    return lines


if __name__ == "__main__":
    print("\n".join([*ap_table(), "", *rp_table()]))
