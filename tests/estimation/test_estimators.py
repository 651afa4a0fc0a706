"""Estimators, by hand-computed cases, by scikit-learn, and in a world where the truth is known."""

import re
from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError
from karat.estimation import ESTIMATORS, Candidates, Ranking, VettedLabels, make_candidates, parse_name
from karat.estimation.estimators.learned import flip_rates
from karat.estimation.features import NOISY, OTHERS, PLACES, SCORES, columns, training_rows
from karat.estimation.logistic import fit_each, fit_logistic, sigmoid
from karat.estimation.relevance import labels_of
from karat.estimation.strategies.random_pairs import RandomPairs
from karat.measures import Ranked, parse_measure
from karat.world import make_world, simulate_systems

LEARNING = [name for name in ESTIMATORS if name not in ("naive", "sample-mean", "vetted-only")]


def made(noisy, score=None, features=()):
    """Return candidates of queries × items, ranked in the given order by one run."""
    queries, items = np.shape(noisy)
    ranked = Ranked.from_places([list(range(1, items + 1))] * queries, np.zeros(np.shape(noisy)), size=100)
    return Candidates(
        "t2i",
        np.arange(queries),
        np.arange(queries + 1) * items,
        np.tile(np.arange(items), queries),
        np.ravel(noisy).astype(bool),
        {"run": Ranking(np.arange(queries * items), ranked)},
        {} if score is None else {"run": np.ravel(score).astype(float)},
        dict(features),
    )


def estimate(name, labels, measure="P@10", seed=0):
    return parse_name(name, ESTIMATORS).probabilities(
        labels, parse_measure(measure), np.random.default_rng(seed)
    )


@pytest.fixture(scope="module")
def drawn():
    """Candidates whose labels follow scores, noisy labels and queries, and the labels."""
    rng = np.random.default_rng(3)
    score = rng.normal(size=(30, 40))
    score = -np.sort(-score, axis=1)
    logit = 1.5 * score - 0.5 + rng.normal(size=(30, 1)) * 1.2
    z = rng.random(score.shape) < sigmoid(logit)
    noisy = rng.random(score.shape) < np.where(z, 0.4, 0.05)
    return made(noisy, score), z.ravel()


def some(drawn, share, seed=0):
    candidates, z = drawn
    rows = np.random.default_rng(seed).permutation(len(z))[: int(share * len(z))]
    return VettedLabels(candidates, rows, z[rows])


def test_sample_mean_by_hand():
    candidates = made(np.zeros((3, 4)))
    # Of query 0, one of three vetted pairs is relevant; of query 1 the only one; of query 2 none is vetted.
    labels = VettedLabels(candidates, np.array([0, 1, 2, 4]), np.array([1, 0, 0, 1], bool))
    p = estimate("sample-mean", labels).reshape(3, 4)
    assert np.allclose(p, np.array([1 / 3, 1, 0.5])[:, None])
    p = estimate("sample-mean(smoothing=2)", labels).reshape(3, 4)
    assert np.allclose(p, np.array([2 / 5, 2 / 3, 0.5])[:, None])
    # Below the first K nothing counts.
    p = estimate("sample-mean", labels, "P@2").reshape(3, 4)
    assert np.allclose(p, np.array([0.5, 1, 2 / 3])[:, None])
    filled = labels.filled(estimate("sample-mean", labels, "P@4")).reshape(3, 4)
    assert filled.mean(axis=1)[:2] == pytest.approx([1 / 3, 1])
    assert np.isnan(estimate("sample-mean", VettedLabels.none(candidates))).all()
    assert np.isnan(estimate("vetted-only", labels)).all()


def test_flip_rates_by_hand():
    noisy, z = np.array([1, 1, 0, 1, 0, 0, 0]), np.array([1, 1, 1, 0, 0, 0, 0])
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    assert np.allclose(flip_rates(noisy, z, 0 * group, 1, 0), [[1 / 4], [2 / 3]])
    assert np.allclose(flip_rates(noisy, z, 0 * group, 1, 1), [[2 / 6], [3 / 5]])
    # Group 1 has no relevant pair: the rate over all.
    assert np.allclose(flip_rates(noisy, z, group, 2, 0), [[1, 0], [2 / 3, 2 / 3]])


