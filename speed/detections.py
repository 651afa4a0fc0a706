"""100,000 detections: scored against pycocotools, and the next instances to vet against plain numpy."""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
from _stopwatch import in_own_process, main, peak_mb, peer_side, record, sized, timed

IMAGES, DETECTIONS, CATEGORIES, BATCH = sized((5000, 100_000, 80, 1000), (20, 200, 5, 10))


def made() -> tuple[dict, list[dict]]:
    """Return boxes of instances and detections: most detections lie near an instance."""
    rng = np.random.default_rng(1)
    number = int(0.4 * DETECTIONS)
    image, category = rng.integers(IMAGES, size=number), rng.integers(CATEGORIES, size=number)
    box = np.column_stack([rng.uniform(0, 500, (number, 2)), rng.uniform(20, 120, (number, 2))])
    at = rng.integers(number, size=DETECTIONS)
    seen = np.maximum(box[at] + rng.normal(scale=8, size=(DETECTIONS, 4)), 1)
    score = rng.random(DETECTIONS)
    content = {
        "images": [{"id": n, "height": 640, "width": 640} for n in range(IMAGES)],
        "categories": [{"id": n, "name": f"c{n}"} for n in range(CATEGORIES)],
        "annotations": [
            {
                "id": n + 1,
                "image_id": int(i),
                "category_id": int(c),
                "bbox": b,
                "area": b[2] * b[3],
                "iscrowd": 0,
            }
            for n, (i, c, b) in enumerate(zip(image, category, box.tolist()))
        ],
    }
    results = [
        {"image_id": int(image[g]), "category_id": int(category[g]), "bbox": b, "score": float(s)}
        for g, b, s in zip(at, seen.tolist(), score)
    ]
    return content, results


def pairs_of(size: int | None = None):
    """Return the detections paired with the instances."""
    from karat.benchmarks import load_instances
    from karat.estimation import make_detected_pairs
    from karat.runs import load_detections

    content, results = made()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("instances.json", "detections.json")]
        for file, data in zip(files, (content, results[:size])):
            file.write_text(json.dumps(data))
        run = load_detections(files[1], load_instances(files[0]))
    return lambda: make_detected_pairs([run])


def scored() -> dict[str, float]:
    """Pair, match and score by COCO's AP."""
    from karat.estimation.vetting import values_per_query
    from karat.measures import parse_measure

    def step(pair) -> None:
        pairs = pair()
        values_per_query(pairs, pairs.labels, parse_measure("iAP"))

    step(pairs_of(200))
    pair = pairs_of()
    return {"s": timed(lambda: step(pair)), "mb": peak_mb()}


def scored_by_pycocotools() -> dict[str, float]:
    """The same by its evaluation, with the one range of areas."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    content, results = made()
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = content
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluation.params.maxDets = [100]
        seconds = timed(lambda: (evaluation.evaluate(), evaluation.accumulate()))
    return {"s": seconds, "mb": peak_mb()}


def chosen() -> dict[str, float]:
    """Choose the next instances by expected change."""
    from karat.estimation import STRATEGIES, VettedLabels
    from karat.measures import parse_measure

    measure, strategy = parse_measure("AP"), STRATEGIES["meec"]()

    def prepare(size: int | None):
        pairs = pairs_of(size)()
        rng = np.random.default_rng(1)
        p = np.where(pairs.possible, rng.random(len(pairs)), 0.0)
        labels, open_rows = VettedLabels.none(pairs), np.flatnonzero(pairs.asked)
        return lambda: strategy.choose(labels, p, measure, open_rows, BATCH, rng)

    prepare(200)()
    return {"s": timed(prepare(None)), "mb": peak_mb()}


def chosen_by_numpy() -> dict[str, float]:
    """The same by the formula of independent matches, category by category and threshold by threshold."""
    pairs = pairs_of()()
    rng = np.random.default_rng(1)
    score = next(iter(pairs.scores.values()))
    p = np.where(pairs.possible, rng.random(len(pairs)), 0.0)

    def step() -> None:
        change = np.zeros(len(p))
        for begin, end in zip(pairs.ptr[:-1], pairs.ptr[1:]):
            rows = begin + np.argsort(-score[begin:end], kind="stable")
            q, rank = p[rows], np.arange(1, end - begin + 1)
            number = len(np.unique(pairs.unit[rows]))
            before, after = np.cumsum(q) - q, np.cumsum((q / rank)[::-1])[::-1] - q / rank
            change[rows] = 2 * q * (1 - q) * ((1 + before) / rank + after) / number
        np.argpartition(-np.bincount(pairs.unit, change), BATCH)[:BATCH]

    return {"s": timed(step), "mb": peak_mb()}


SIDES = {"score": scored, "pycocotools": scored_by_pycocotools, "choose": chosen, "numpy": chosen_by_numpy}


def measure() -> list[dict]:
    """Measure both jobs."""
    jobs = {
        "AP of detections": (
            "score",
            "pycocotools",
            "boxes paired, matched at 10 thresholds and scored; files read beforehand",
        ),
        "batch of instances to vet": (
            "choose",
            "numpy",
            f"MEEC chooses {BATCH:,} instances by their detections at 10 thresholds; numpy: without "
            "competition for instances; paired beforehand",
        ),
    }
    records = []
    for name, (side, peer, what) in jobs.items():
        ours, theirs = in_own_process(__file__, side), peer_side(peer, __file__, peer)
        records.append(record(name, f"{DETECTIONS:,}", ours, what, peer=peer, theirs=theirs))
    return records


if __name__ == "__main__":
    main(measure, SIDES)
