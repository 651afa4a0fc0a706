"""Do intervals from drawn labels hold, and are they as short as predictions allow?

Every time, images are drawn from a world whose labels are all known, then labels by a design. The score of
this test set is that of the drawn images; the score of the population is that of all images of the world.
"""

import numpy as np
import pytest

from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure

from .drawn_labels import labelled_pairs, report, simulate

TIMES = 1000
PAIRS, QUERIES = {"images": 100}, {"images": 150}
WHOLE = ["RP", "AP", "mAP@R"]


@pytest.fixture(scope="module")
def lists():
    return labelled_pairs(1000, depth=10)


@pytest.fixture(scope="module")
def deep_lists():
    return labelled_pairs(1000, depth=20)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("design", ["uniform", "stratified", "proportional"])
def test_intervals_of_precision_hold(lists, design, share):
    report(f"{design} {share:.0%}", simulate(lists, ["P@10"], design, share, times=TIMES, **PAIRS))


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_intervals_of_a_difference_hold_under_its_own_design(lists, share):
    report(f"difference {share:.0%}", simulate(lists, ["P@10"], "difference", share, times=TIMES, **PAIRS))


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_intervals_of_measures_of_whole_queries_hold(deep_lists, share):
    report(
        f"whole queries {share:.0%}",
        simulate(deep_lists, WHOLE, "whole-queries", share, times=TIMES, **QUERIES),
    )


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("design", ["uniform", "proportional"])
@pytest.mark.parametrize("answers", [1, 3])
def test_intervals_hold_with_annotators_who_err(lists, design, share, answers):
    made = simulate(lists, ["P@10"], design, share, times=TIMES, error=0.1, answers=answers, **PAIRS)
    report(f"{design} {share:.0%}, {answers} answers with 10% errors", made)


MISSED = pytest.mark.xfail(reason="values of queries rest on predictions: 92% held at worst")


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.1, *(pytest.param(share, marks=MISSED) for share in (0.2, 0.5))])
def test_intervals_of_whole_queries_hold_with_annotators_who_err(deep_lists, share):
    made = simulate(
        deep_lists, WHOLE, "whole-queries", share, times=TIMES // 2, error=0.1, answers=3, **QUERIES
    )
    report(f"whole queries {share:.0%}, 3 answers with 10% errors", made)


@pytest.mark.statistical
@pytest.mark.parametrize("design", ["uniform", "stratified", "proportional", "difference"])
def test_intervals_of_several_batches_hold(lists, design):
    made = simulate(lists, ["P@10"], design, 0.2, times=TIMES, batches=4, **PAIRS)
    report(f"{design} 20% in 4 batches", made, most=0.98)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("known", [0.5, 1.0])
@pytest.mark.parametrize("batches", [1, 3])
def test_intervals_of_batches_that_were_answered_in_part_hold(lists, share, known, batches):
    made = simulate(
        lists, ["P@10"], "proportional", share, times=TIMES, batches=batches, part=0.5, known=known, **PAIRS
    )
    title = f"proportional {share:.0%} in {batches}, half answered, {known:.0%} of earlier tasks"
    report(title, made, most=0.98)


def noisy_proxy(rho):
    """Return a proxy whose correlation with labels is `rho`."""

    def proxy(pairs, rng):
        noise = rng.standard_normal(len(pairs.truth))
        if rho == 0:
            return noise
        return pairs.truth + noise * pairs.truth.std() * np.sqrt(1 / rho**2 - 1)

    return proxy


def correlation(pairs, proxy):
    """Return the correlation of the proxy's P@10 with the true one, over queries, per run."""
    measure, rng = parse_measure("P@10"), np.random.default_rng(0)
    true, guess = (values_per_query(pairs.candidates, p, measure) for p in (pairs.truth, proxy(pairs, rng)))
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(true, guess)])


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.95])
def test_widths_of_precision_follow_the_correlation_of_the_proxy(lists, rho, share):
    times = TIMES // 5
    plain = simulate(lists, ["P@10"], "uniform", share, times=times, method="hajek", **PAIRS)
    made = simulate(
        lists, ["P@10"], "uniform", share, times=times, estimator=None, proxy=noisy_proxy(rho), **PAIRS
    )
    ratio = (made["P@10", "test_set"].width / plain["P@10", "test_set"].width)[:2]
    print(
        f"\nρ = {rho}, {share:.0%}: {ratio.round(3)} of the vetted-only width, "
        f"{np.sqrt(1 - rho**2):.3f} expected"
    )
    if rho == 0:
        assert ratio.max() < (1.05 if share < 0.2 else 1.02)
    else:
        assert ratio == pytest.approx(np.sqrt(1 - rho**2), rel=0.1)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_widths_for_the_population_follow_it_too(rho, share):
    pairs, times = labelled_pairs(1000, depth=10, captions=1), TIMES // 5
    proxy = noisy_proxy(rho)
    plain = simulate(pairs, ["P@10"], "whole-queries", share, times=times, method="hajek", images=400)
    made = simulate(
        pairs, ["P@10"], "whole-queries", share, times=times, estimator=None, proxy=proxy, images=400
    )
    ratio = (made["P@10", "population"].width / plain["P@10", "population"].width)[:2]
    expected = np.sqrt(1 - correlation(pairs, proxy) ** 2 * (1 - share))
    print(f"\nρ = {rho}, {share:.0%} of the queries: {ratio.round(3)}, {expected.round(3)} expected")
    assert ratio == pytest.approx(expected, rel=0.1)