def test_equation_13_by_hand(drawn):
    from sklearn.linear_model import LogisticRegression

    candidates, z = drawn
    labels = some(drawn, 0.3)
    rows = labels.rows
    score = columns(candidates, SCORES)
    one_hot = np.eye(len(candidates.queries))[candidates.query]
    x = np.c_[score, one_hot]
    model = LogisticRegression(C=1, tol=1e-10, max_iter=5000).fit(x[rows], z[rows])
    prior = model.predict_proba(x)[:, 1]
    y = candidates.noisy
    rate = [(y[rows][z[rows] == v].sum() + 1) / ((z[rows] == v).sum() + 2) for v in (0, 1)]
    for i in range(0, len(z), 37):
        likelihood = [rate[v] if y[i] else 1 - rate[v] for v in (0, 1)]
        expected = likelihood[1] * prior[i] / (likelihood[1] * prior[i] + likelihood[0] * (1 - prior[i]))
        assert estimate("learned", labels, "AP")[i] == pytest.approx(expected, abs=1e-5)
    assert np.array_equal(estimate("eq13", labels, "AP"), estimate("learned(by=pooled)", labels, "AP"))
    x = np.c_[score, columns(candidates, NOISY), one_hot]
    model = LogisticRegression(C=1, tol=1e-10, max_iter=5000).fit(x[rows], z[rows])
    assert np.allclose(estimate("direct", labels, "AP"), model.predict_proba(x)[:, 1], atol=1e-5)


@pytest.mark.parametrize("variance", [0.3, 10.0])
def test_logistic_regression_equals_scikit_learn(variance):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    x, query = rng.normal(size=(300, 3)), rng.integers(0, 12, 300)
    z = rng.random(300) < sigmoid(2 * x[:, 0] - 1 + rng.normal(size=12)[query])
    fit = fit_logistic(x, z, query, 13, variance=variance, spread=variance)
    model = LogisticRegression(C=variance, tol=1e-12, max_iter=5000).fit(np.c_[x, np.eye(12)[query]], z)
    assert np.allclose(fit.slope, model.coef_[0, :3], atol=1e-5)
    assert np.allclose(fit.intercept[:12], model.intercept_ + model.coef_[0, 3:], atol=1e-4)
    # A query without rows has the mean.
    assert fit.intercept[12] == pytest.approx(model.intercept_[0], abs=1e-4)
    same = fit_logistic(x, z, query, 13, variance=variance, spread=0)
    model = LogisticRegression(C=variance, tol=1e-12, max_iter=5000).fit(x, z)
    assert np.allclose(
        np.r_[same.intercept[3], same.slope], np.r_[model.intercept_, model.coef_[0]], atol=1e-5
    )
    intercept, slope = fit_each(x, z, query, 13, variance=variance)
    for number in (2, 7):
        own = query == number
        model = LogisticRegression(C=variance, tol=1e-12, max_iter=5000).fit(x[own], z[own])
        assert np.allclose(slope[number], model.coef_[0], atol=1e-4)
        assert intercept[number] == pytest.approx(model.intercept_[0], abs=1e-4)
    assert np.isnan(intercept[12])


def test_the_spread_of_queries_is_learned():
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(200), 30)
    x = rng.normal(size=(6000, 1))
    for spread in (0.0, 1.0, 2.0):
        logit = x[:, 0] + spread * rng.normal(size=200)[query]
        fit = fit_logistic(x, rng.random(6000) < sigmoid(logit), query, 200, learn_spread=True)
        assert np.sqrt(fit.spread) == pytest.approx(spread, abs=0.2)


def test_a_fit_of_every_query_falls_back_where_little_is_vetted(drawn):
    candidates, z = drawn
    first, second = np.arange(40), np.arange(40, 43)
    rows = np.r_[first, second]
    labels = VettedLabels(candidates, rows, z[rows])
    for name in ("learned", "direct"):
        own, pooled = (estimate(f"{name}(by={by})", labels, "AP") for by in ("query", "pooled"))
        assert not np.allclose(own[:40], pooled[:40])
        if name == "direct":
            assert np.array_equal(own[40:], pooled[40:])
        assert np.isfinite(own).all()


@pytest.mark.parametrize("name", LEARNING)
def test_probabilities_are_calibrated_and_do_not_depend_on_hidden_labels(name, drawn):
    z = drawn[1]
    labels = some(drawn, 0.4)
    p = estimate(name, labels, "AP")
    assert ((p >= 0) & (p <= 1)).all()
    rest = ~labels.vetted
    assert p[rest].mean() == pytest.approx(z[rest].mean(), abs=0.05)
    high = rest & (p > np.median(p))
    assert p[high].mean() == pytest.approx(z[high].mean(), abs=0.07)
    assert np.array_equal(p, estimate(name, labels, "AP"))


