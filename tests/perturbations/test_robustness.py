"""Robustness: ranks, scores and measures before and after, against brute force; which row is which query."""

import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.benchmarks import Fold
from karat.captions import PerturbedQuery, WordChange, write_queries
from karat.errors import InputError, KaratError
from karat.stats import Intervals
from karat.world import make_world, simulate_reader

FEW = Intervals(resamples=100)
WORLD = make_world(images=12, captions=3, seed=5)
BENCH = WORLD.benchmark()
OWN = BENCH.caption_image
CHANGED = np.array([0, 1, 4, 7, 8, 12, 20, 21, 22, 30, 35])


def queries_of(captions, kind="colour", bench=BENCH):
    """Return captions with another first letter, as if that were a change of a kind."""
    made = []
    for caption in captions:
        old = bench.texts[caption]
        change = WordChange(old[0].lower(), 0, kind, old[0], "X")
        made.append(PerturbedQuery(str(bench.captions[caption]), old, "X" + old[1:], (change,)))
    return made


def unchanged(captions):
    return [PerturbedQuery(str(BENCH.captions[c]), BENCH.texts[c], BENCH.texts[c], ()) for c in captions]


def tables(seed=0, levels=5):
    """Return scores before and after, images by captions, with many ties."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, levels, (12, 36)).astype(np.float32)
    after = before.copy()
    after[:, CHANGED] = rng.integers(0, levels, (12, len(CHANGED)))
    return before, after


def slow_rank(scores, own, ties):
    above, tied = 0, 0
    for item, score in enumerate(scores):
        above += score > scores[own]
        tied += item != own and score == scores[own]
    if ties == "stable":
        return 1 + above + sum(scores[item] == scores[own] for item in range(own))
    return 1 + above + {"pessimistic": 1, "optimistic": 0, "expected": 0.5}[ties] * tied


def means_of_sets(table):
    return np.stack(
        [table[:, 3 * k : 3 * k + 3].astype(np.float64).sum(axis=1) / 3 for k in range(12)], axis=1
    )


@pytest.mark.parametrize("ties", ["pessimistic", "optimistic", "expected", "stable"])
@pytest.mark.parametrize("seed", [0, 1])
def test_ranks_and_scores_by_brute_force(ties, seed):
    before, after = tables(seed)
    robust = karat.robustness(
        before,
        after[:, CHANGED],
        BENCH,
        queries_of(CHANGED),
        ["R@1", "MRR", "MeanR"],
        ties=ties,
        intervals=FEW,
    )
    sets = (means_of_sets(before), means_of_sets(after))
    for per, (old, new), changed, own in (
        ("caption", (before, after), CHANGED, OWN),
        ("set", sets, np.unique(CHANGED // 3), np.arange(12)),
    ):
        then, now = (
            np.array([slow_rank(t[:, q], own[q], ties) for q in range(len(own))]) for t in (old, new)
        )
        effect = robust.effect("colour", per)
        assert (effect.changed, effect.of) == (len(changed), len(own))
        assert effect.lower.value == pytest.approx((now > then)[changed].mean())
        assert effect.higher.value == pytest.approx((now < then)[changed].mean())
        assert effect.same.value == pytest.approx((now == then)[changed].mean())
        change = np.array([new[own[q], q] - old[own[q], q] for q in changed])
        assert effect.score_change.value == pytest.approx(change.mean())
        assert effect.unnoticed.value == pytest.approx((change >= 0).mean())
        assert effect.fall.value == pytest.approx(((change < 0) + 0.5 * (change == 0)).mean())
        for each in robust.measures:
            if each.per == per and (ties != "expected" or str(each.measure) == "MeanR"):
                value = {"R@1": lambda r: r == 1, "MRR": lambda r: 1 / r, "MeanR": lambda r: r}[
                    str(each.measure)
                ]
                rows = changed if each.queries == "changed" else np.arange(len(own))
                means = [value(rank[rows]).mean() for rank in (then, now)]
                assert (each.before, each.after) == pytest.approx(means)
                assert each.difference.value == pytest.approx(means[1] - means[0])


def test_intervals_are_those_of_a_plain_bootstrap_over_images():
    world = make_world(images=80, captions=2, seed=1)
    bench = world.benchmark()
    rng = np.random.default_rng(3)
    before, after = 2 * rng.normal(size=(2, 80, 160))
    before[bench.caption_image, np.arange(160)] += 4
    after[bench.caption_image, np.arange(160)] += 3
    changed = np.arange(0, 160, 2)
    robust = karat.robustness(before, after[:, changed], bench, queries_of(changed, bench=bench), "R@1")
    (each,) = [m for m in robust.measures if (m.per, m.queries) == ("caption", "all")]
    after[:, 1::2] = before[:, 1::2]
    hits = [(t.argmax(axis=0) == bench.caption_image).reshape(80, 2).mean(axis=1) for t in (before, after)]
    gap = hits[1] - hits[0]
    draws = gap[np.random.default_rng(0).integers(0, 80, (20_000, 80))].mean(axis=1)
    assert (each.difference.low, each.difference.high) == pytest.approx(
        np.quantile(draws, [0.025, 0.975]), abs=0.01
    )


def test_rows_are_matched_by_id_order_or_what_was_not_changed(tmp_path):
    before, after = tables()
    known = str(karat.robustness(before, after[:, CHANGED], BENCH, queries_of(CHANGED), intervals=FEW))
    rng = np.random.default_rng(1)
    mixed = rng.permutation(CHANGED)
    rest = np.setdiff1d(np.arange(36), CHANGED)
    path = tmp_path / "queries.tsv"
    write_queries([*queries_of(CHANGED), *unchanged(rest)], path)

    def same(table, queries, **options):
        return str(karat.robustness(before, table, BENCH, queries, intervals=FEW, **options)) == known

    assert same(after[:, mixed], queries_of(mixed))
    assert same(after, queries_of(CHANGED))
    assert same(after, queries_of(mixed))
    assert same(np.asfortranarray(after), queries_of(CHANGED))
    # As many rows as the file and the benchmark have, in the order of either.
    assert same(after, path)
    assert same(after[:, [*CHANGED, *rest]], path)
    # By ids, in any order.
    ids = {"captions": [str(BENCH.captions[c]) for c in mixed]}
    assert same(karat.load_run(after[:, mixed], ids=ids), queries_of(CHANGED))
    assert same(karat.load_run(after[:, mixed], ids=ids), path)
    # The run after has the images of the run before, and all captions in its order.
    rows, columns = rng.permutation(12), rng.permutation(36)
    order = {
        "images": BENCH.images.gallery[rows].tolist(),
        "captions": BENCH.captions.gallery[columns].tolist(),
    }
    for table in (after[rows][:, columns], after[rows][:, CHANGED]):
        moved = karat.robustness(
            before[rows][:, columns],
            table,
            BENCH,
            queries_of(CHANGED),
            loading=karat.Loading(ids=order),
            intervals=FEW,
        )
        assert str(moved) == known
    with pytest.raises(InputError, match="order of the queries or of the benchmark"):
        same(rng.random((12, 36)), path)


def test_embeddings_give_what_their_products_give():
    rng = np.random.default_rng(2)
    images, captions = rng.integers(-3, 4, (12, 8)), rng.integers(-3, 4, (36, 8))
    vectors = rng.integers(-3, 4, (len(CHANGED), 8))
    images, captions, vectors = (table.astype(np.float32) for table in (images, captions, vectors))
    queries = queries_of(CHANGED)
    scores = karat.robustness(images @ captions.T, images @ vectors.T, BENCH, queries, intervals=FEW)
    both = karat.robustness((images, captions), (images, vectors), BENCH, queries, intervals=FEW)
    alone = karat.robustness((images, captions), vectors, BENCH, queries, intervals=FEW)
    assert str(both) == str(alone)
    cosine = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(captions[CHANGED], vectors)
    ]
    assert both.effect("colour").cosine.value == pytest.approx(np.mean(cosine), abs=1e-6)
    numbers = [record for record in both.records() if record["number"] != "cosine"]
    for ours, theirs in zip(numbers, scores.records(), strict=True):
        for key in ours:
            assert ours[key] == (pytest.approx(theirs[key]) if isinstance(ours[key], float) else theirs[key])
    with pytest.raises(InputError, match="has 5 vectors for 11 queries"):
        karat.robustness((images, captions), vectors[:5], BENCH, queries)
    other = images.copy()
    other[3] += 1
    with pytest.raises(InputError, match=r"image vectors are not those of .*000003\.png"):
        karat.robustness((images, captions), (other, vectors), BENCH, queries)


def test_ranked_lists_have_ranks_and_measures_alone():
    before, after = tables(levels=10**6)
    names = [str(name) for name in BENCH.images.gallery]

    def lists(table, captions):
        order = {str(BENCH.captions[c]): np.argsort(-table[:, c], kind="stable") for c in captions}
        return {"t2i": {name: [names[i] for i in items] for name, items in order.items()}}

    scored = karat.robustness(before, after[:, CHANGED], BENCH, queries_of(CHANGED), intervals=FEW)
    ranked = karat.robustness(
        lists(before, range(36)), lists(after, CHANGED), BENCH, queries_of(CHANGED), intervals=FEW
    )
    assert ranked.effect("colour").lower == scored.effect("colour").lower
    assert ranked.effect("colour").unnoticed is None
    assert [effect.per for effect in ranked.effects] == ["caption"]
    assert "no caption sets" in " ".join(ranked.notes)
    assert "ranks lower for" in str(ranked)
    with pytest.raises(InputError, match=r"lacks 1 changed caption, first 000011\.png#2"):
        karat.robustness(lists(before, range(36)), lists(after, CHANGED[:-1]), BENCH, queries_of(CHANGED))
    wrong = {
        str(BENCH.captions[c]): [next(name for k, name in enumerate(names) if k != OWN[c])] for c in range(36)
    }
    with pytest.raises(InputError, match="no changed query has a place of its own image: colour"):
        karat.robustness({"t2i": wrong}, {"t2i": wrong}, BENCH, queries_of(CHANGED))
    with pytest.raises(InputError, match="there are no caption sets"):
        karat.robustness(
            lists(before, range(36)), lists(after, CHANGED), BENCH, queries_of(CHANGED), per="set"
        )


def test_without_an_own_image_the_relevant_one_that_ranked_first_is_followed():
    before, after = tables(levels=10**6)
    bench = replace(BENCH, caption_image=None)
    robust = karat.robustness(
        before, after[:, CHANGED], bench, queries_of(CHANGED), "R@1", truth="complete", intervals=FEW
    )
    truth = WORLD.relevance()
    own = [max(np.flatnonzero(truth[:, c]), key=lambda image, c=c: before[image, c]) for c in CHANGED]
    change = [after[image, c] - before[image, c] for image, c in zip(own, CHANGED)]
    assert robust.effect("colour").score_change.value == pytest.approx(np.mean(change))
    assert [effect.per for effect in robust.effects] == ["caption"]


def test_folds_and_several_truths_give_what_evaluate_gives():
    before, after = tables(levels=10**6)
    halves = [Fold(str(k), np.arange(6) + 6 * k, np.arange(18) + 18 * k) for k in range(2)]
    folded = replace(BENCH.truth("original"), name="halves", folds=halves)
    bench = replace(BENCH, truths={**BENCH.truths, "halves": folded})
    measures, truths = ["R@1", "MedR", "mAP@R"], ["halves", "complete"]
    robust = karat.robustness(
        before, after[:, CHANGED], bench, queries_of(CHANGED), measures, truth=truths, intervals=FEW
    )
    cards = [karat.evaluate(t, bench, measures, truth=truths, direction="t2i") for t in (before, after)]
    found = [each for each in robust.measures if (each.per, each.queries) == ("caption", "all")]
    assert len(found) == 6
    for each in found:
        values = [card.value(str(each.measure), truth=each.truth, direction="t2i") for card in cards]
        assert (each.before, each.after) == pytest.approx(values)
    json.loads(robust.to_json())
    with pytest.raises(InputError, match="RSUM has no value of its own"):
        karat.robustness(before, after, bench, queries_of(CHANGED), "RSUM")
    with pytest.raises(KaratError, match=r"has no effect 'size \(set\)'"):
        robust.effect("size", "set")


def other_text():
    (query,) = queries_of([3])
    return [PerturbedQuery(query.caption, "A" + query.old, "AX" + query.old[1:], query.changes)]


@pytest.mark.parametrize(
    ("after", "queries", "message"),
    [
        (np.zeros((12, 5)), queries_of([1, 2]), "5 queries; give a row for each of the 2 queries"),
        (np.zeros((11, 2)), queries_of([1, 2]), "11 images and 2 queries, but world has 12 images"),
        (np.zeros((2, 12)), queries_of([1, 2]), "it is transposed"),
        (np.zeros((12, 1)), other_text(), "has another text"),
        (np.zeros((12, 1)), unchanged([2]), "no query differs from its caption"),
        (np.zeros((12, 1)), [PerturbedQuery("nobody", "a", "b", ())], "has no caption nobody"),
        ([np.zeros((12, 1))] * 2, queries_of([1]), "2 runs on changed queries, but 1 list"),
        (
            karat.load_run(np.zeros((12, 1)), ids={"captions": ["nobody"]}),
            queries_of([1]),
            "caption id nobody is not in the benchmark",
        ),
    ],
)
def test_what_does_not_fit_is_said(after, queries, message):
    with pytest.raises(InputError) as error:
        karat.robustness(tables()[0], after, BENCH, queries)
    assert message in str(error.value)


def test_notes_and_kinds():
    before, after = tables()
    noisy = after + 1
    both = karat.robustness(
        before, [after, noisy], BENCH, [queries_of(CHANGED), queries_of(CHANGED, "article")], intervals=FEW
    )
    assert [(each.kind, each.control) for each in both.effects[::2]] == [("colour", False), ("article", True)]
    assert both.effect("colour").beyond_controls is not None
    assert both.effect("article").beyond_controls is None
    assert any("article: 25 of 25 captions that were not changed have another score" in n for n in both.notes)
    assert any(note.startswith("colour: the changed queries are of 8 images only") for note in both.notes)
    twice = karat.robustness(
        before, [after, after], BENCH, [queries_of(CHANGED)] * 2, "R@1", per="set", intervals=FEW
    )
    assert [each.kind for each in twice.effects] == ["colour 1", "colour 2"]


def test_a_colour_blind_reader_does_not_notice_colours_and_a_seer_does():
    world = make_world(images=100, captions=3, seed=1)
    bench = world.benchmark()
    kinds = [karat.perturb(bench, kind) for kind in ("colour", "article")]
    found = {}
    for name, blind, wording in (("seer", (), 0.25), ("blind", "colour", 0.25), ("deaf", "colour", 0)):
        runs = [
            simulate_reader(world, texts, blind=blind, wording=wording)
            for texts in (None, *([query.new for query in kind.queries] for kind in kinds))
        ]
        found[name] = karat.robustness(
            runs[0], runs[1:], bench, kinds, "R@1", per="caption", intervals=Intervals(resamples=500)
        )
    seer, blind, deaf = (each.effect("colour") for each in found.values())
    assert "Does it notice colour? Yes" in str(found["seer"])
    assert "Does it notice colour? Not shown" in str(found["blind"])
    assert seer.unnoticed.high < 0.25
    assert seer.beyond_controls.low > 0.2
    assert seer.score_change.high < -1
    # How often its intervals hold is tested in tests/statistical.
    assert blind.unnoticed.low > seer.unnoticed.high
    assert abs(blind.score_change.value) < 0.1
    # Without any noise of wording, nothing that it does not read moves its scores.
    assert deaf.unnoticed.value == deaf.same.value == 1
    for each in found.values():
        control = each.effect("article")
        assert abs(control.score_change.value) < 0.1
        assert control.fall.value == pytest.approx(0.5, abs=0.1)
