"""Active testing on COCO's sample of instance segmentation: figures 3, 7 and 8.

The paper took COCO's minival2014 and the detections of three Mask R-CNN variants, which were not published.
Here are the 100 images and the made-up detections that come with COCO's evaluation code. An instance that
is not vetted has its box instead of its mask. The further systems of figure 8 are perturbed copies.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from _active_curves import at as batch_at
from _active_curves import curve_records, paired, print_curves, score_error
from _active_nuswide import unanswered
from _hodosh_store import Told, tell
from _paper import Records, read_table, record

from karat._util import reporting
from karat.benchmarks import Instances, load_instances
from karat.benchmarks.masks import parse_counts
from karat.estimation import (
    DETECTION_METHODS,
    Curve,
    DetectedPairs,
    Method,
    Simulated,
    make_detected_pairs,
    simulate_candidates,
)
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure
from karat.runs import Detections, load_detections

INSTANCES = "cocoapi/instances_val2014_100.json"
MASKS = "cocoapi/instances_val2014_fakesegm100_results.json"
BOXES = "cocoapi/instances_val2014_fakebbox100_results.json"
COCO, EQUATION_9 = parse_measure("iAP"), parse_measure("AP")
HALF = 0.5
DRAWS = 64
"""Versions of the labels that are drawn for COCO's AP."""
BATCH, EFFORTS = 0.1, (0.1, 0.2, 0.3, 0.5, 0.8)
FURTHER = ("random+direct", "meec+direct")
"""Beside the curves of figure 7."""
LEARNED = "meec+chi2-svm"
BASELINES = ("random+naive", "whole-images+vetted-only")
"""What the learned estimator with active vetting is compared with on the same repetitions."""
COMPARING = (
    "whole-images+vetted-only",
    "random+naive",
    "random+direct",
    "meec+direct",
    "meec+chi2-svm(most=300)",
)
OTHER_DATA = (
    "the paper has 5,000 images and Mask R-CNNs; here COCO's 100 sample images and made-up detections"
)
PERTURBED = f"{OTHER_DATA}; the systems are the sample and perturbed copies of it, all pairs"


def needed(data: Path | None) -> str | None:
    """Return what is missing under `data`, as a note; None where all is there."""
    if data is not None and all((data / name).is_file() for name in (INSTANCES, MASKS, BOXES)):
        return None
    return "needs the sample of COCO's evaluation code in cocoapi/ under --data"


@lru_cache(maxsize=1)
def instances(data: Path) -> Instances:
    """Return the annotated objects."""
    return load_instances(data / INSTANCES)


@lru_cache(maxsize=1)
def one_system(data: Path, times: int) -> tuple[DetectedPairs, Simulated]:
    """Simulate the vetting of the sample's instances with every method."""
    pairs = make_detected_pairs([load_detections(data / MASKS, instances(data), "sample")])
    methods = [Method.parse(name) for name in (*DETECTION_METHODS, *FURTHER)]
    with reporting(Told("COCO", parts=1)):
        result = simulate_candidates(
            pairs, pairs.labels > 0, COCO, methods, times=times, batch=BATCH, draws=DRAWS, before=False
        )
    return pairs, result


def figure_3(data: Path | None) -> Records:
    """Return the scores by masks and by boxes, by both definitions of AP."""
    if (note := needed(data)) is not None or data is None:
        return [record("3", "sample detections", "AP", None, None, note or "")]
    out = []
    for row, file in (("detections with masks", MASKS), ("detections with boxes", BOXES)):
        pairs = make_detected_pairs([load_detections(data / file, instances(data), row)])
        vetted = pairs.vetted_by(np.ones(len(pairs), bool))
        for name, measure in (("COCO's AP", COCO), ("AP of eq. 9", EQUATION_9)):
            for labels, state, grade in (
                ("masks", vetted, pairs.labels),
                ("boxes", pairs, pairs.noisy * 1.0),
            ):
                value = 100 * float(values_per_query(state, grade, measure).mean())
                about = (
                    "the evaluation of pycocotools gives 32.0 for masks, 50.5 for boxes"
                    if name[0] == "C"
                    else ""
                )
                out.append(record("3", row, f"{name} by {labels}", None, value, about))
    return out


def figure_7(data: Path | None, times: int) -> Records:
    """Return errors against effort, and the paper's numbers at half of the effort beside ours."""
    if (note := needed(data)) is not None or data is None:
        return unanswered("7", note or "")
    _, result = one_system(data, times)
    curves = {curve.method: curve for curve in result.curves}
    errors = [(curve, curve.error) for curve in result.curves]
    means = [(curve, score_error(result, curve)) for curve in result.curves]
    true, noisy = 100 * float(result.truth[0]), 100 * float(result.noisy[0])
    print_curves("COCO's sample: mean over categories of the absolute error of AP, points", errors)
    print_curves("Error of the mean AP, points", means)
    print_curves(
        f"Estimated AP, percent; the true one is {true:.2f}, that by boxes {noisy:.2f}",
        [(curve, curve.estimate[..., 0]) for curve in result.curves],
    )
    best = curves[LEARNED]
    half = score_error(result, best)[:, batch_at(best, HALF)]
    ours = (100 * float(half.mean()), 100 * float(best.estimate[:, batch_at(best, HALF), 0].std(ddof=1)))
    out = [
        record("7", line["row"], line["column"], float(line["paper"]), value, OTHER_DATA)
        for line, value in zip(read_table("active_testing", "7"), ours)
    ]
    out.append(record("7", "boxes alone", "AP at 0% vetted", None, noisy, "naive, before anything is vetted"))
    out.append(
        record("7", "all masks", "AP at 100% vetted", None, true, "the evaluation of pycocotools: 32.0")
    )
    out += curve_records("7", "absolute error per category", errors, EFFORTS, OTHER_DATA)
    out += curve_records("7", "error of the mean", means, EFFORTS, OTHER_DATA)
    out += compared(
        "7", curves, {curve.method: values for curve, values in errors}, "absolute error per category"
    )
    return out + compared("7", curves, {curve.method: values for curve, values in means}, "error of the mean")


