"""Plausible Match from boxes: counts and scores equal brute force, and memory holds the class vectors."""

import itertools
import json

import numpy as np
import pytest

import karat
from karat.benchmarks import Benchmark, Ids, Truth
from karat.benchmarks.plausible_match import PlausibleMatch


def brute_vectors(data) -> list[frozenset]:
    boxes = json.loads((data / "coco" / "coco_karpathy_test_boxes.json").read_text())["images"]
    return {int(image): frozenset(box[0] for box in found) for image, found in boxes.items()}


def test_counts_equal_brute_force(plausible, data):
    classes = brute_vectors(data)
    shown = [classes.get(int(image), frozenset()) for image in plausible.images.gallery]
    assert sum(bool(found) for found in shown) == 4952
    some = np.random.default_rng(0).permutation(5000)[:60]
    for zeta in (0, 1, 2):
        rule = plausible.truth(f"pm(z={zeta})").rule
        brute = [sum(len(shown[i] ^ other) <= zeta for other in shown) for i in some]
        assert rule.positives("t2i", 5 * some).tolist() == brute
        assert rule.positives("i2t", some).tolist() == [5 * count for count in brute]


def test_all_counts_equal_one_matrix_product(plausible):
    vectors = plausible.objects.class_vectors(5000).astype(np.float32)
    sizes = vectors.sum(axis=1)
    differ = sizes[:, None] + sizes - 2 * vectors @ vectors.T
    rows = {row["truth"]: row for row in plausible.summary()}
    for zeta in (0, 1, 2):
        expected = int((differ <= zeta).sum()) * 5
        assert (
            rows[f"pm(z={zeta})"]["t2i"]["positives"] == rows[f"pm(z={zeta})"]["i2t"]["positives"] == expected
        )


@pytest.mark.parametrize("kind", ["random", "strong"])
def test_pmrp_equals_brute_force(plausible, kind):
    rng = np.random.default_rng(4)
    scores = rng.random((5000, 25000), dtype=np.float32)
    vectors = plausible.objects.class_vectors(5000).astype(np.float32)
    if kind == "strong":
        alike = 0.1 * (vectors @ vectors.T)
        scores += alike[:, plausible.caption_image]
    truths = ["pm(z=0)", "pm(z=1)", "pm(z=2)"]
    card = karat.evaluate(scores, plausible, ["RP(cut=50)", "PMRP"], truth=truths, ties="stable")
    sizes = vectors.sum(axis=1)
    differ = sizes[:, None] + sizes - 2 * vectors @ vectors.T
    owner = plausible.caption_image
    for zeta, direction in itertools.product((0, 1, 2), ("i2t", "t2i")):
        column = card.column("RP(cut=50)", truth=f"pm(z={zeta})", direction=direction)
        assert column.value == pytest.approx(column.values.mean(), abs=1e-12)
        for q in range(0, len(column.values), 37):
            row = scores[q] if direction == "i2t" else scores[:, q]
            relevant = (differ[q][owner] if direction == "i2t" else differ[owner[q]]) <= zeta
            r = min(50, int(relevant.sum()))
            assert column.values[q] == pytest.approx(relevant[np.argsort(-row, kind="stable")[:r]].mean())
    parts = [card.value("RP(cut=50)", truth=truth, direction=d) for truth in truths for d in ("i2t", "t2i")]
    assert card.value("PMRP", truth="pm(z=2)", direction="both") == pytest.approx(np.mean(parts))
    if kind == "strong":
        assert card.value("RP(cut=50)", truth="pm(z=2)") > 0.4


def test_only_the_class_vectors_are_kept(plausible):
    rule = plausible.truth("pm(z=2)").rule
    assert rule.words.nbytes == 5000 * 16
    kept = [value for value in vars(rule).values() if isinstance(value, np.ndarray)]
    assert sum(value.nbytes for value in kept) < 500_000


def test_more_classes_than_a_word_and_none_at_all():
    rng = np.random.default_rng(1)
    for classes in (0, 1, 64, 65, 130):
        vectors = rng.random((9, classes)) < 0.3
        rule = PlausibleMatch(vectors, np.arange(9), zeta=classes // 3)
        i, j = np.indices((9, 9)).reshape(2, -1)
        expected = (vectors[i] != vectors[j]).sum(axis=1) <= classes // 3
        assert rule.relevant("i2t", i, j).tolist() == expected.tolist()


def test_a_benchmark_without_the_truths_says_so():
    rule = PlausibleMatch(np.eye(2, dtype=bool), np.arange(2))
    bench = Benchmark(
        "b", Ids([1, 2]), Ids([1, 2]), {"pm(z=2)": Truth("pm(z=2)", None, {"i2t": np.arange(2)}, rule=rule)}
    )
    with pytest.raises(karat.KaratError, match=r"b has no truth 'pm\(z=0\)'"):
        karat.evaluate(np.eye(2), bench, ["PMRP"])
