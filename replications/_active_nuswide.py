"""Active testing on NUS-WIDE: figures 5, 6 and 8, and the supplement's figure 1, with other tags and scores.

A tag asks for its images; its first 48 are its list, and the lists hold the candidates. The noisy label is
the search word that an image was crawled with, the vetted one the official label. The paper's user tags and
image features are not at hand, so levels differ: a search word finds 8% of what is relevant in the lists,
where the paper's tags had 38%.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
from _active_curves import at as batch_at
from _active_curves import curve_records, paired, print_curves, score_error
from _hodosh_store import Told, tell
from _nuswide_systems import DEPTH, SYSTEMS, file_of, load_nuswide, matrix_runs
from _paper import Records, read_table, record

from karat._util import reporting
from karat.benchmarks import Benchmark
from karat.estimation import (
    METHODS,
    Candidates,
    Curve,
    Method,
    Simulated,
    make_candidates,
    simulate_candidates,
)
from karat.estimation.vetting import truth_labels
from karat.measures import parse_measure

MEASURE = parse_measure(f"P@{DEPTH}")
MORE_METHODS = (
    "meec+learned(smoothing=0)",
    "random+direct",
    "meec+direct",
    "random+mixed",
    "meec+mixed",
    "random+sample-mean",
    "whole-queries+vetted-only",
)
"""Beside the five curves of figure 5."""
PAIRS_OF_METHODS = (
    ("meec+direct", "meec+learned"),
    ("meec+direct", "meec+learned(smoothing=0)"),
    ("meec+learned(smoothing=0)", "meec+learned"),
    ("random+direct", "random+learned"),
    ("meec+direct", "random+direct"),
)
"""Compared on the same repetitions."""
COMPARING = (
    "whole-queries+vetted-only",
    "random+naive",
    "random+sample-mean",
    "random+learned",
    "random+direct",
    "meec+learned",
    "meec+direct",
)
"""The methods of figure 8."""
HALF = 0.5
OTHER_DATA = "the paper's classifier is a ResNet-50's and its noisy labels are user tags, over 81 concepts"
BY_LISTS = (
    "the paper's two systems are Mask R-CNNs on COCO; here five classifiers of NUS-WIDE's tags, ten pairs"
)


def needed(data: Path | None) -> str | None:
    """Return what is missing under `data`, as a note; None where all is there."""
    if data is not None and file_of(data).is_file():
        return None
    return "needs nuswide/nuswide_gt81.npz under --data"


def unanswered(table: str, note: str) -> Records:
    """Return the published numbers of a table without ours."""
    return [
        record(table, line["row"], line["column"], float(line["paper"]), None, note)
        for line in read_table("active_testing", table)
    ]


@lru_cache(maxsize=1)
def benchmark(data: Path) -> Benchmark:
    """Return the test images and the 71 tags that are search words."""
    return load_nuswide(data)


def top_lists(data: Path, systems: tuple[str, ...], tags: int | None) -> tuple[Candidates, np.ndarray]:
    """Return the first 48 images of every tag by some systems, and whether each has the tag."""
    bench = benchmark(data)
    queries = None if tags is None else np.arange(tags)
    candidates = make_candidates(
        matrix_runs(data, systems), bench, "keyword", direction="t2i", depth=DEPTH, noisy_positives=False,
        queries=queries,
    )  # fmt: skip
    return candidates, truth_labels(candidates, bench.truth("gt")) > 0


@lru_cache(maxsize=1)
def one_system(data: Path, times: int, tags: int | None) -> tuple[Simulated, dict[str, Curve]]:
    """Simulate the vetting of one classifier's lists with every method."""
    candidates, relevant = top_lists(data, ("logistic",), tags)
    methods = [Method.parse(name) for name in (*METHODS, *MORE_METHODS)]
    with reporting(Told("NUS-WIDE", parts=1)):
        result = simulate_candidates(candidates, relevant, MEASURE, methods, times=times)
    return result, {curve.method: curve for curve in result.curves}