def compared(table: str, curves: dict[str, Curve], values: dict[str, np.ndarray], what: str) -> Records:
    """Return how much better than the baselines the learned estimator is at half of the effort."""
    out = []
    for other in BASELINES:
        first, second = (values[name][:, batch_at(curves[name], HALF)] for name in (LEARNED, other))
        mean, low, high = paired(first, second)
        print(f"{LEARNED} − {other}, {what} at 50%: {mean:+.2f} [{low:+.2f}, {high:+.2f}]", flush=True)
        about = f"{what} at 50% vetted, same repetitions; 95% t interval over repetitions"
        for column, value in zip(("difference", "low", "high"), (mean, low, high)):
            out.append(record(table, f"{LEARNED} − {other}", f"{what}, {column}", None, value, about))
    return out


def figure_8(data: Path | None, times: int) -> Records:
    """Return the squared error of gaps and the share of wrong orders over pairs of systems."""
    published = read_table("active_testing", "8")
    if (note := needed(data)) is not None or data is None:
        return [
            record("8", f"detections, {line['row']}", line["column"], float(line["paper"]), None, note or "")
            for line in published
        ]
    pairs = make_detected_pairs(systems(data))
    tell(f"COCO, perturbed systems: {pairs!r}")
    methods = [Method.parse(name) for name in COMPARING]
    with reporting(Told("COCO, perturbed systems", parts=1)):
        result = simulate_candidates(
            pairs, pairs.labels > 0, EQUATION_9, methods, times=times, batch=BATCH, before=False
        )
    scores = ", ".join(f"{run} {100 * score:.2f}" for run, score in zip(result.runs, result.truth))
    print(f"\nSystems: true AP {scores}")
    gaps = {curve.method: result.gaps(curve) for curve in result.curves}
    squared = [(curve, gaps[curve.method][0]) for curve in result.curves]
    wrong = [(curve, gaps[curve.method][1]) for curve in result.curves]
    print_curves("Squared error of the gaps, squared points", squared, scale=1e4)
    print_curves("Pairs in the wrong order, percent", wrong)
    at_half = {curve.method: 100 * float(values[:, batch_at(curve, HALF)].mean()) for curve, values in wrong}
    ours = {"vetted only": COMPARING[0], "learned estimator with active vetting": COMPARING[-1]}
    out = [
        record("8", f"detections, {line['row']}", line["column"], float(line["paper"]),
               at_half[str(Method.parse(ours[line["row"]]))], PERTURBED)
        for line in published
    ]  # fmt: skip
    out += curve_records("8", "detections: squared error of gaps", squared, EFFORTS, PERTURBED, 1e4)
    return out + curve_records("8", "detections: wrong order", wrong, EFFORTS, PERTURBED)


def systems(data: Path) -> list[Detections]:
    """Return the sample and copies of it: with noise on scores, masks shifted, and detections left out."""
    sample = load_detections(data / MASKS, instances(data), "sample")
    rng = np.random.default_rng(8)
    noise = replace(
        sample, name="noisy scores", score=sample.score + rng.normal(scale=0.15, size=len(sample))
    )
    return [
        sample,
        noise,
        shifted(sample, 2, "shifted by 2 pixels"),
        some(sample, rng.random(len(sample)) < 0.9),
    ]


def some(run: Detections, kept: np.ndarray) -> Detections:
    """Return a part of the detections."""
    columns = {name: getattr(run, name)[kept] for name in ("image", "category", "score", "box")}
    masks = tuple(mask for mask, keep in zip(run.masks or (), kept) if keep)
    return replace(run, name="a tenth left out", masks=masks, **columns)


def shifted(run: Detections, pixels: int, name: str) -> Detections:
    """Return the detections with their masks moved to the right."""
    from pycocotools import mask as tool

    moved = []
    for mask in run.masks or ():
        height, width = mask["size"]
        # Run lengths go down the columns: the first becomes longer, and what leaves the image is cut off.
        ends = np.cumsum(parse_counts(mask["counts"].decode())) + pixels * height
        counts = np.diff(np.minimum(ends, height * width), prepend=0).tolist()
        moved.append(tool.frPyObjects({"size": [height, width], "counts": counts}, height, width))
    return replace(run, name=name, masks=tuple(moved), box=np.asarray(tool.toBbox(moved)))
