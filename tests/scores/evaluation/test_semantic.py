"""NCS and SR equal a literal computation over all orders of tied items; ideal runs; given similarities."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.errors import InputError
from karat.measures import TIE_POLICIES, parse_measure
from karat.scores.evaluation import first_items as module

from made import make_benchmark, make_run
from worlds import Small, smalls

NAMES = [
    f"{name}, gt={gt}{rest})@{k}"
    for gt in ("yes", "no")
    for k in (1, 2, 3, 9)
    for name, rest in (
        ("NCS(phi", ""),
        ("SR(phi, m=2", ""),
        ("SR(phi, m=1", ""),
        ("SR(phi, m=3", ", any=yes"),
    )
]


def orders(scores: list[float]) -> list[list[int]]:
    """Every order that falls by score."""
    found = []
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            found.append(list(order))
    return found


def literal(measure, scores, phi, known, policy) -> float:
    """One query by the definition: take the known out, cut at K, try every order of ties."""
    items = [i for i in range(len(scores)) if measure.gt or not known[i]]
    if not items:
        return math.nan
    by_phi = sorted(items, key=lambda i: (-phi[i], i))
    if measure.m is None:
        ideal = sum(phi[i] for i in by_phi[: measure.k])
        if ideal == 0:
            return math.nan
        worth = [
            sum(phi[items[i]] for i in order[: measure.k]) / ideal
            for order in orders([scores[i] for i in items])
        ]
    else:
        relevant = {i for i in by_phi[: measure.m] if phi[i] > 0}
        if not relevant:
            return math.nan
        worth = []
        for order in orders([scores[i] for i in items]):
            hits = len(relevant & {items[i] for i in order[: measure.k]})
            worth.append(float(hits > 0) if measure.any else hits / len(relevant))
    stable = orders([scores[i] for i in items]).index(
        sorted(range(len(items)), key=lambda i: (-scores[items[i]], i))
    )
    return {
        "pessimistic": min(worth), "optimistic": max(worth), "expected": float(np.mean(worth)),
        "stable": worth[stable],
    }[policy]  # fmt: skip


@st.composite
def similar(draw) -> tuple[Small, np.ndarray]:
    small = draw(smalls())
    size = small.scores.size
    values = draw(st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.5]), min_size=size, max_size=size))
    return small, np.array(values).reshape(small.scores.shape)


# By meaning there are no labels, which trec_eval's order of ties needs.
@pytest.mark.parametrize("policy", [policy for policy in TIE_POLICIES if policy != "trec_eval"])
@settings(max_examples=60, deadline=None)
@given(case=similar())
def test_values_per_query(case: tuple[Small, np.ndarray], policy: str):
    small, phi = case
    card = karat.evaluate(karat.load_run(small.scores), small.benchmark, NAMES, ties=policy, phi={"phi": phi})
    for column in card:
        if column.values is None:
            continue
        for query, fold, ours in zip(column.query, column.fold, column.values):
            fold = int(fold) if column.truth == "folds" else None
            scores, grades, _ = small.case(column.direction, int(query), fold)
            row = phi[query] if column.direction == "i2t" else phi[:, query]
            if fold is not None:
                row = row[small.folds[fold][1 if column.direction == "i2t" else 0]]
            expected = literal(column.measure, scores, row.tolist(), [bool(g) for g in grades], policy)
            where = (str(column.measure), column.truth, column.direction, int(query))
            assert ours == pytest.approx(expected, nan_ok=True), where


@pytest.fixture
def bench():
    return make_benchmark()


@pytest.fixture
def phi(bench):
    rng = np.random.default_rng(5)
    return rng.gamma(0.3, size=(bench.images.size, bench.captions.size)).astype(np.float32)


def test_the_ideal_run_scores_one(bench, phi):
    names = ["NCS(n)@1", "NCS(n)@10", "NCS(n, gt=no)@10", "SR(n, m=7)@7", "NSUM(n)"]
    card = karat.evaluate(karat.load_run(phi), bench, names, phi={"N": phi})
    for column in card:
        assert column.value == pytest.approx(6 if str(column.measure) == "NSUM(n)" else 1)


def test_nsum_adds_six_columns(bench, phi):
    run = make_run(bench, 1.0, 3, "one")
    card = karat.evaluate(run, bench, ["NSUM(n)", "NCS(n)@1", "NCS(n)@5", "NCS(n)@10"], phi={"n": phi})
    parts = [card.value(f"NCS(n)@{k}", truth="own", direction=d) for k in (1, 5, 10) for d in ("i2t", "t2i")]
    assert card.value("NSUM(n)", truth="own") == pytest.approx(sum(parts))


def test_truncated_lists_say_so(bench, phi):
    scores = np.random.default_rng(1).random(phi.shape)
    order = np.argsort(-scores, axis=1)[:, :3]
    lists = {"i2t": {bench.images[q].item(): bench.captions[row].tolist() for q, row in enumerate(order)}}
    card = karat.evaluate(
        karat.load_run(lists),
        bench,
        ["NCS(n)@3", "NCS(n)@4"],
        truth="own",
        direction="i2t",
        phi={"n": phi},
    )
    full = karat.evaluate(
        karat.load_run(scores), bench, ["NCS(n)@3"], truth="own", direction="i2t", phi={"n": phi}
    )
    assert card.value("NCS(n)@3", direction="i2t") == pytest.approx(full.value("NCS(n)@3", direction="i2t"))
    assert next(c for c in card if c.measure.k == 4).value is None
    assert "ends too early" in " ".join(card.notes)


def test_intervals_and_comparison(bench, phi):
    runs = [make_run(bench, signal, 2, name) for signal, name in ((0.2, "weak"), (3.0, "strong"))]
    phi = phi / 10
    phi[bench.caption_image, np.arange(bench.captions.size)] += 1
    card = karat.evaluate(runs, bench, ["NCS(n)@1"], truth="own", phi={"n": phi}, intervals=True)
    for column in card:
        assert column.low < column.value < column.high
    assert card.value("NCS(n)@1", run="strong") > card.value("NCS(n)@1", run="weak") + 0.1


def test_wrong_input_says_so(bench, phi):
    run = make_run(bench, 1.0, 3, "one")
    with pytest.raises(InputError, match="needs the captions of made"):
        karat.evaluate(run, bench, ["NCS(cider)@1"])
    with pytest.raises(InputError, match="similarity 'cidre'"):
        karat.evaluate(run, replace(bench, texts=["x"] * bench.captions.size), ["NCS(cidre)@1"])
    with pytest.raises(InputError, match="values of 0 or more"):
        karat.evaluate(run, bench, ["NCS(n)@1"], phi={"n": phi - 1})
    with pytest.raises(InputError, match="40 images by 120 captions"):
        karat.evaluate(run, bench, ["NCS(n)@1"], phi={"n": phi[1:]})


@pytest.mark.parametrize("name", [*NAMES, "NSUM(spice)", "NSUM(spice, gt=no)"])
def test_names_parse_back(name):
    assert parse_measure(str(parse_measure(name))) == parse_measure(name)


def test_two_similarities_of_one_name_stay_apart(bench, phi):
    """The ideal ranking is remembered: that of one must not be taken for the other's."""
    tables = {"a": phi, "b": np.random.default_rng(8).random(phi.shape)}
    run, names = make_run(bench, 1.0, 3, "one"), ["NCS(a)@3", "SR(b, m=4)@3", "NCS(b)@3"]
    plain = karat.evaluate(run, bench, names, phi=tables)
    given = {name: karat.load_run(table) for name, table in tables.items()}
    assert given["a"].name == given["b"].name
    same = karat.evaluate(run, bench, names, phi=given)
    assert [c.value for c in same] == pytest.approx([c.value for c in plain])
    assert given["a"].name == "run"