def section_4_1(data: Path | None, times: int, tags: int | None = None) -> Records:
    """Return how good the noisy labels are, over all images and in the lists."""
    if (note := needed(data)) is not None or data is None:
        return unanswered("4.1", note or "")
    bench = benchmark(data)
    good, word = (bench.truth(name).judgments.pairs() for name in ("gt", "keyword"))
    size = bench.images.size * bench.captions.size
    both = len(np.intersect1d(*(p.image * bench.captions.size + p.caption for p in (good, word))))
    candidates, relevant = top_lists(data, ("logistic",), tags)
    found, noisy = candidates.noisy & relevant, candidates.noisy
    ours = {"recall": 100 * both / len(good), "false tags": 100 * (len(word) - both) / (size - len(good))}
    out = [
        record("4.1", line["row"], line["column"], float(line["paper"]), ours[line["column"]],
               "user tags in the paper, the one search word of each image here")
        for line in read_table("active_testing", "4.1")
    ]  # fmt: skip
    inside = {
        "recall": found.sum() / relevant.sum(),
        "precision": found.sum() / noisy.sum(),
        "false tags": (noisy & ~relevant).sum() / (~relevant).sum(),
    }
    return out + [
        record(
            "4.1", f"noisy tags in the lists of {DEPTH}", column, None, 100 * float(value), "not in the paper"
        )
        for column, value in inside.items()
    ]


def figure_5(data: Path | None, times: int, tags: int | None = None) -> Records:
    """Return the mean over tags of the absolute error against effort, and methods compared in pairs."""
    if (note := needed(data)) is not None or data is None:
        return unanswered("5", note or "")
    result, curves = one_system(data, times, tags)
    noisy = float(100 * np.abs(result.noisy - result.truth)[0])
    meec = curves["meec+learned"]
    half = 100 * meec.error[:, batch_at(meec, HALF)].mean()
    ours = {
        ("NUS-WIDE", "Precision@48"): (float(100 * result.truth[0]), OTHER_DATA),
        ("Microvideos", "Precision@48"): (
            None,
            "needs the vetted tags of MV-85k and a classifier of its videos",
        ),
        ("MEEC with a learned estimator", "absolute error at 50% vetted, from"): (
            half,
            "the text: within 2-3%",
        ),
        ("MEEC with a learned estimator", "absolute error at 50% vetted, to"): (
            half,
            "the text: within 2-3%",
        ),
    }
    out = [
        record("5", line["row"], line["column"], float(line["paper"]), *ours[line["row"], line["column"]])
        for line in read_table("active_testing", "5")
    ]
    start = "without any vetted label"
    out.append(record("5", "naive", "error of the mean at 0%", None, noisy, start))
    shown = [(curve, curve.error) for curve in curves.values()]
    means = [(curve, score_error(result, curve)) for curve in curves.values()]
    title = f"NUS-WIDE, Precision@{DEPTH}: mean over tags of the absolute error, points"
    print_curves(title, shown[:5])
    print_curves("The same, further methods", shown[5:-1])
    print_curves("Error of the mean over tags, points", means[:5])
    print_curves("The same, further methods", means[5:])
    print_pairs(curves)
    defined = shown[:-1]  # Vetted-only has no error per tag: a tag counts once its list is vetted in full.
    out += curve_records("5", "absolute error", defined, note=OTHER_DATA)
    out += curve_records("5", "error of the mean", means, note=OTHER_DATA)
    for first, second in PAIRS_OF_METHODS:
        errors = [curves[name].error[:, batch_at(curves[name], HALF)] for name in (first, second)]
        row = f"{first} − {second}"
        for column, value in zip(("difference", "low", "high"), paired(*errors)):
            about = "absolute error at 50% vetted, same repetitions; 95% t interval over repetitions"
            out.append(record("5", row, column, None, value, about))
    return out


