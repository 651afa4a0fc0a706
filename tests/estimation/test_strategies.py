"""Vetting strategies: rules that all keep, and each against its definition, written out."""

import re
import subprocess
import sys
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from estimation.enumeration import average_precision, precision
from karat.errors import InputError
from karat.estimation import STRATEGIES, Candidates, Ranking, VettedLabels, parse_name
from karat.estimation.strategies.minimal_test_collections import MinimalTestCollections
from karat.estimation.strategy import highest
from karat.measures import Ranked, parse_measure

from house import ROOT


def made(lengths, runs=2, seed=0, scores=True, direction="t2i", missing=0):
    """Return candidates of lists of given lengths, ranked with gaps; the last `missing` have no place."""
    rng = np.random.default_rng(seed)
    ptr = np.r_[0, np.cumsum(lengths)]
    rows = int(ptr[-1])
    rankings, tables = {}, {}
    for run in "abcd"[:runs]:
        tables[run] = rng.standard_normal(rows)
        row, start = [], []
        for begin, end in pairwise(ptr):
            row.append(begin + np.argsort(-tables[run][begin:end]))
            places = np.sort(rng.choice(2 * (end - begin), end - begin, replace=False)).astype(float)
            places[max(end - begin - missing, 0) :] = np.inf
            start.append(places)
        sizes = np.full(len(lengths), 40)
        ones, zeros = np.ones(rows), np.zeros(rows)
        ranked = Ranked(ptr, np.concatenate(start), ones, ones, zeros, sizes, sizes, zeros > 0)
        rankings[run] = Ranking(np.concatenate(row), ranked)
    item = np.concatenate([np.arange(length) for length in lengths])
    noisy = rng.random(rows) < 0.3
    return Candidates(
        direction, np.arange(len(lengths)), ptr, item, noisy, rankings, tables if scores else {}
    )


