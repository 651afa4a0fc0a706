"""Explanation of failures: 28,817 of them with 15 × 15 non-common concepts, and COCO's own with boxes."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _made import nltk_wordnet
from _stopwatch import DATA, in_own_process, left_out, main, peak_mb, peer_side, record, sized, timed

FAILURES, ALONE, SAMPLE = sized((28_817, 15, 200), (20, 5, 3))


def crowded_images() -> tuple[list[dict[str, int]], np.ndarray, np.ndarray]:
    """Return images, and pairs of them that have no concept in common: 15 each, of 1,000 nouns."""
    from karat.lexicon import wordnet

    wn = wordnet()
    rng = np.random.default_rng(6)
    rows = rng.choice(np.flatnonzero(wn.parts == 0), 1000, replace=False)
    names = list(dict.fromkeys(wn.name(row) for row in rows.tolist()))
    images = []
    for _ in range(FAILURES):
        both = rng.choice(len(names), 2 * ALONE, replace=False).tolist()
        images += [{names[k]: 1 for k in half} for half in (both[:ALONE], both[ALONE:])]
    pairs = np.arange(FAILURES)
    return images, 2 * pairs, 2 * pairs + 1


def matching() -> dict[str, float]:
    from karat.explanations import compare_concepts, make_concepts

    images, ground, retrieved = crowded_images()
    few = make_concepts(images[:4])
    begin = time.perf_counter()
    compare_concepts(few, [0, 2], [1, 3])
    warm_up = time.perf_counter() - begin
    concepts = make_concepts(images)
    seconds = timed(lambda: compare_concepts(concepts, ground, retrieved))
    metrics = compare_concepts(concepts, ground[:SAMPLE], retrieved[:SAMPLE])
    return {
        "s": seconds,
        "warm_up": warm_up,
        "mb": peak_mb(),
        "mean": float(metrics.similarity.mean()),
    }


def one_by_one() -> dict[str, float]:
    """The same failures one by one: NLTK's path similarity of all pairs, then scipy's assignment."""
    warnings.simplefilter("ignore")
    with nltk_wordnet() as root:
        import nltk
        from nltk.corpus.reader import WordNetCorpusReader

        nltk.data.path.append(str(root))
        reader = WordNetCorpusReader(str(root / "corpora" / "wordnet"), None)
        return matched_by_scipy(
            lambda a, b: [[one.path_similarity(other) for other in b] for one in a], reader
        )


def matched_by_scipy(table_of: Callable, reader: Any) -> dict[str, float]:
    """Return the time of a sample of failures, for all of them."""
    from scipy.optimize import linear_sum_assignment

    from karat.lexicon import wordnet

    wn = wordnet()
    images, ground, retrieved = crowded_images()
    kept: dict[str, Any] = {}

    def synset(name: str) -> Any:
        if name not in kept:
            kept[name] = reader.synset_from_pos_and_offset("n", wn.offset(wn.synset(name)))
        return kept[name]

    def explain(number: int) -> list[float]:
        means = []
        for g, r in zip(ground[:number].tolist(), retrieved[:number].tolist()):
            first, second = ([synset(name) for name in images[image]] for image in (g, r))
            table = np.array(table_of(first, second))
            means.append(table[linear_sum_assignment(-table)].mean())
        return means

    explain(2)
    means: list[float] = []
    seconds = timed(lambda: means.extend(explain(SAMPLE)))
    return {"s": seconds * FAILURES / SAMPLE, "mb": peak_mb(), "mean": float(np.mean(means))}


def one_table() -> dict[str, float]:
    """The best plain way: the same table over all synsets, then scipy's assignment, failure by failure."""
    from scipy.optimize import linear_sum_assignment

    from karat.lexicon import wordnet

    wn = wordnet()
    images, ground, retrieved = crowded_images()
    rows = [[wn.synset(name) for name in image] for image in images]
    linear_sum_assignment(np.eye(2))
    means: list[float] = []

    def explain() -> None:
        known, place = np.unique(np.array(rows), return_inverse=True)
        place = place.reshape(-1, ALONE)
        similarity = wn.path_similarity(known, known)
        for g, r in zip(ground.tolist(), retrieved.tolist()):
            table = similarity[np.ix_(place[g], place[r])]
            means.append(table[linear_sum_assignment(table, maximize=True)].mean())

    return {"s": timed(explain), "mb": peak_mb(), "mean": float(np.mean(means[:SAMPLE]))}


def coco_failures() -> dict[str, float]:
    import karat
    from karat.captions import all_pairs

    coco = karat.load_benchmark("coco")
    scores = all_pairs(coco, "cider", leave_out=True)
    run = karat.load_run(scores, benchmark=coco)
    karat.explain(run, coco, direction="i2t")
    explained = []
    fresh = karat.load_benchmark("coco")
    seconds = timed(lambda: explained.append(karat.explain(run, fresh, direction="t2i")))
    return {"s": seconds, "failures": explained[0].records()[0]["failures"], "mb": peak_mb()}


def measure() -> list[dict]:
    ours, table = (in_own_process(__file__, side) for side in ("matching", "one-table"))
    singly = peer_side("nltk", __file__, "one-by-one", smoke=False)
    for other in filter(None, (singly, table)):
        assert abs(ours["mean"] - other["mean"]) < 1e-9, "all sides find the same matchings"
    what = (
        "path similarities of 1,000 synsets and the best matching of every failure, after loading or "
        f"compiling the kernels ({ours['warm_up']:.1f} s, with WordNet); "
    )
    records = [
        record(
            f"concept metrics, {ALONE} x {ALONE} concepts", f"{FAILURES} failures", ours, what + more,
            peer=peer, theirs=other,
        )
        for peer, other, more in (
            ("nltk + scipy, one by one", singly, f"the other side does {SAMPLE} of them, times their number"),
            ("one table + scipy", table, "the other side takes karat's table; no sizes or counts"),
        )
    ]  # fmt: skip
    if DATA is None:
        left_out("explanation of COCO's failures", "needs KARAT_DATA")
    else:
        coco = in_own_process(__file__, "coco")
        what = (
            "CIDEr with the image's other captions, 25,000 captions asking for 5,000 images: first "
            "items, boxes, all metrics and positions; kernels loaded; memory with the scores"
        )
        records.append(record("explanation of COCO's failures", f"{coco['failures']} failures", coco, what))
    return records


if __name__ == "__main__":
    main(
        measure,
        {"matching": matching, "one-by-one": one_by_one, "one-table": one_table, "coco": coco_failures},
    )
