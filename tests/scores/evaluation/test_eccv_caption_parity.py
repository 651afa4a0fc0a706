"""Every number of the default COCO family equals the eccv_caption package's own, to 1e-9.

The package filters whole rankings, a Python list per query, again for each k. What it computes depends on the
first items alone, so it gets those; the tests make sure that they are enough.
"""

import warnings

import numpy as np
import pytest

import karat

KINDS = ("random", "strong", "truncated")
DEPTH = 200
"""The longest list of relevant captions has some fifty; of two hundred items a fifth are in a fold."""
OURS = {
    "coco_5k": "coco-5k",
    "coco_1k": "coco-1k",
    "cxc": "cxc",
}


class Rows(dict):
    """Ranked ids by query id, each list made when it is asked for."""

    def __init__(self, queries, items, order):
        super().__init__()
        self.row = {query: k for k, query in enumerate(queries.tolist())}
        self.items_by_place, self.order = items, order

    def __getitem__(self, query):
        return self.items_by_place[self.order[self.row[int(query)]]].tolist()

    def __len__(self):
        return len(self.row)

    def complete(self):
        return {query: self[query] for query in self.row}


def make_scores(kind: str, coco) -> np.ndarray:
    rng = np.random.default_rng(KINDS.index(kind))
    scores = rng.random((5000, 25000), dtype=np.float32)
    if kind != "random":
        # Own captions and, to make RP and mAP@R meaningful, the positives that people found.
        for truth in ("coco-5k", "eccv"):
            pairs = coco.truth(truth).judgments.pairs()
            inside = pairs.caption < 25000
            scores[pairs.image[inside], pairs.caption[inside]] += rng.random(
                int(inside.sum()), dtype=np.float32
            )
    return scores


def orders(scores: np.ndarray) -> dict[str, np.ndarray]:
    """Return the first items of every ranking, equal scores in the order of the ids."""
    order = {}
    for direction, table in (("i2t", scores), ("t2i", scores.T)):
        rows = np.empty((len(table), DEPTH), np.int32)
        for begin in range(0, len(table), 500):
            block = -np.ascontiguousarray(table[begin : begin + 500])
            # A few more, so that equal scores at the end of a list are among them.
            first = np.sort(np.argpartition(block, DEPTH + 50, axis=1)[:, : DEPTH + 50], axis=1)
            best = np.argsort(np.take_along_axis(block, first, 1), axis=1, kind="stable")[:, :DEPTH]
            rows[begin : begin + 500] = np.take_along_axis(first, best, 1)
        order[direction] = rows
    return order


def check_depth(coco, order: dict[str, np.ndarray]) -> None:
    """Make sure that no relevant item of R-Precision, and none of the first ten of a fold, lies deeper."""
    pairs = coco.truth("eccv").judgments.pairs()
    for query in (pairs.image, pairs.caption):
        assert np.bincount(query[pairs.grade > 0]).max() <= DEPTH
    for fold in coco.truth("coco-1k").folds:
        for own, others, rows in (
            (fold.images, fold.captions, order["i2t"]),
            (fold.captions, fold.images, order["t2i"]),
        ):
            member = np.zeros(25000, dtype=bool)
            member[others] = True
            assert member[rows[own]].sum(axis=1).min() >= 10


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_every_number(kind: str, coco):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from eccv_caption import Metrics
    scores = make_scores(kind, coco)
    order = orders(scores)
    check_depth(coco, order)
    if kind == "truncated":
        order = {direction: rows[:, :50] for direction, rows in order.items()}
    images, captions = coco.images.gallery, coco.captions.gallery
    i2t, t2i = Rows(images, captions, order["i2t"]), Rows(captions, images, order["t2i"])
    if kind == "truncated":
        run = karat.load_run({"i2t": i2t.complete(), "t2i": t2i.complete()})
    else:
        run = karat.load_run(scores)
    # Both sides leave equal scores in the order of the ids.
    card = karat.evaluate(run, coco, ties="stable")
    targets = ["coco_5k_recalls", "cxc_recalls", "eccv_r1", "eccv_rprecision", "eccv_map_at_r"]
    if kind != "truncated":
        targets.append("coco_1k_recalls")
    theirs = Metrics().compute_all_metrics(i2t, t2i, target_metrics=targets, Ks=(1, 5, 10))
    names = {
        "eccv_r1": ("eccv", "R@1"),
        "eccv_rprecision": ("eccv", "RP"),
        "eccv_map_at_r": ("eccv", "mAP@R"),
    }
    for prefix, truth in OURS.items():
        names |= {f"{prefix}_r{k}": (truth, f"R@{k}") for k in (1, 5, 10)}
    compared = 0
    for name, values in theirs.items():
        truth, measure = names[name]
        for direction, value in values.items():
            ours = card.value(measure, truth=truth, direction=direction)
            assert ours == pytest.approx(float(value), abs=1e-9), (name, direction)
            compared += 1
        mean = card.value(measure, truth=truth)
        assert mean == pytest.approx((float(values["i2t"]) + float(values["t2i"])) / 2, abs=1e-9)
    assert compared == (18 if kind == "truncated" else 24)


def test_dropping_the_off_gallery_positives_would_show(coco):
    """Two ECCV captions are not in the gallery: without them mAP@R shifts by more than 1e-5."""
    scores = np.zeros((5000, 25000), np.float32)
    pairs = coco.truth("eccv").judgments.pairs()
    inside = pairs.caption < 25000
    scores[pairs.image[inside], pairs.caption[inside]] = 1
    card = karat.evaluate(scores, coco, ["mAP@R", "RP"], truth="eccv")
    assert card.value("mAP@R", direction="t2i") == 1
    for measure in ("mAP@R", "RP"):
        assert 1e-5 < 1 - card.value(measure, direction="i2t") < 2e-4