def test_equal_scores_are_looked_at_in_parts(bench, phi, monkeypatch):
    """A whole gallery of equal scores, as a table of 0 and 1 has it, must fit memory on any benchmark."""
    run, names = karat.load_run(np.zeros_like(phi)), ["NCS(n)@3", "SR(n, m=4, gt=no)@3"]
    asked = {"truth": "own", "phi": {"n": phi}, "ties": "expected"}
    whole = karat.evaluate(run, bench, names, **asked)
    lengths, plain = [], module.first_items

    def first_items(*args, **options):
        found = plain(*args, **options)
        lengths.append(len(found.item))
        return found

    monkeypatch.setattr(module, "first_items", first_items)
    monkeypatch.setattr(module, "MOST_ROWS", 3 * bench.captions.size)
    parts = karat.evaluate(run, bench, names, **asked)
    assert 0 < max(lengths) <= 3 * bench.captions.size
    assert [c.value for c in parts] == pytest.approx([c.value for c in whole])


def test_k_and_m_beyond_the_gallery_take_no_room(bench, phi):
    own = bench.truth("own")
    items = own.judged_by_fold("i2t", bench.captions.size)[0]
    tables = [karat.load_run(table).align(bench) for table in (np.zeros_like(phi), phi)]
    asked = (*tables, own, 0, items, True, 10**9, [None, 10**9], {})
    counts = next(module.semantic_counts(*asked))
    assert counts[None].ideal.shape == (bench.images.size, bench.captions.size)
    for one in counts.values():
        assert one.grade.min() > 0  # what adds nothing has no row


def test_what_a_similarity_must_be(bench, phi):
    run, name = make_run(bench, 1.0, 3, "one"), ["NCS(n)@1"]
    with pytest.raises(InputError, match="'n': is captions by images; transpose it") as error:
        karat.evaluate(run, bench, name, phi={"n": phi.T})
    assert "--transpose" not in str(error.value)  # which is about runs
    with pytest.raises(InputError, match="similarity 'n': holds bool"):
        karat.evaluate(run, bench, name, phi={"n": phi > 1})
    with pytest.raises(InputError, match="letters, digits"):
        parse_measure("NCS(my n)@1")
    orphans = replace(bench, texts=["x"] * bench.captions.size, caption_image=None)
    with pytest.raises(InputError, match="needs to know which images the captions of made belong to"):
        karat.evaluate(run, orphans, ["NCS(cider)@1"])


def test_notes_speak_of_similarity(bench, phi):
    run = make_run(bench, 1.0, 3, "one")
    asked = {"truth": "own", "unjudged": "bounds"}
    card = karat.evaluate(run, bench, ["NCS(n)@1"], phi={"n": 0 * phi}, **asked)
    assert "no query has an item with any similarity" in card.notes[0]
    assert not any("judged not relevant" in note for note in card.notes)
    other = karat.evaluate(run, bench, ["NCS(n)@1", "R@1"], phi={"n": phi}, **asked)
    assert any("judged not relevant" in note for note in other.notes)
