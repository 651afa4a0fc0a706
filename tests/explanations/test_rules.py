"""Rules and marks: against counts by hand and scipy, clusters, files, and what is refused."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

import karat
from karat.errors import KaratError
from karat.explanations import Marks, summarise_marks


def random_table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.random(rows) < 0.4
    return {"a": a, "b": rng.random(rows) < np.where(a, 0.45, 0.3), "c": rng.random(rows) < 0.2}


def test_numbers_are_counts_by_hand():
    table = random_table()
    for rule in karat.rules(table, min_support=1).rules:
        (given,) = rule.given
        both = sum(x and y for x, y in zip(table[given], table[rule.then]))
        assert (rule.n, rule.of) == (both, sum(table[given]))
        assert rule.support == pytest.approx(both / 300)
        assert rule.confidence == pytest.approx(both / sum(table[given]))
        assert rule.lift == pytest.approx(rule.confidence / np.mean(table[rule.then]))
        for value, (low, high) in (
            (rule.support, rule.support_ends),
            (rule.confidence, rule.confidence_ends),
            (rule.lift, rule.lift_ends),
        ):
            assert low < value < high


@pytest.mark.parametrize("seed", range(3))
def test_one_rule_has_the_p_value_of_fisher(seed):
    table = random_table(120, seed)
    counts = [
        [np.sum(table["a"] == x) and np.sum((table["a"] == x) & (table["b"] == y)) for y in (1, 0)]
        for x in (1, 0)
    ]
    report = karat.rules(table, "b", given="a", deals=4000, min_support=1)
    expected = fisher_exact(counts).pvalue
    if report.rules:
        assert report.rules[0].p == pytest.approx(expected, abs=0.02)
    else:
        assert np.mean(table["b"][table["a"]]) <= np.mean(table["b"])


def test_rows_of_a_cluster_count_once():
    table = {name: np.repeat(column, 4) for name, column in random_table(60, 5).items()}
    alone = karat.rules(table, "b", given="a", deals=499).rules[0]
    together = karat.rules(table, "b", given="a", clusters=np.repeat(np.arange(60), 4), deals=499).rules[0]
    assert together.p > alone.p
    assert np.ptp(together.lift_ends) > 1.5 * np.ptp(alone.lift_ends)
    assert np.ptp(together.confidence_ends) > 1.5 * np.ptp(alone.confidence_ends)


def test_a_rule_from_two_columns_must_add_to_both():
    rng = np.random.default_rng(2)
    a, b, other = (rng.random(600) < 0.5 for _ in range(3))
    both = rng.random(600) < np.where(a & b, 0.9, 0.2)
    rules = karat.rules({"a": a, "b": b, "other": other, "failed": both}, "failed", parts=2, deals=199).rules
    assert rules[0].given == ("a", "b")
    plain = rng.random(600) < np.where(a, 0.9, 0.2)
    rules = karat.rules({"a": a, "b": b, "other": other, "failed": plain}, "failed", parts=2, deals=199).rules
    assert rules[0].given == ("a",)
    assert all(len(rule.given) == 1 for rule in rules)


def test_a_file_gives_the_same_rules(tmp_path):
    table = random_table()
    image = [f"i{k // 3}" for k in range(300)]
    rows = [f"{i},{int(a)},{'yes' if b else 'no'},{int(c)}" for i, a, b, c in zip(image, *table.values())]
    (tmp_path / "t.csv").write_text("\n".join(["image,a,b,c", *rows]) + "\n")
    read = karat.rules(tmp_path / "t.csv", "b", clusters="image", deals=99)
    assert read.records() == karat.rules({"image": image, **table}, "b", clusters="image", deals=99).records()
    assert "confidence %" in str(read)
    assert "hold for all" in str(read)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [True] * 20}, {}, "1 column"),
        ({"a": [True] * 20, "b": [True] * 19}, {}, "the columns have 19 and 20 rows"),
        ({"a": [True] * 3, "b": [True] * 3}, {}, "10 rows or more"),
        ({"a": [2] * 20, "b": [True] * 20}, {}, "column 'a' is 2 in row 1"),
        ({"a": ["x"] * 20, "b": [True] * 20}, {}, "column 'a' has shape"),
        (random_table(), {"then": "d"}, "d"),
        (random_table(), {"parts": 3}, "parts is 3"),
        (random_table(), {"min_support": 0}, "min_support is 0"),
        (random_table(), {"clusters": [1, 2]}, "clusters has shape (2,)"),
        ("no such file.csv", {}, "there is no such file"),
    ],
)
def test_bad_inputs_are_refused_in_one_sentence(table, options, message):
    with pytest.raises(KaratError) as error:
        karat.rules(table, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def answers(rng, pairs=103):
    """Return marks like those of the paper's 103 pairs: one class in most, two in some, three in few."""
    names = ("alternative", "object", "color", "number", "size", "action", "details")
    marks = {name: np.zeros(pairs, bool) for name in names}
    for pair in range(pairs):
        number = rng.choice(3, p=[0.8252, 0.1456, 0.0292]) + 1
        for name in rng.choice(names[1:], number, replace=False) if number > 1 else rng.choice(names, 1):
            marks[name][pair] = True
    return marks


def test_marks_give_the_table_and_the_figures_of_the_paper(tmp_path):
    marks, rating = answers(np.random.default_rng(1)), np.random.default_rng(2).integers(1, 11, 103)
    summary = summarise_marks(Marks(marks, rating))
    assert {name: n for name, n, *_ in summary.shares} == {name: m.sum() for name, m in marks.items()}
    assert sum(summary.counts) == 103
    assert summary.counts[0] == 0
    assert sum(summary.ratings.values()) == 103
    assert list(summary.ratings) == list(range(1, 11))
    assert summary.mean_rating == pytest.approx(rating.mean())
    rows = [",".join([*(str(int(m[k])) for m in marks.values()), str(rating[k])]) for k in range(103)]
    (tmp_path / "marks.csv").write_text("\n".join([",".join([*marks, "rating"]), *rows]) + "\n")
    assert str(summarise_marks(tmp_path / "marks.csv")) == str(summary)


def test_confidences_are_not_the_marginals():
    marks = {"action": np.zeros(100, bool), "details": np.zeros(100, bool), "color": np.zeros(100, bool)}
    marks["action"][:8], marks["details"][2:56], marks["color"][60:80] = True, True, True
    rules = {str(rule): rule for rule in summarise_marks(Marks(marks)).rules.rules}
    assert rules["action → details"].confidence == 6 / 8 != marks["details"].mean()


def test_a_pair_has_what_half_of_its_annotators_mark():
    marks = Marks({"color": [1, 0, 0, 0], "size": [0, 1, 1, 1]}, [4, 6, 8, 8], ["p", "p", "q", "q"])
    summary = summarise_marks(marks)
    assert [(name, n) for name, n, *_ in summary.shares] == [("color", 1), ("size", 2)]
    assert summary.counts == (0, 1, 1)
    assert summary.mean_rating == 6.5


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (lambda: Marks({}), "there are no marks"),
        (lambda: Marks({"a": [1], "b": [1, 0]}), "different numbers of answers"),
        (lambda: Marks({"a": [1, 0]}, rating=[1]), "rating has shape (1,)"),
        (lambda: Marks({"a": [1, 0]}, rating=[1, np.nan]), "a rating is missing"),
        (lambda: summarise_marks(Marks({"a": [1, 0]}), share=0), "share is 0"),
    ],
)
def test_bad_marks_are_refused_in_one_sentence(marks, message):
    with pytest.raises(KaratError) as error:
        marks()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
