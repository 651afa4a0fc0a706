"""Measures for incomplete labels, against hand-computed cases and literal definitions.

infAP is compared with trec_eval in tests/scores/evaluation/test_trec_eval.py.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.benchmarks import Judgments, PoolDesign, Provenance, Truth
from karat.errors import InputError
from karat.measures import READINGS, TIE_POLICIES, Ranked, parse_measure, resolve

from reference import INCOMPLETE, orders, read
from worlds import smalls

EPSILON = 0.00001


def ranked_of(*, grades, strata=None, inclusion=None, size=20, places=None):
    """Return one query of items on the first places, or on others."""
    places = list(range(1, len(grades) + 1)) if places is None else places
    made = Ranked.from_places([places], [grades], size=size)
    columns = {"stratum": strata, "inclusion": inclusion}
    return replace(made, **{k: np.array(v, float) for k, v in columns.items() if v is not None})


def value_of(name, **case):
    return float(parse_measure(name)(ranked_of(**case))[0])


# Hand-computed cases


def test_infap_by_hand():
    """Places 1 to 6: relevant, unjudged, not relevant, (outside of the pool), relevant, unjudged; R = 2.

    Place 1: precision 1. Place 5: before it are 3 items of the pool, of which 1 of 2 judged is relevant, so
    1/5 + (3/5)(1/2) = 0.5. Mean 0.75.
    """
    nan = np.nan
    case = {"grades": [1, nan, 0, 1, nan], "places": [1, 2, 3, 5, 6]}
    assert value_of("infAP", **case) == pytest.approx(0.75, abs=EPSILON)


def test_xinfap_by_hand():
    """Two strata: A on places 1 and 2, both judged; B on places 3 to 6, of which 3 and 5 are judged.

    Relevant are those on places 1, 3 and 5, and a third item of A that was not retrieved. Place 1: 1.
    Place 3: of A before it 1 of 2 is relevant, so (1 + 2 · 1/2)/3 = 2/3. Place 5: A gives 2 · 1/2; B has 2
    items before it, and the judged one is relevant: (1 + 1 + 2 · 1)/5 = 4/5. An item of A stands for
    3/3 = 1, one of B for 4/2 = 2. (1 · 1 + 1 · 0 + 2 · 2/3 + 2 · 4/5) / (1 + 1 + 2 + 2) = (59/15)/6 = 59/90.
    """
    nan = np.nan
    made = ranked_of(grades=[1, 0, 1, nan, 1, nan, 1], strata=[1, 1, 2, 2, 2, 2, 1])
    lost = replace(made, start=np.r_[made.start[:6], np.inf])
    assert parse_measure("xinfAP")(lost)[0] == pytest.approx(59 / 90, abs=EPSILON)


def test_infndcg_by_hand():
    """Grades 1, –, 0.5, 0 in strata A, B, B, B: all of A is judged, 2 of 3 of B, all of them retrieved.

    DCG: 1 · 1/log₂2 + (3/2) · 0.5/log₂4 = 1.375. Ideal: 1 of grade 1; 1 · 3/2 of grade 0.5, rounded to 2:
    1 + 0.5/log₂3 + 0.5/log₂4 = 1 + 0.315465 + 0.25.
    """
    got = value_of("infNDCG", grades=[1, np.nan, 0.5, 0], strata=[1, 2, 2, 2])
    assert got == pytest.approx(1.375 / (1.25 + 0.5 / math.log2(3)))


def test_statap_by_hand():
    """Relevant on places 1, 4 and 5 with π = 1, 1/2 and 1/4: weights 1, 2 and 4, R estimated as 7.

    Precisions: 1; (1 + 1)/4; (1 + 1 + 2)/5. (1 · 1 + 2 · 0.5 + 4 · 0.8)/7 = 5.2/7.
    """
    got = value_of("statAP", grades=[1, 0, 1, 1], places=[1, 2, 4, 5], inclusion=[1, 0.1, 0.5, 0.25])
    assert got == pytest.approx(5.2 / 7)


def test_q_by_hand(tmp_path):
    """Relevance 3, 2, 1 of three relevant items; the ranking has 2, 0, 3, 1; β = 1.

    Gain up to places 1, 3, 4: 2, 5, 6; ideal 3, 5, 6, 6. Blended ratios (1 + 2)/(1 + 3), (2 + 5)/(3 + 6) and
    (3 + 6)/(4 + 6): Q = (3/4 + 7/9 + 9/10)/3. Of the ranking 2, (unjudged), 0, 3, 1 it is Q′.
    """
    qrels = tmp_path / "q.txt"
    qrels.write_text("q 0 b 2\nq 0 n 0\nq 0 a 3\nq 0 c 1\n")
    names = ["Q", "Q'", "AP", "Q(beta=0)"]
    for listed in (["b", "n", "a", "c"], ["b", "x", "n", "a", "c"]):
        card = karat.evaluate({"i2t": {"q": listed}}, "trec", names, setting={"qrels": qrels})
        q, condensed, ap, without = (column.value for column in card)
        assert condensed == pytest.approx((3 / 4 + 7 / 9 + 9 / 10) / 3)
        assert (q == pytest.approx(condensed)) == (len(listed) == 4)
        assert without == pytest.approx(ap)


def test_rbp_and_its_residual_by_hand(tmp_path):
    """p = 0.5, weights 1/2, 1/4, 1/8, 1/16: relevant, unjudged, not relevant, relevant, and the list ends.

    Value 1/2 + 1/16; residual 1/4 of the unjudged item, 1/16 of all places after the end. The truth knows
    another relevant item, which was not retrieved: it is in the tail.
    """
    (tmp_path / "q.txt").write_text("q 0 a 1\nq 0 c 0\nq 0 d 1\nq 0 e 1\nother 0 a 0\n")
    run = {"i2t": {"q": ["a", "x", "c", "d"], "other": ["b"]}}
    options = {"setting": {"qrels": tmp_path / "q.txt"}}
    card = karat.evaluate(run, "trec", "RBP(p=0.5)", **options)
    column = card.columns[0]
    # Nothing of the other query's list is judged: 0, with a residual of 1.
    assert column.values.tolist() == [0.5625, 0.0]
    record = card.records()[0]
    assert (record["measure"], record["value"], record["lower_bound"]) == ("RBP(p=0.5)", 0.28125, 0.28125)
    assert record["upper_bound"] == pytest.approx((0.5625 + 0.3125 + 1) / 2)
    assert "28.12 [28.12, 93.75]" in str(card)
    assert "[Bounds] of RBP(p=0.5): the value without and with its residual." in str(card)
    for choice in ({"unjudged": "bounds"}, {"like": "trec_eval"}):
        other = karat.evaluate(run, "trec", "RBP(p=0.5)", **options, **choice).records()[0]
        assert other["upper_bound"] == pytest.approx(record["upper_bound"])
    assert "0.2812 [0.2812, 0.9375]" in str(
        karat.evaluate(run, "trec", "RBP(p=0.5)", like="trec_eval", **options)
    )


@pytest.mark.parametrize("p", ["0", "1", "1.5", "x"])
def test_persistence_is_a_probability(p):
    with pytest.raises(InputError, match=r"p is '.*'; give a number above 0 and below 1"):
        parse_measure(f"RBP(p={p})")


# Literal definitions


@pytest.mark.parametrize("policy", TIE_POLICIES)
@settings(max_examples=15, deadline=None)
@given(small=smalls(max_images=3), reading=st.sampled_from(READINGS))
def test_values_over_all_orders(small, policy, reading):
    card = karat.evaluate(
        karat.load_run(small.scores),
        small.benchmark,
        INCOMPLETE,
        truth="whole",
        ties=policy,
        unjudged=reading,
    )
    for column in card:
        if column.values is None:
            continue
        for query, ours in zip(column.query, column.values):
            expected = read(str(column.measure), policy, reading, *small.case(column.direction, int(query)))[
                0
            ]
            assert ours == pytest.approx(expected, nan_ok=True), (column.measure, ours, expected)


items_of = st.lists(
    st.tuples(
        st.sampled_from([None, 0.0, 1.0, 1.0, 2.0]),
        st.sampled_from([1.0, 0.5, 0.0, math.nan, None]),
        st.sampled_from([1, 2]),
        st.sampled_from([1.0, 0.5, 0.25]),
    ),
    min_size=1,
    max_size=6,
)
"""Score (None: not retrieved), grade (NaN: pooled and not judged; None: not pooled), stratum, probability."""


def literal(name, ranking, lost):
    """The measure of one order of the items, as its paper has it."""
    pool = [item for item in [*ranking, *lost] if item[1] is not None]
    relevant = [item for item in pool if item[1] > 0]
    if not relevant:
        return math.nan

    def size(stratum, items, judged=False):
        return sum(i[2] == stratum and not (judged and math.isnan(i[1])) for i in items if i[1] is not None)

    strata = (1, 2) if name != "infAP" else (None,)
    if name == "infAP":
        pool, ranking, lost, relevant = (
            [(i[0], i[1], None, i[3]) for i in items] for items in (pool, ranking, lost, relevant)
        )
    if name == "statAP":
        seen, total = 0.0, 0.0
        for place, item in enumerate(ranking, start=1):
            if item[1] is not None and item[1] > 0:
                total += (1 + seen) / place / item[3]
                seen += 1 / item[3]
        return total / sum(1 / item[3] for item in relevant)
    if name == "infNDCG":
        dcg = 0.0
        for s in strata:
            gains = [
                i[1] / math.log2(place + 1)
                for place, i in enumerate(ranking, start=1)
                if i[2] == s and i[1] is not None and i[1] > 0
            ]
            if gains:
                dcg += sum(gains) * size(s, ranking) / size(s, ranking, judged=True)
        best = []
        for grade in (1.0, 0.5):
            number = sum(
                size(s, pool) / size(s, pool, judged=True)
                for i in relevant
                for s in strata
                if (i[1], i[2]) == (grade, s)
            )
            best += [grade] * math.floor(number + 0.5)
        return dcg / sum(grade / math.log2(place + 1) for place, grade in enumerate(best, start=1))
    total = 0.0
    for place, item in enumerate(ranking, start=1):
        if item[1] is None or not item[1] > 0:
            continue
        before = ranking[: place - 1]
        precision = 1.0
        for s in strata:
            good = sum(i[1] is not None and i[1] > 0 and i[2] == s for i in before)
            judged = size(s, before, judged=True)
            precision += size(s, before) * (good + EPSILON) / (judged + 2 * EPSILON)
        total += precision / place * size(item[2], pool) / size(item[2], pool, judged=True)
    return total / sum(size(i[2], pool) / size(i[2], pool, judged=True) for i in relevant)


@pytest.mark.parametrize("name", ["infAP", "xinfAP", "infNDCG", "statAP"])
@settings(max_examples=60, deadline=None)
@given(items=items_of)
def test_sampled_pools_over_all_orders(name, items):
    """With ties in expectation, and in a fixed order."""
    listed = [item for item in items if item[0] is not None]
    lost = [item for item in items if item[0] is None]
    values = [literal(name, [listed[i] for i in order], lost) for order in orders([i[0] for i in listed])]
    stable = sorted(listed, key=lambda item: -item[0])
    by = "inclusion" if name == "statAP" else "stratum"
    got = {policy: evaluated(name, items, by, policy) for policy in ("expected", "stable")}
    assert got["expected"] == pytest.approx(np.mean(values), nan_ok=True, rel=1e-9)
    assert got["stable"] == pytest.approx(literal(name, stable, lost), nan_ok=True, rel=1e-9)


def evaluated(name, items, by, ties):
    """Return the measure of one image; items that were not retrieved are outside of the gallery."""
    listed = [item for item in items if item[0] is not None]
    in_order = [*listed, *(item for item in items if item[0] is None)]
    pool = [at for at, item in enumerate(in_order) if item[1] is not None]
    judged = [at for at in pool if not math.isnan(in_order[at][1])]
    if not judged or not listed:
        return math.nan if not any(item[1] and item[1] > 0 for item in items) else 0.0
    design = PoolDesign(
        "i2t", by, np.zeros(len(pool)), pool, [in_order[at][2 if by == "stratum" else 3] for at in pool]
    )
    shares = Provenance("people", "0 to 1", karat.benchmarks.Share(top=1))
    table = Judgments(
        np.zeros(len(judged)),
        judged,
        rating=[in_order[at][1] for at in judged],
        sources=[shares],
        design=design,
    )
    names = [f"d{at}" for at in range(len(in_order))]
    bench = karat.benchmarks.Benchmark(
        "tiny",
        karat.benchmarks.Ids(["q"], kind="image"),
        karat.benchmarks.Ids(names[: len(listed)], extra=names[len(listed) :], kind="caption"),
        {"own": Truth("own", table, {"i2t": np.arange(1)})},
    )
    scores = np.array([[item[0] for item in listed]])
    card = karat.evaluate(scores, bench, name, direction="i2t", ties=ties)
    return card.columns[0].values[0]


# What the estimates are estimates of


def sample_of(grades, inside):
    return [grade if judged else np.nan for grade, judged in zip(grades, inside)]


def test_statap_is_unbiased_in_its_parts():
    """Over all 2⁶ samples of six items that are chosen independently: the sum of precisions, and R."""
    grades, probability = [1, 0, 1, 1, 0, 1], np.array([0.9, 0.5, 0.3, 0.7, 0.2, 0.4])
    numerator = denominator = 0.0
    for inside in itertools.product((False, True), repeat=6):
        chance = np.prod(np.where(inside, probability, 1 - probability))
        weight = sum(1 / p for p, g, judged in zip(probability, grades, inside) if judged and g)
        denominator += chance * weight
        if weight:
            made = ranked_of(grades=sample_of(grades, inside), inclusion=probability)
            numerator += chance * weight * float(parse_measure("statAP")(made)[0])
    assert denominator == pytest.approx(4)
    assert numerator / 4 == pytest.approx(value_of("AP", grades=grades))


def test_infndcg_has_an_unbiased_dcg():
    """Over all samples of 2 of 4 items in each of two strata; the ideal is taken out of the ratio."""
    grades, strata = [1, 0, 0.5, 1, 0, 0.5, 0, 1], [1, 1, 2, 1, 2, 2, 1, 2]
    expected = value_of("nDCG", grades=grades) * ideal_of(grades)
    halves = [list(itertools.combinations([i for i in range(8) if strata[i] == s], 2)) for s in (1, 2)]
    values = []
    for chosen in itertools.product(*halves):
        sample = sample_of(grades, [i in chosen[0] + chosen[1] for i in range(8)])
        estimated = sorted((grade for grade in sample if grade > 0 for _ in range(2)), reverse=True)
        made = value_of("infNDCG", grades=sample, strata=strata)
        values.append(0.0 if math.isnan(made) else made * ideal_of(estimated))
    assert np.mean(values) == pytest.approx(expected)


def ideal_of(grades):
    return sum(g / math.log2(i + 2) for i, g in enumerate(sorted(grades, reverse=True)))


judged_of = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([1, 2, 3])), min_size=1, max_size=9
)


@settings(max_examples=60, deadline=None)
@given(rows=judged_of)
def test_with_everything_judged_they_are_what_they_estimate(rows):
    grades, strata = [grade for grade, _ in rows], [stratum for _, stratum in rows]
    case = {"grades": grades, "strata": strata, "size": len(rows)}
    ap, ndcg = (value_of(name, **case) for name in ("AP", "nDCG"))
    assert value_of("statAP", **case) == pytest.approx(ap, nan_ok=True)
    assert value_of("statAP", **case, inclusion=[1] * len(rows)) == pytest.approx(ap, nan_ok=True)
    assert value_of("infNDCG", **case) == pytest.approx(ndcg, nan_ok=True)
    # |j (r + ε)/(j + 2ε) − r| ≤ ε for each of three strata, and precisions are averaged over places k ≥ 1.
    assert value_of("xinfAP", **case) == pytest.approx(ap, rel=0, abs=3 * EPSILON, nan_ok=True)
    assert value_of("infAP", **case) == pytest.approx(ap, rel=0, abs=EPSILON, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(grades=st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=1, max_size=9))
def test_one_stratum_is_infap(grades):
    one = value_of("xinfAP", grades=grades, strata=[7] * len(grades))
    assert one == pytest.approx(value_of("infAP", grades=grades), nan_ok=True, rel=1e-12)


@pytest.mark.parametrize("policy", TIE_POLICIES)
@settings(max_examples=8, deadline=None)
@given(small=smalls())
def test_condensed_measures_are_the_others_with_unjudged_items_left_out(small, policy):
    plain, condensed = ["AP", "AP@2", "nDCG", "nDCG@2", "Q"], ["AP'", "AP'@2", "nDCG'", "nDCG'@2", "Q'"]
    run, options = karat.load_run(small.scores), {"ties": policy}
    left_out = karat.evaluate(run, small.benchmark, plain, unjudged="left_out", **options)
    for reading in READINGS:
        own = karat.evaluate(run, small.benchmark, condensed, unjudged=reading, **options)
        assert [column.value for column in own] == [column.value for column in left_out]


def test_condensed_lists_that_end_early():
    """A judged relevant item below the end of a list leaves both without a value."""
    table = Judgments([0, 0], [1, 3], sources=[Provenance("people")])
    names = [karat.benchmarks.Ids(ids, kind=kind) for ids, kind in ((["q"], "image"), ("abcd", "caption"))]
    bench = karat.benchmarks.Benchmark("tiny", *names, {"own": Truth("own", table, {"i2t": np.arange(1)})})
    for listed, expected in ((["a", "b", "c"], None), (["a", "b", "d"], 1.0)):
        run = karat.load_run({"i2t": {"q": listed}})
        for name, reading in (("AP'", "misses"), ("AP", "left_out")):
            card = karat.evaluate(run, bench, name, direction="i2t", unjudged=reading)
            assert card.columns[0].value == expected


@pytest.mark.parametrize("name", ["infAP", "xinfAP", "infNDCG", "statAP"])
@pytest.mark.parametrize("policy", TIE_POLICIES)
def test_draws_of_the_grades_of_a_pool(name, policy):
    """A leading axis of posterior draws is the draws one by one; test_ties.py has the other measures."""
    rng = np.random.default_rng(3)
    queries, rows = 4, 24
    items = karat.benchmarks.JudgedItems(
        "i2t", np.arange(queries), np.arange(queries + 1) * 6, np.arange(rows), np.zeros(rows),
        size=np.full(queries, 40), outside=np.zeros(rows, bool), above=rng.integers(0, 4, rows) * 9,
        tied=np.full(rows, 8), earlier=np.arange(rows) % 6, depth=np.full(queries, 40),
        stratum=1.0 + np.arange(rows) % 2,
    )  # fmt: skip
    draws = rng.choice([0.0, 0.5, 1.0], (5, rows))
    draws[:, ::5] = np.nan
    measure = parse_measure(name)
    together = measure(resolve(replace(items, grade=draws), policy))
    apart = [measure(resolve(replace(items, grade=draw), policy)) for draw in draws]
    np.testing.assert_allclose(together, apart, rtol=1e-12)