@pytest.mark.parametrize("name", LEARNING)
def test_one_label_alone(name, drawn):
    candidates, z = drawn
    rows = np.flatnonzero(~z)[:250]
    p = estimate(name, VettedLabels(candidates, rows, z[rows]), "AP")[~candidates.noisy]
    # Improbable, but not excluded: half of a relevant pair among 251.
    assert (p > 0).all()
    assert p.max() < 1 / 251


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_to_learn_from_is_one_sentence(name, drawn):
    candidates, z = drawn
    with pytest.raises(InputError, match="nothing is vetted, and this estimator learns from vetted pairs"):
        estimate(name, VettedLabels.none(candidates))
    below = VettedLabels(candidates, np.array([30, 31]), z[30:32])
    with pytest.raises(InputError, match="none of the 2 vetted pairs is one that P@5 looks at"):
        estimate(name, below, "P@5")
    assert training_rows(below, parse_measure("AP")).tolist() == [30, 31]


def test_a_run_without_scores(drawn):
    candidates = made(drawn[0].noisy.reshape(30, 40))
    labels = VettedLabels(candidates, some(drawn, 0.3).rows, some(drawn, 0.3).relevant)
    for name in LEARNING:
        if ESTIMATORS[name].needs_scores:
            with pytest.raises(InputError, match=r"run: ranked lists have no scores.*choose the estimator"):
                estimate(name, labels)
        else:
            assert np.isfinite(estimate(name, labels, "AP")).all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("direct(by=item)", "by is 'item'; give pooled or query"),
        ("learned(smoothing=-1)", "smoothing is '-1'; give a number, 0 or more"),
        ("mixed(C=0)", "C is '0'; give a number above 0"),
        ("sample-mean(C=1)", "no parameter 'C'"),
    ],
)
def test_wrong_parameters(name, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse_name(name, ESTIMATORS)


def test_further_features_with_gaps_help(drawn):
    candidates, z = drawn
    rng = np.random.default_rng(5)
    hint = np.where(rng.random(len(z)) < 0.3, np.nan, z + 0.5 * rng.normal(size=len(z)))
    more = candidates.with_features({"hint": hint, "unknown": np.full(len(z), np.nan)})
    # The hint and where it is missing; what is missing everywhere says nothing.
    assert columns(more, OTHERS).shape == (len(z), 2)
    labels, rest = some(drawn, 0.3), ~some(drawn, 0.3).vetted
    informed = VettedLabels(more, labels.rows, labels.relevant)
    for name in ("direct", "mixed", "boosting"):
        without, with_hint = (
            np.square(estimate(name, known, "AP") - z)[rest].mean() for known in (labels, informed)
        )
        assert with_hint < 0.8 * without


def test_columns_are_standardised_and_kept(drawn):
    candidates, _ = drawn
    x = columns(candidates, SCORES, PLACES, NOISY)
    assert np.allclose([x.mean(axis=0), x.std(axis=0)], [[0] * 3, [1] * 3])
    assert columns(candidates, SCORES, PLACES, NOISY) is x


def test_recommended_estimators_beat_naive_and_the_sample_mean_in_the_world():
    measure = parse_measure("P@10")
    errors = {name: [] for name in ("naive", "sample-mean", "mixed")}
    for seed in range(6):
        world = make_world(images=80, captions=2, seed=seed)
        benchmark = world.benchmark()
        run = simulate_systems(world, seed=seed)[1]
        candidates = make_candidates([run], benchmark, "original", direction="t2i", depth=10)
        query = candidates.queries[candidates.query]
        z = labels_of(benchmark.truth("complete"), "t2i", query, candidates.item) > 0
        rng = np.random.default_rng(seed)
        inside = np.flatnonzero(candidates.matter(measure))
        rows = RandomPairs().choose(VettedLabels.none(candidates), z, measure, inside, len(inside) // 5, rng)
        labels = VettedLabels(candidates, rows, z[rows])
        for name, found in errors.items():
            p = labels.filled(estimate(name, labels))
            by_query = np.bincount(candidates.query[inside], (p - z)[inside], len(candidates.queries)) / 10
            found.append(np.square(by_query).mean())
    error = {name: np.sqrt(np.mean(found)) for name, found in errors.items()}
    assert error["mixed"] < error["naive"] / 2
    assert error["mixed"] < error["sample-mean"] / 2


def test_the_documented_estimator_works(drawn):
    text = (Path(__file__).parents[2] / "docs" / "add-an-estimator.md").read_text()
    code = text.split("```python\n")[1].split("```")[0].replace("@register_estimator\n", "")
    space: dict = {}
    exec(code, space)
    labels = some(drawn, 0.3)
    p = space["ByPlace"]().probabilities(labels, parse_measure("AP"), np.random.default_rng(0))
    assert p.reshape(30, 40)[:, 0].mean() > p.reshape(30, 40)[:, -1].mean()
    assert all(f"`{name}`" in text for name in ESTIMATORS)