def print_pairs(curves: dict[str, Curve]) -> None:
    """Print how much methods differ at half of the effort."""
    print("\nDifferences of the absolute error at 50% vetted over the same repetitions, points, 95% interval")
    for first, second in PAIRS_OF_METHODS:
        errors = [curves[name].error[:, batch_at(curves[name], HALF)] for name in (first, second)]
        mean, low, high = paired(*errors)
        print(f"  {first} − {second}: {mean:+.2f} [{low:+.2f}, {high:+.2f}]", flush=True)


def supplement_1(data: Path | None, times: int, tags: int | None = None) -> Records:
    """Return the estimated Precision@48 against effort."""
    if (note := needed(data)) is not None or data is None:
        return [record("S1", "NUS-WIDE", "Precision@48", None, None, note or "")]
    result, curves = one_system(data, times, tags)
    shown = [(curve, curve.estimate[..., 0]) for curve in curves.values()]
    true = float(100 * result.truth[0])
    print_curves(f"NUS-WIDE: estimated Precision@{DEPTH}, percent; the true one is {true:.2f}", shown[:5])
    out = [record("S1", "NUS-WIDE", "true Precision@48", None, true, "drawn in the paper, not printed")]
    return out + curve_records("S1", "Precision@48", shown, note=OTHER_DATA)


def figure_6(data: Path | None, times: int, tags: int | None = None) -> Records:
    """Return errors before and after each refit: what labels bring by themselves, and what the model does."""
    if (note := needed(data)) is not None or data is None:
        return [record("6", "NUS-WIDE", "absolute error", None, None, note or "")]
    _, curves = one_system(data, times, tags)
    out: Records = []
    for name in ("random+learned", "meec+learned", "meec+direct"):
        curve = curves[name]
        parts = {"before the refit": curve.error_before, "after it": curve.error}
        title = f"{name}: absolute error before and after each refit, points"
        print_curves(title, [(curve, values) for values in parts.values()], heads=parts)
        for when, values in parts.items():
            efforts = (0.1, 0.2, 0.3, 0.4, 0.5, 0.75)
            out += curve_records("6", f"absolute error {when}", [(curve, values)], efforts, OTHER_DATA)
    return out


def figure_8(data: Path | None, times: int, tags: int | None = None) -> Records:
    """Return the squared error of gaps and the share of wrong orders over pairs of classifiers."""
    if (note := needed(data)) is not None or data is None:
        return unanswered("8", note or "")
    candidates, relevant = top_lists(data, tuple(SYSTEMS), tags)
    tell(f"NUS-WIDE, {len(SYSTEMS)} classifiers: {candidates!r}")
    methods = [Method.parse(name) for name in COMPARING]
    with reporting(Told("NUS-WIDE, pairs of classifiers", parts=1)):
        result = simulate_candidates(
            candidates, relevant, MEASURE, methods, times=times, before=False, batch=0.1
        )
    gaps = {curve.method: result.gaps(curve) for curve in result.curves}
    scores = ", ".join(f"{run} {100 * score:.2f}" for run, score in zip(result.runs, result.truth))
    print(f"\nPairs of classifiers: true Precision@{DEPTH} {scores}")
    squared = [(curve, gaps[curve.method][0]) for curve in result.curves]
    wrong = [(curve, gaps[curve.method][1]) for curve in result.curves]
    print_curves("Squared error of the gaps, squared points", squared, scale=1e4)
    print_curves("Pairs in the wrong order, percent", wrong)
    by_name = {curve.method: values[:, batch_at(curve, HALF)] for curve, values in wrong}
    ours = {
        "vetted only": "whole-queries+vetted-only",
        "learned estimator with active vetting": "meec+learned",
    }
    out = [
        record("8", line["row"], line["column"], float(line["paper"]),
               float(100 * by_name[ours[line["row"]]].mean()), BY_LISTS)
        for line in read_table("active_testing", "8")
    ]  # fmt: skip
    efforts = (0.1, 0.2, 0.3, 0.5)
    out += curve_records("8", "squared error of gaps", squared, efforts, BY_LISTS, 1e4)
    return out + curve_records("8", "wrong order", wrong, efforts, BY_LISTS)