def state(candidates, share=0.3, seed=0):
    """Return labels of a random share, and probabilities."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(candidates))[: round(share * len(candidates))]
    labels = VettedLabels(candidates, rows, rng.random(len(rows)) < 0.4)
    return labels, labels.filled(rng.random(len(candidates)))


def choose(name, labels, p, measure="AP", n=10**6, seed=0, rows=None):
    """Return what a strategy chooses out of all that is open."""
    measure = parse_measure(measure)
    if rows is None:
        rows = np.flatnonzero(labels.candidates.matter(measure) & ~labels.vetted)
    strategy = parse_name(name, STRATEGIES)
    return strategy.choose(labels, p, measure, rows, n, np.random.default_rng(seed)).tolist()


VARIANTS = [
    *STRATEGIES, "random(by_query=no)", "meec(of=difference)", "move-to-front(by_query=no)",
    "bandit(policy=thompson, rate=0.9)", "bandit(by_query=no, rate=1)",
]  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("measure", ["P@3", "AP", "RP"])
@pytest.mark.parametrize("runs", [1, 2])
def test_every_strategy_chooses_open_rows_once(name, measure, runs):
    candidates = made([5, 1, 7, 4], runs=runs, missing=1, scores=measure != "RP")
    labels, p = state(candidates)
    p[::5] = np.nan
    if runs == 1 and parse_name(name, STRATEGIES).name == "minimal-test-collections":
        with pytest.raises(InputError, match="compares systems, and there is one run"):
            choose(name, labels, p, measure)
        return
    if runs == 1 and "difference" in name:
        with pytest.raises(InputError, match="needs two runs, and there are 1"):
            choose(name, labels, p, measure)
        return
    for begin in (labels, VettedLabels.none(candidates)):
        rows = np.flatnonzero(candidates.matter(parse_measure(measure)) & ~begin.vetted)
        for n in (0, 1, 4, len(rows), len(rows) + 3):
            chosen = choose(name, begin, p, measure, n, seed=1)
            assert chosen == choose(name, begin, p, measure, n, seed=1)
            assert len(chosen) == len(set(chosen)) == min(n, len(rows))
            assert set(chosen) <= set(rows.tolist())
        assert choose(name, begin, p, measure, rows=rows[:0]) == []


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_names_parse_and_say_where_they_come_from(name):
    strategy = parse_name(name, STRATEGIES)
    assert str(strategy) == name
    assert strategy.source
    assert str(parse_name("bandit(rate=0.9)", STRATEGIES)) == "bandit(rate=0.9)"
    for wrong in ("bandit(policy=best)", "bandit(rate=2)", "meec(of=all)", "information-gain(variance=0)"):
        with pytest.raises(InputError):
            parse_name(wrong, STRATEGIES)


def chi_square(counts):
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum()


def test_highest_breaks_ties_fairly_and_sorts():
    rng = np.random.default_rng(0)
    value = rng.random(50)
    assert highest(value, 7, rng).tolist() == np.argsort(-value)[:7].tolist()
    value = np.array([1.0, 2.0, 1.0, np.nan, 1.0, 1.0, -np.inf])
    counts = np.zeros((7, 3))
    for _ in range(3000):
        counts[highest(value, 3, rng), np.arange(3)] += 1
    assert counts[1].tolist() == [3000, 0, 0]
    # 99.9% of χ² with 3 degrees of freedom lie below 16.3.
    assert counts[[3, 6]].sum() == 0
    assert chi_square(counts[[0, 2, 4, 5], 1]) < 16.3
    assert chi_square(counts[[0, 2, 4, 5], 2]) < 16.3


def test_random_gives_queries_equal_chances_and_pairs_without_by_query():
    candidates = made([1, 3, 20, 8])
    labels = VettedLabels.none(candidates)
    by_query, by_pair = np.zeros(4), np.zeros(len(candidates))
    inside = np.zeros(20)
    for seed in range(2000):
        row = choose("random", labels, None, n=1, seed=seed)[0]
        by_query[candidates.query[row]] += 1
        if candidates.query[row] == 2:
            inside[row - candidates.ptr[2]] += 1
        by_pair[choose("random(by_query=no)", labels, None, n=1, seed=seed)] += 1
    # 99.9% of χ² with 3, 19 and 31 degrees of freedom lie below these.
    assert chi_square(by_query) < 16.3
    assert chi_square(inside) < 43.8
    assert chi_square(by_pair) < 61.1
    # Every query gives one before any gives two.
    assert sorted(candidates.query[choose("random", labels, None, n=4)]) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["whole-queries", "whole-images"])
def test_whole_queries_and_images_are_finished_before_the_next(name):
    candidates = made([5, 3, 6, 2, 4])
    group = candidates.query if name == "whole-queries" else candidates.item
    everything = [group[row] for row in choose(name, VettedLabels.none(candidates), None)]
    assert sum(a != b for a, b in pairwise(everything)) == len(set(group)) - 1
    # In batches of 3, each continues what the one before had begun.
    labels, order = VettedLabels.none(candidates), []
    for batch in range(7):
        rows = choose(name, labels, None, n=3, seed=batch)
        labels = labels.add(rows, np.zeros(len(rows), bool))
        order += [group[row] for row in rows]
    assert len(order) == len(candidates)
    assert sum(a != b for a, b in pairwise(order)) == len(set(group)) - 1
    first = np.bincount(
        [group[choose(name, VettedLabels.none(candidates), None, n=1, seed=s)[0]] for s in range(1000)]
    )
    # 99.9% of χ² with 5 degrees of freedom lie below 20.5.
    assert chi_square(first) < 20.5


def test_whole_images_are_whole_queries_where_images_ask():
    candidates = made([5, 3, 6], direction="i2t")
    labels = VettedLabels.none(candidates)
    assert choose("whole-images", labels, None) == choose("whole-queries", labels, None)


def test_most_confident_mistake_by_hand():
    candidates = made([4, 4], runs=2)
    a = np.array([0.9, 0.8, 0.1, 0.2, 0.7, 0.6, 0.5, 0.4])
    b = np.array([1, 2, 90, 3, 4, 5, 6, 7.0])
    p = np.array([0.6, 0.4, 0.1, 0.5, 0.49, 1.0, 0.0, np.nan])
    noisy = np.array([0, 0, 0, 0, 0, 0, 0, 1], bool)

    def of(scores, runs):
        rankings = {run: candidates.rankings[run] for run in runs}
        other = Candidates(
            "t2i", candidates.queries, candidates.ptr, candidates.item, noisy, rankings, scores
        )
        return VettedLabels(other, np.array([5]), np.array([True]))

    # Scores among p < 1/2, then the others; the noisy label calls row 7 relevant.
    assert choose("mcm", of({"a": a}, "a"), p) == [1, 4, 6, 2, 0, 7, 3]
    # The second run is very sure of row 2.
    assert choose("mcm", of({"a": a, "b": b}, "ab"), p)[0] == 2
    # Without scores of one run, the first place in any list.
    places = np.min(list(candidates.places.values()), axis=0)
    mistakes = np.array([1, 2, 4, 6])
    chosen = choose("mcm", of({"a": a}, "ab"), p)[:4]
    assert places[chosen].tolist() == sorted(places[mistakes])


def test_entropy_is_the_distance_from_one_half():
    labels, _ = state(made([6]), share=0)
    assert choose("entropy", labels, np.array([0.1, 0.55, np.nan, 0.3, 1.0, 0.92])) == [2, 1, 3, 0, 5, 4]


MEASURES = {"P@3": precision(3), "AP": average_precision()}


@pytest.mark.parametrize("name", list(MEASURES))
@pytest.mark.parametrize("of", ["mean", "difference"])
def test_maximum_expected_change_equals_enumeration(name, of):
    candidates = made([4, 3, 5], seed=3)
    labels, p = state(candidates, share=0.2, seed=4)

    def scores(z):
        """Return the mean over queries of each run."""
        out = []
        for ranking in candidates.rankings.values():
            values = []
            for begin, end in pairwise(candidates.ptr):
                places = (ranking.ranked.start[begin:end] + 1).tolist()
                values.append(MEASURES[name](places, [z[row] for row in ranking.row[begin:end]]))
            out.append(np.mean(values))
        return np.array(out)

    table = []
    for z in product((0, 1), repeat=len(p)):
        chance = np.prod(np.where(np.array(z, bool), p, 1 - p))
        if chance:
            table.append((z, chance, scores(z)))
    z, chance, score = (np.array(column) for column in zip(*table))
    if of == "difference":
        score = score[:, :1] - score[:, 1:]
    mean = chance @ score
    change = np.zeros(len(p))
    for row in np.flatnonzero(~labels.vetted):
        for label in (0, 1):
            part = z[:, row] == label
            known = (chance[part] @ score[part]) / chance[part].sum()
            change[row] += chance[part].sum() * np.abs(known - mean).sum()
    chosen = np.array(choose(f"meec(of={of})", labels, p, name))
    rows = candidates.matter(parse_measure(name)) & ~labels.vetted
    np.testing.assert_allclose(change[chosen], np.sort(change[rows])[::-1], rtol=0, atol=1e-12)
    assert len(np.unique(change[chosen].round(9))) >= 5


def test_eq_12_as_printed_takes_the_first_open_item_last():
    candidates = made([6], runs=1)
    labels, p = VettedLabels.none(candidates), np.full(6, 0.3)
    first = candidates.rankings["a"].row[0]
    assert choose("meec-printed", labels, p)[-1] == first
    assert choose("meec", labels, p)[0] == first


def test_information_gain_takes_what_shrinks_the_covariance_most():
    rng = np.random.default_rng(0)
    candidates = made([40, 40], seed=1).with_features({"c": rng.standard_normal(80)})
    labels, p = state(candidates, share=0.4)
    from sklearn.linear_model import LogisticRegression

    from karat.estimation.features import NOISY, OTHERS, PLACES, SCORES, columns

    x = columns(candidates, SCORES, PLACES, NOISY, OTHERS)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(x[labels.rows], labels.relevant)
    x, q = np.column_stack([np.ones(len(x)), x]), model.predict_proba(x)[:, 1]

    def entropy(rows):
        weight = q[rows] * (1 - q[rows])
        return -0.5 * np.linalg.slogdet((x[rows].T * weight) @ x[rows] + np.eye(x.shape[1]))[1]

    rows, chosen = labels.rows.tolist(), choose("information-gain", labels, p, n=3)
    for row in chosen:
        left = [j for j in range(80) if j not in rows]
        assert row == min(left, key=lambda j: entropy([*rows, j]))
        rows.append(row)


def test_move_to_front_and_bandit_by_hand():
    candidates = made([6], runs=2)
    a, b = (candidates.rankings[run].row.tolist() for run in "ab")
    # The first item of a is wrong, the first item of b right, so the next of b has the highest priority.
    right = next(row for row in b if row != a[0])
    vetted = VettedLabels(candidates, np.array([a[0], right]), np.array([False, True]))
    p = vetted.filled(np.full(6, 0.5))

    assert b[0] == right
    following = next(row for row in b[1:] if row != a[0])
    for name in ("move-to-front", "bandit", "bandit(rate=1)"):
        assert choose(name, vetted, p, n=1) == [following]


def heads(candidates, query, taken, rate):
    """Return the next item of each list, with its priority and how deep it is."""
    out = {}
    for run, ranking in candidates.rankings.items():
        before = []
        for row in ranking.row[candidates.ptr[query] : candidates.ptr[query + 1]].tolist():
            if row not in taken:
                if rate is None:
                    value = -sum(1 - z for z in before)
                else:
                    faded = [rate**age for age in range(len(before))][::-1]
                    value = (1 + sum(f * z for f, z in zip(faded, before))) / (2 + sum(faded))
                out[query, run] = (round(value, 9), -len(before), row)
                break
            before.append(float(taken[row]))
    return out


@pytest.mark.parametrize("rate", [None, 0.0, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("by_query", ["yes", "no"])
def test_lists_are_read_from_the_top_as_in_a_literal_loop(rate, seed, by_query):
    candidates = made([5, 6, 4], seed=seed)
    labels, p = state(candidates, seed=seed)
    p = p.round(1)
    taken = dict(zip(labels.rows.tolist(), labels.relevant.tolist()))
    turn = np.bincount(candidates.query[labels.rows], minlength=3)
    name = (
        f"move-to-front(by_query={by_query})" if rate is None else f"bandit(by_query={by_query}, rate={rate})"
    )
    for row in choose(name, labels, p):
        lists = {
            key: head for query in range(3) for key, head in heads(candidates, query, taken, rate).items()
        }
        if by_query == "yes":
            first = min(turn[query] for query, _ in lists)
            lists = {key: head for key, head in lists.items() if turn[key[0]] == first}
        best = max(head[:2] for head in lists.values())
        assert row in {head[2] for head in lists.values() if head[:2] == best}
        turn[candidates.query[row]] += 1
        # Until it is vetted, an item counts with its probability.
        taken[row] = p[row]
    assert len(taken) == len(candidates)


def test_thompson_sampling_draws_from_the_beta_distribution():
    from karat.estimation.strategies.bandit import Bandit

    candidates = made([120], runs=1)
    relevant = (np.arange(120) % 4 == 0).astype(float)
    draws = [
        Bandit(policy="thompson", rate=1).priority(
            candidates.rankings["a"], relevant, np.random.default_rng(seed)
        )
        for seed in range(400)
    ]
    # After 100 items with 25 relevant: Beta(26, 76).
    assert np.mean(draws, axis=0)[100] == pytest.approx(26 / 102, abs=0.01)
    assert np.std(draws, axis=0)[100] == pytest.approx(np.sqrt(26 * 76 / 102**2 / 103), rel=0.1)


def test_minimal_test_collections_by_hand():
    candidates = made([5, 4], seed=2, missing=1)
    labels, p = state(candidates, share=0.4)
    weights = MinimalTestCollections().weights(labels, p, parse_measure("AP"))

    def c(i, j):
        last = [1 / (1 + max(places[i], places[j])) for places in candidates.places.values()]
        return last[0] - last[1]

    label = labels.label
    for i in np.flatnonzero(~labels.vetted):
        mates = [j for j in range(9) if j != i and candidates.query[j] == candidates.query[i]]
        relevant = c(i, i) + sum(c(i, j) for j in mates if label[j] == 1)
        other = c(i, i) + sum(c(i, j) for j in mates if label[j] != 0)
        number = max(1, p[candidates.query == candidates.query[i]].sum())
        assert weights[i] == pytest.approx(max(abs(relevant), abs(other)) / number, abs=1e-12)
    # The weights of a difference of P@K: what one run has among its first K and the other has not.
    inside = [places < 3 for places in candidates.places.values()]
    weights = MinimalTestCollections().weights(labels, p, parse_measure("P@3"))
    assert weights.tolist() == (inside[0] != inside[1]).astype(float).tolist()
    # Of three runs, every pair counts.
    candidates = made([5, 4], runs=3, seed=2)
    labels, p = state(candidates, share=0.4)
    pairs = 0
    for pair in combinations(candidates.rankings.items(), 2):
        two = Candidates(
            "t2i", candidates.queries, candidates.ptr, candidates.item, candidates.noisy, dict(pair)
        )
        of_two = VettedLabels(two, labels.rows, labels.relevant)
        pairs += MinimalTestCollections().weights(of_two, p, parse_measure("AP"))
    np.testing.assert_allclose(
        MinimalTestCollections().weights(labels, p, parse_measure("AP")), pairs, atol=1e-12
    )


def test_minimal_test_collections_decompose_the_difference_of_ap():
    candidates = made([5], seed=5)
    labels = VettedLabels.none(candidates)
    places = [run + 1 for run in candidates.places.values()]
    # With one item relevant, the difference of AP is c_ii, the weight of a first relevant label.
    for i in range(5):
        z = np.zeros(5)
        z[i] = 1
        difference = np.subtract(*[parse_measure("AP")(r.under(z))[0] for r in candidates.rankings.values()])
        assert difference == pytest.approx(1 / places[0][i] - 1 / places[1][i])
        others = [1 / np.maximum(run[i], np.delete(run, i)) for run in places]
        weight = max(abs(difference), abs(difference + (others[0] - others[1]).sum()))
        ours = MinimalTestCollections().weights(labels, np.zeros(5), parse_measure("AP"))[i]
        assert ours == pytest.approx(weight)


def test_the_strategy_of_the_page_runs():
    page = (ROOT / "docs" / "add-a-strategy.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    code += """
from karat.estimation import STRATEGIES, VettedLabels, make_candidates, parse_name
from karat.measures import parse_measure
from karat.world import make_world, simulate_systems
world = make_world(images=10, captions=2, seed=1)
candidates = make_candidates(simulate_systems(world)[:2], world.benchmark(), "original", direction="t2i")
labels, rows = VettedLabels.none(candidates), np.arange(len(candidates))
strategy = parse_name("disagreement(depth=10)", STRATEGIES)
chosen = strategy.choose(labels, rows / len(rows), parse_measure("AP"), rows, 9, np.random.default_rng(0))
assert len(set(chosen.tolist())) == 9
"""
    # In its own process: it registers a strategy that other tests must not see.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_lists_every_strategy():
    page = (ROOT / "docs" / "add-a-strategy.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([a-z-]+)`", page.partition("## The strategies")[2])) >= set(STRATEGIES)
