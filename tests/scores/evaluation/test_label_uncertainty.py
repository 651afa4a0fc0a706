"""Intervals over queries and labels: against a recount of every draw, and plain ones of certain labels."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import karat
from karat.benchmarks import Judgments, Provenance, Share
from karat.errors import InputError
from karat.scores.evaluation import label_uncertainty, label_versions
from karat.scores.evaluation.label_uncertainty import relevance_by_place
from karat.stats import Intervals
from karat.stats.resampling import Resampling

from made import make_benchmark, make_run, recomputed

MEASURES = ["R@1", "RP", "mAP@R", "nDCG@5", "MedR", "RSUM"]
PEOPLE = Provenance("people", "0 to 1", Share(top=1))


def with_probabilities(bench, probability=None, seed=5):
    """Return a benchmark with three more pairs an image, whose labels have probabilities."""
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(bench.images.size), 3)
    caption = (
        3 * image + 3 + rng.integers(0, 3, len(image)) + 3 * np.tile(np.arange(3), bench.images.size)
    ) % 120
    open_pairs = rng.choice([0.02, 0.3, 0.6, 0.97], len(image)) if probability is None else probability
    said = Judgments(
        image,
        caption,
        rating=np.where(np.asarray(open_pairs) >= 0.5, 1.0, 0.0),
        sources=[PEOPLE],
        probability=open_pairs,
        grade_if_relevant=np.where(rng.random(len(image)) < 0.5, 0.5, 1.0) if probability is None else None,
    )
    truths = {
        name: replace(truth, judgments=truth.judgments.merge(said)) for name, truth in bench.truths.items()
    }
    return replace(bench, truths={"plain": replace(bench.truth("own"), name="plain"), **truths})


@pytest.fixture(scope="module")
def case():
    bench = with_probabilities(make_benchmark())
    return bench, [make_run(bench, 1.5, 1, "weak"), make_run(bench, 3, 2, "good")]


def ends(card):
    return [(column.low, column.high) for column in card]


def version(truth, grades):
    """Return a truth with other grades of its pairs."""
    pairs = truth.judgments.pairs()
    return replace(truth, judgments=Judgments(pairs.image, pairs.caption, rating=grades, sources=[PEOPLE]))


@pytest.mark.parametrize(
    ("unjudged", "ties"), [("misses", "pessimistic"), ("left_out", "expected"), ("bounds", "stable")]
)
def test_certain_labels_give_plain_intervals(unjudged, ties):
    """Probabilities of 0 and 1: every version is the published one, and every draw the same to the bit."""
    made = make_benchmark()
    chances = np.random.default_rng(1).choice([0.0, 1.0], 120)
    bench = with_probabilities(made, chances)
    runs = [make_run(bench, 1.5, 1, "weak"), make_run(bench, 3, 2, "good")]
    options = {"truth": ["own", "halves"], "resamples": 400, "ties": ties, "unjudged": unjudged, "seed": 4}
    today = karat.evaluate(runs, bench, MEASURES, intervals=True, **options)
    for versions in (1, 3):
        drawn = karat.evaluate(
            runs, bench, MEASURES, label_uncertainty=True, label_versions=versions, **options
        )
        if versions == 1:
            assert ends(drawn) == ends(today)
        np.testing.assert_allclose(ends(drawn), ends(today), rtol=0, atol=1e-12)
        assert [column.value for column in drawn] == [column.value for column in today]
        assert [column.upper_bound for column in drawn] == [column.upper_bound for column in today]
    assert all(column.label_spread < 1e-12 for column in drawn if str(column.measure) != "MedR")


def test_every_draw_equals_a_recount(case, monkeypatch):
    """Draw labels and images by hand, score each version by an evaluation of its own, repeat queries."""
    bench, runs = case
    monkeypatch.setattr(label_uncertainty, "relevance_by_place", lambda probability, places: probability)
    versions, resamples, seed = 4, 30, 6
    card = karat.evaluate(
        runs, bench, MEASURES, truth=["own", "halves"], label_uncertainty=True, label_versions=versions,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    weights = np.concatenate(list(Resampling(40, resamples, seed).blocks()))
    names = list(bench.truths)
    for name in ("own", "halves"):
        truth = bench.truth(name)
        rows = truth.judgments
        luck = np.random.default_rng([seed, 1 + names.index(name)]).random((versions, 120))
        pairs = {(i, c): n for n, (i, c) in enumerate(zip(*(x.tolist() for x in (rows.image, rows.caption))))}
        assert len(pairs) == len(rows) == 240
        cards = []
        for v in range(versions):
            grades, k = rows.grade.copy(), 0
            for row in range(240):
                if not np.isnan(rows.probability[row]):
                    other = rows.grade_if_relevant[row]
                    grades[row] = other if luck[v, k] < rows.probability[row] else 0.0
                    k += 1
            truths = {name: version(truth, grades)}
            cards.append(karat.evaluate(runs, replace(bench, truths=truths), MEASURES))
        for column in (column for column in card if column.truth == name):
            same = [
                next(
                    c
                    for c in other
                    if (c.run, c.direction, str(c.measure))
                    == (column.run, column.direction, str(column.measure))
                )
                for other in cards
            ]
            # The resamples are dealt out in their order: 7 or 8 to each version.
            dealt = [np.searchsorted(30 * np.arange(1, 5) // 4, b, side="right") for b in range(resamples)]
            drawn = [recomputed(same[v], w) for v, w in zip(dealt, weights)]
            expected = np.quantile(drawn, [0.025, 0.975])
            if column.interval_method is None:
                assert (column.low, column.high) == pytest.approx(tuple(expected), abs=1e-12), column
            elif column.label_spread > 1e-12:
                # Near 0 and 1, where resampling would not hold: never narrower than it.
                assert column.low <= expected[0] + 1e-12
                assert column.high >= expected[1] - 1e-12
            assert column.label_spread == pytest.approx(np.std([c.value for c in same]), abs=1e-12)
            published = karat.evaluate(runs, bench, MEASURES, truth=name)
            assert column.value in [c.value for c in published]


def test_the_seed_decides_and_nothing_else(case, monkeypatch):
    bench, runs = case
    options = {"truth": "own", "label_uncertainty": True, "label_versions": 7, "resamples": 300}
    card = karat.evaluate(runs, bench, MEASURES, seed=2, **options)
    assert ends(karat.evaluate(runs, bench, MEASURES, seed=2, **options)) == ends(card)
    assert ends(karat.evaluate(runs, bench, MEASURES, seed=3, **options)) != ends(card)
    monkeypatch.setattr(label_versions, "BLOCK", 1)
    np.testing.assert_allclose(
        ends(karat.evaluate(runs, bench, MEASURES, seed=2, **options)), ends(card), atol=1e-12
    )
    # A run's interval does not depend on which others are scored, nor on other truths.
    alone = karat.evaluate(runs[1:], bench, MEASURES, seed=2, **{**options, "truth": ["halves", "own"]})
    for column in (column for column in alone if column.truth == "own"):
        same = card.column(str(column.measure), direction=column.direction, run="good")
        assert (column.low, column.high) == pytest.approx((same.low, same.high), abs=1e-12)


def test_what_it_says(case, tmp_path):
    bench, runs = case
    card = karat.evaluate(runs, bench, ["R@1", "MedR"], truth="own", label_uncertainty=True, resamples=500)
    assert card.label_versions == 200
    assert "500 resamples of images with their captions, and 200 draws of uncertain labels." in str(card)
    notes = "\n".join(card.notes)
    assert (
        "200 versions of the labels were drawn from their probabilities, in which 120 of 240 pairs of own "
        "are uncertain; scores are those of the published labels"
    ) in notes
    assert "own: labels alone make up" in notes
    card.save(tmp_path / "card.json")
    plain = karat.evaluate(runs, bench, ["R@1", "MedR"], truth="own", intervals=True, resamples=500)
    ours, theirs = (json.loads(c.to_json()) for c in (card, plain))
    assert [list(record) for record in ours] == [list(record) for record in theirs]
    assert [record["value"] for record in ours] == [record["value"] for record in theirs]
    page = tmp_path / "page.html"
    card.save(page)
    assert "draws of uncertain labels" in page.read_text("utf-8")


def test_a_version_without_positives_leaves_the_query_out(case):
    bench, runs = case
    images = np.arange(12)
    chances = np.where(images == 0, 0.5, np.nan)
    only = Judgments(images, 3 * images, rating=np.ones(12), sources=[PEOPLE], probability=chances)
    own = replace(bench, truths={"own": replace(bench.truth("own"), judgments=only)})
    card = karat.evaluate(runs[1], own, "R@100", direction="i2t", label_uncertainty=True, resamples=200)
    # With and without the query every image is answered; how many there are decides the lower end.
    assert (card.columns[0].value, card.columns[0].high, card.columns[0].label_spread) == (1.0, 1.0, 0.0)
    assert card.columns[0].low == pytest.approx(0.025 ** (1 / 12))


def test_what_is_refused(case):
    bench, runs = case
    score = {"label_uncertainty": True, "resamples": 50}
    with pytest.raises(
        InputError, match=r"labels of truth 'plain' have no probabilities; .*--truth own,halves"
    ):
        karat.evaluate(runs, bench, "R@1", **score)
    bare = make_benchmark()
    with pytest.raises(InputError, match=r"'own' have no probabilities; score labels .*-a dawid-skene"):
        karat.evaluate(runs, bare, "R@1", **score)
    with pytest.raises(InputError, match="are not made by BCa"):
        karat.evaluate(runs, bench, "R@1", truth="own", interval_method="bca", **score)
    with pytest.raises(InputError, match="label_versions is 0"):
        karat.evaluate(runs, bench, "R@1", truth="own", label_versions=0, **score)
    with pytest.raises(InputError, match="looks at similarities"):
        karat.evaluate(runs, bench, "NCS(mine)@5", truth="own", phi={"mine": np.ones((40, 120))}, **score)
    card = karat.evaluate(runs, bench, "R@1", truth="own", **score)
    for attempt in (
        lambda: karat.compare(card),
        lambda: karat.compare(runs, bench, "R@1", truth="own", label_uncertainty=True),
        lambda: karat.report(runs, bench, "R@1", truth="own", label_uncertainty=True),
        lambda: karat.scores.with_intervals(card),
    ):
        with pytest.raises(InputError, match="do not include label uncertainty"):
            attempt()


def test_rankings_that_end_too_early_for_some_labels():
    """RP looks as deep as there are positives: a version with more of them needs places that nobody knows."""
    bench = with_probabilities(make_benchmark())
    best = np.argsort(-make_run(bench, 3, 2, "good").scores, axis=1)[:, :4]
    lists = {"i2t": {str(i): [1000 + int(c) for c in row] for i, row in enumerate(best)}}
    run = karat.load_run(lists, benchmark=bench, name="short")
    card = karat.evaluate(
        run, bench, ["R@1", "P@4"], truth="own", direction="i2t", label_uncertainty=True, resamples=100
    )
    assert all(column.low is not None for column in card)
    own = Judgments(
        [0, 0], [int(best[0, 0]), int(np.setdiff1d(np.arange(120), best[0])[0])], rating=[1.0, 0.0],
        sources=[PEOPLE], probability=[np.nan, 0.5], grade_if_relevant=[np.nan, 1.0],
    )  # fmt: skip
    deep = replace(bench, truths={"own": replace(bench.truth("own"), judgments=own)})
    card = karat.evaluate(run, deep, ["R@1", "AP"], direction="i2t", label_uncertainty=True, resamples=100)
    column = card.column("AP", direction="i2t")
    assert (column.value, column.low, column.high, column.label_spread) == (1.0, None, None, None)
    assert "no interval, since under some of the drawn labels the rankings end too early" in card.notes[-1]


def test_probabilities_by_place_are_right():
    """Pairs that a run ranks first are relevant more often; answers alone do not know that."""
    rng = np.random.default_rng(3)
    n = 20_000
    place = rng.integers(1, 60, n)
    chance = np.where(place == 1, 0.95, np.where(place < 9, 0.5, 0.05))
    true = rng.random(n) < chance
    # Two people who are right in 75% of cases, and the posterior of someone who sees their answers alone.
    yes = (rng.random((2, n)) < np.where(true, 0.75, 0.25)).sum(axis=0)
    odds = chance.mean() / (1 - chance.mean()) * 3.0 ** (2 * yes - 2)
    probability = odds / (1 + odds)
    updated = relevance_by_place(probability, [place, np.zeros(n, int)])
    for where in (place == 1, (place > 1) & (place < 9), place >= 33):
        assert updated[where].mean() == pytest.approx(true[where].mean(), abs=0.02)
        for answers in range(3):
            here = where & (yes == answers)
            exact = chance[here] * 3.0 ** (2 * answers - 2)
            assert updated[here] == pytest.approx(exact / (exact + 1 - chance[here]), abs=0.08)
    assert abs(probability[place == 1].mean() - true[place == 1].mean()) > 0.2
    # The coefficients against a general optimiser.
    some, where = probability[:300], place[:300]
    log_support = np.log(some / (1 - some)) - np.log(some.mean() / (1 - some.mean()))
    table = np.eye(8)[np.searchsorted([1, 2, 3, 5, 9, 17, 33], where, side="right")]

    def loss(weights):
        log_odds = weights[0] + table @ weights[1:]
        likelihood = np.logaddexp(0, log_odds + log_support) - np.logaddexp(0, log_odds)
        return 0.5 * (weights[1:] ** 2).sum() - likelihood.sum()

    best = minimize(loss, np.zeros(9), tol=1e-12).x
    expected = 1 / (1 + np.exp(-(best[0] + table @ best[1:] + log_support)))
    assert relevance_by_place(some, [where]) == pytest.approx(expected, abs=1e-4)
    # A run that knows nothing changes little, and no run nothing.
    shuffled = relevance_by_place(probability, [rng.permutation(place)])
    assert np.abs(shuffled - probability).mean() < 0.02
    assert relevance_by_place(probability, []) == pytest.approx(probability, abs=1e-9)
    assert len(relevance_by_place(np.zeros(0), [np.zeros(0)])) == 0
    extreme = relevance_by_place(np.array([1e-300, 1 - 1e-16, 0.5]), [np.array([50, 1, 2])])
    assert np.isfinite(extreme).all()


def test_versions_share_the_resamples():
    plain, _ = Intervals(resamples=50, seed=3).draw(lambda w: w[:, 0], 9)
    for versions in (1, 3, 50, 70):
        scores = [lambda w: w[:, 0]] * versions
        assert Intervals(resamples=50, seed=3).draw_versions(scores, versions, 9).tolist() == plain.tolist()
