"""Write the tables of docs/estimate-comparison.md: karat's estimates beside others, with equal budgets.

    python scripts/compare_estimates.py                       # half an hour on two cores
    python scripts/compare_estimates.py --times 5 --output /tmp/comparison.md
    python scripts/compare_estimates.py --parts kcca --times 200

Needs nothing but karat. Where they are installed, ppi_py (`pip install ppi-python`) and GLIDE (`pip install
glide-py`) are compared too; where KARAT_DATA has flickr8k, its crowd labels are used as well. The part `kcca`
fits two systems of replications/hodosh.py to its images, which takes minutes, once (--cache keeps them). The
tables go between the two marks of the page; those of `kcca` have marks of their own.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

import karat
from karat.benchmarks import Benchmark, Direction, Truth
from karat.captions import pair_scores
from karat.estimation import (
    DESIGNS,
    ESTIMATORS,
    Candidates,
    Draw,
    VettedLabels,
    confidence_sequence,
    interval_estimates,
    make_candidates,
    parse_name,
    score_features,
    truth_labels,
)
from karat.estimation.proxies import cross_fitted, folds_of
from karat.estimation.query_means import clusters_of
from karat.estimation.relevance import labels_of
from karat.estimation.vetting import values_per_query
from karat.measures import parse_measure
from karat.runs import MatrixRun
from karat.world import make_world, simulate_systems

PAGE = Path(__file__).parents[1] / "docs" / "estimate-comparison.md"
REPLICATIONS = Path(__file__).parents[1] / "replications"
PARTS = ("sequences", "world", "flickr8k", "kcca")
P10 = parse_measure("P@10")
BUDGETS = (100, 500, 2000)
ROUNDS = {100: (40, 60), 500: (100, 150, 250), 2000: (200, 400, 600, 800)}
"""How many pairs each batch of an adaptive design has."""
ESTIMATOR = "mixed"

Answer = tuple[float, float]
"""An estimate and the half-width of its interval."""
Method = Callable[["LabelledRun", int, np.random.Generator], Answer]


@dataclass(frozen=True, eq=False)
class LabelledRun:
    """A run whose first ten items of every query all have labels; others may follow it."""

    title: str
    candidates: Candidates
    label: np.ndarray
    cluster: np.ndarray

    @cached_property
    def rows(self) -> np.ndarray:
        """The pairs that count."""
        return np.flatnonzero(self.candidates.matter(P10))

    @cached_property
    def truth(self) -> float:
        """P@10 of the first run by all labels."""
        return float(values_per_query(self.candidates, self.label, P10)[0].mean())

    @cached_property
    def weight(self) -> np.ndarray:
        """How much each pair that counts adds to the score."""
        return np.full(len(self.rows), 1 / (10 * len(self.candidates.queries)))

    @cached_property
    def fold(self) -> np.ndarray:
        """The fold of each pair: those of one image share it."""
        return folds_of(self.cluster, 5, 0)[self.candidates.query]

    def labels(self, rows: np.ndarray) -> VettedLabels:
        """Return the labels of some pairs."""
        return VettedLabels(self.candidates, rows, self.label[rows] > 0)

    def fitted(self, rows: np.ndarray) -> np.ndarray:
        """Return probabilities learned from some labels."""
        if not len(rows):
            return self.candidates.noisy * 0.6 + 0.2
        fit = parse_name(ESTIMATOR, ESTIMATORS).probabilities
        return fit(self.labels(rows), P10, np.random.default_rng(0))

    def cross_fitted(self, rows: np.ndarray) -> np.ndarray:
        """Return probabilities, of every image from the labels of others."""
        first = np.ones(len(rows), np.int64)
        return cross_fitted(self.labels(rows), first, 0, parse_name(ESTIMATOR, ESTIMATORS), P10, self.fold)

    def draw(self, design: str, sizes: tuple[int, ...], rng: np.random.Generator) -> list[Draw]:
        """Draw batches, each by what the labels before it say."""
        batches: list[Draw] = []
        rows = np.zeros(0, np.int64)
        for size in sizes:
            still = np.setdiff1d(self.rows, rows)
            batch = parse_name(design, DESIGNS).draw(
                self.labels(rows), self.fitted(rows), P10, still, size, rng
            )
            batches.append(batch)
            rows = np.r_[rows, batch.rows]
        return batches

    def interval(
        self, batches: list[Draw], method: str, proxies: dict[str, np.ndarray] | None = None
    ) -> Answer:
        """Return karat's estimate from drawn labels; with proxies nothing is learned."""
        rows = np.concatenate([batch.rows for batch in batches])
        one = interval_estimates(
            self.labels(rows), batches, P10, method=method, cluster=self.cluster,
            estimator=ESTIMATOR if proxies is None else None, proxies=proxies,
        )[0]  # fmt: skip
        return one.value, one.half_width


def world_run(images: int = 500) -> LabelledRun:
    """Return a run of the known-truth world."""
    world = make_world(images=images, captions=2, seed=1)
    bench = world.benchmark()
    candidates = make_candidates(
        simulate_systems(world)[1:2], bench, "original", direction="t2i", depth=10, noisy_positives=False
    )
    label = truth_labels(candidates, bench.truth("complete"), unlisted="no")
    title = f"the known-truth world, {images} images"
    return LabelledRun(title, candidates, label, clusters_of(bench, candidates))


def flickr_run(folder: Path) -> LabelledRun:
    """Return a run on Flickr8k: captions against the other captions of images, among the judged pairs."""
    bench = karat.load_benchmark("flickr8k", folder=folder)
    crowd = bench.truth("crowd")
    queries = np.asarray(crowd.queries["t2i"])
    run = MatrixRun(bag_of_words(bench), name="words")
    every = make_candidates(
        [run], bench, "original", direction="t2i", queries=queries, listed=crowd, condensed=True
    )
    long = np.flatnonzero(np.diff(every.ptr) >= 10)
    candidates = make_candidates(
        [run], bench, "original", direction="t2i", queries=every.queries[long], listed=crowd, condensed=True
    )
    # Own captions are relevant, though the crowd says no of 21.
    label = labels_of(crowd, "t2i", candidates.queries[candidates.query], candidates.item)
    return LabelledRun("Flickr8k, crowd labels", candidates, label, clusters_of(bench, candidates))


def kcca_runs(folder: Path, direction: Direction) -> tuple[LabelledRun, LabelledRun]:
    """Return a KCCA run on Flickr8k among the pairs that experts or the crowd judged, alone and with a rival.

    Experts override the crowd. What predicts labels: the places that the run and nearest neighbours give a
    pair among all 1,000 items, and how similar the caption is to the image's four other captions.
    """
    sys.path.append(str(REPLICATIONS))
    from _hodosh_inputs import Flickr8k
    from _hodosh_systems import Lab

    flickr = Flickr8k(folder)
    bench, lab = flickr.benches["test"], Lab(flickr)
    runs = [lab.run(name) for name in ("BoW5", "NN5_{BoW5}")]
    crowd, expert = bench.truth("crowd"), bench.truth("expert")
    judged = Truth("judged", crowd.judgments.merge(expert.judgments), crowd.queries)
    made = []
    for some in (runs[:1], runs):
        choose = partial(
            make_candidates, some, bench, "original", direction=direction, listed=judged, condensed=True
        )
        every = choose()
        candidates = choose(queries=every.queries[np.diff(every.ptr) >= 10])
        everywhere = replace(candidates, condensed=False)
        features = score_features({run.name: run for run in runs}, bench, everywhere)
        features |= {
            metric: pair_scores(bench, metric, *candidates.pairs, leave_out=True)
            for metric in ("cider", "rouge-l")
        }
        by_crowd, by_experts = (
            labels_of(truth, direction, candidates.queries[candidates.query], candidates.item)
            for truth in (crowd, expert)
        )
        label = np.where(np.isnan(by_experts), by_crowd, by_experts) > 0
        within = (np.expm1(-features[runs[0].name]) < 9.5).sum() / (10 * len(candidates.queries))
        title = f"Flickr8k, KCCA, {direction}, {100 * within:.0f}% of its first ten judged"
        cluster = clusters_of(bench, candidates)
        made.append(LabelledRun(title, candidates.with_features(features), label * 1.0, cluster))
    return made[0], made[1]


def bag_of_words(bench: Benchmark) -> np.ndarray:
    """Return cosines of √idf-weighted words: of captions, and of images by their other captions."""
    texts = [str(text).lower().split() for text in bench.texts]
    owner = bench.caption_image
    seen = Counter(word for words in texts for word in set(words))
    words = {word: k for k, word in enumerate(sorted(seen))}
    idf = np.array([np.sqrt(np.log(len(texts) / seen[word])) for word in words])
    caption = np.zeros((len(texts), len(words)), np.float32)
    for row, some in zip(caption, texts):
        for word in some:
            row[words[word]] += 1
    image = np.zeros((int(owner.max()) + 1, len(words)), np.float32)
    np.add.at(image, owner, caption)
    own = image[owner] - caption
    caption, image, own = (
        part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9)
        for part in (caption * idf, image * idf, own * idf)
    )
    table = (image @ caption.T).astype(np.float32)
    table[owner, np.arange(len(texts))] = (own * caption).sum(axis=1)
    return table


def plain_random(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
    """Return the mean of uniformly drawn labels, with the usual interval."""
    from scipy.special import stdtrit

    y = run.label[rng.choice(run.rows, n, replace=False)]
    variance = y.var(ddof=1) / n * (1 - n / len(run.rows))
    return float(y.mean()), float(stdtrit(n - 1, 0.975) * np.sqrt(variance))


def stratified(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
    """Return labels alone, drawn in strata by what the noisy labels and places say."""
    return run.interval(run.draw("stratified", (n,), rng), "horvitz-thompson")


def ours_uniform(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
    """Return the difference estimator with uniform draws."""
    return run.interval(run.draw("uniform", (n,), rng), "difference")


def ours_by(design: str) -> Method:
    """Return the difference estimator with draws by a design, in a few batches."""
    return lambda run, n, rng: run.interval(run.draw(design, ROUNDS[n], rng), "difference")


def ours_unlearned(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
    """Return the difference estimator with uniform draws, with the features themselves as proxies."""
    proxies = {**run.candidates.features, "original": run.candidates.noisy * 1.0}
    return run.interval(run.draw("uniform", (n,), rng), "difference", proxies)


def whole_queries(
    run: LabelledRun, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return per-query means of n/10 drawn queries, their predictions, and those of all other queries."""
    queries = len(run.candidates.queries)
    drawn = np.sort(rng.choice(queries, n // 10, replace=False))
    rows = run.rows[np.isin(run.candidates.query[run.rows], drawn)]
    p = run.cross_fitted(rows)
    value, predicted = (values_per_query(run.candidates, part, P10)[0] for part in (run.label, p))
    return value[drawn], predicted[drawn], np.delete(predicted, drawn)


def single_pairs(
    run: LabelledRun, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels of uniformly drawn pairs, their predictions, and those of all other pairs."""
    rows = np.sort(rng.choice(run.rows, n, replace=False))
    p = run.cross_fitted(rows)
    return run.label[rows], p[rows], p[np.setdiff1d(run.rows, rows)]


def by_ppi_py(
    draw: Callable[[LabelledRun, int, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> Method:
    """Return PPI++ of ppi_py on what is drawn."""

    def estimate(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
        from ppi_py import ppi_mean_ci

        low, high = ppi_mean_ci(*draw(run, n, rng), alpha=0.05)
        return float(np.mean([low, high])), float(np.mean(high - low) / 2)

    return estimate


def by_glide(
    draw: Callable[[LabelledRun, int, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> Method:
    """Return GLIDE's PPI++ on what is drawn."""

    def estimate(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
        from glide.estimators import PPIMeanEstimator

        y, predicted, rest = draw(run, n, rng)
        known = np.r_[y, np.full(len(rest), np.nan)]
        result = PPIMeanEstimator().estimate(known, np.r_[predicted, rest], confidence_level=0.95)
        interval = result.confidence_interval
        low, high = interval.lower_bound, interval.upper_bound
        return float(result.mean), float(high - low) / 2

    return estimate


def lure(run: LabelledRun, n: int, rng: np.random.Generator) -> Answer:
    """Return the LURE-weighted mean of labels drawn one by one, in proportion to what is expected of them.

    Farquhar, Gal and Rainforth 2021, with the acquisition of Kossen et al. 2021 ("Active testing"), whose
    surrogate is refitted as often as ours. They give no interval: here it is that of the weighted terms.
    """
    size, drawn, terms = len(run.rows), np.zeros(0, np.int64), []
    is_open = np.ones(size, bool)
    m = 0
    for part in ROUNDS[n]:
        p = np.clip(run.fitted(run.rows[drawn])[run.rows], 0.02, 1.0)
        for _ in range(part):
            chance = np.where(is_open, p, 0.0)
            chance /= chance.sum()
            at = int(np.searchsorted(np.cumsum(chance), rng.random() * (1 - 1e-12)))
            m += 1
            weight = 1 + (size - n) / (size - m) * (1 / ((size - m + 1) * chance[at]) - 1)
            terms.append(weight * run.label[run.rows[at]])
            is_open[at] = False
            drawn = np.r_[drawn, at]
    terms_ = np.array(terms)
    return float(terms_.mean()), float(1.96 * terms_.std(ddof=1) / np.sqrt(n))


METHODS: dict[str, Method] = {
    "karat, proportional draws": ours_by("proportional"),
    "karat, uniform draws": ours_uniform,
    "plain random": plain_random,
    "stratified, labels alone": stratified,
    "ppi_py, per-query means": by_ppi_py(whole_queries),
    "GLIDE, per-query means": by_glide(whole_queries),
    "ppi_py, single pairs": by_ppi_py(single_pairs),
    "LURE": lure,
}


def installed(wanted: str) -> dict[str, Method]:
    """Return the methods whose package is there and whose title has the wanted words."""
    from importlib.util import find_spec

    absent = [name for name in ("ppi_py", "glide") if find_spec(name) is None]
    for name in absent:
        print(f"{name} is not installed, and is left out", file=sys.stderr)
    return {
        title: how
        for title, how in METHODS.items()
        if wanted in title and not any(title.lower().startswith(name) for name in absent)
    }


def answer_of(estimate: Method, run: LabelledRun, n: int, turn: int) -> Answer:
    """Return one answer; NaN where the method gives none."""
    try:
        return estimate(run, n, np.random.default_rng([n, turn]))
    except ValueError as error:
        print(f"{run.title}, {n} labels: {error}", file=sys.stderr)
        return np.nan, np.nan


def repeated(estimate: Method, run: LabelledRun, n: int, times: int) -> tuple[float, float, float]:
    """Return the root mean squared error, the mean half-width and how often intervals held."""
    answers = np.array([answer_of(estimate, run, n, turn) for turn in range(times)])
    # Some refuse where all labels are alike.
    answers = answers[~np.isnan(answers[:, 0])]
    off = np.abs(answers[:, 0] - run.truth)
    return float(np.sqrt((off**2).mean())), float(answers[:, 1].mean()), (off <= answers[:, 1]).sum() / times


def compare(run: LabelledRun, times: int, wanted: str) -> list[str]:
    """Return a table of errors, half-widths and coverage."""
    head = ["", *(f"{n:,} labels: error" + " | ± | held" for n in BUDGETS)]
    lines = [
        f"**{run.title}**: {len(run.rows):,} pairs of {len(run.candidates.queries):,} queries, P@10 "
        f"{100 * run.truth:.1f}; {times} repetitions.",
        "",
        f"| {' | '.join(head)} |",
        "|---|" + "--:|" * (3 * len(BUDGETS)),
    ]
    for title, estimate in installed(wanted).items():
        cells, start = [], time.perf_counter()
        for n in BUDGETS:
            rmse, width, held = repeated(estimate, run, n, times)
            cells += [f"{100 * rmse:.2f}", f"{100 * width:.2f}", f"{100 * held:.0f}%"]
        print(title, cells, f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return [*lines, ""]


ALONE: dict[str, Method] = {
    "plain random": plain_random,
    "stratified, labels alone": stratified,
    "karat, uniform draws, nothing learned": ours_unlearned,
    "karat, uniform draws": ours_by("uniform"),
    "karat, stratified draws": ours_by("stratified"),
    "karat, proportional draws": ours_by("proportional"),
}
WITH_RIVAL: dict[str, Method] = {"karat, difference draws": ours_by("difference")}


def kcca(folder: Path, times: int, n: int = 500) -> list[str]:
    """Return tables of a KCCA run, both directions: every design beside plain random draws."""
    lines = []
    for direction in ("t2i", "i2t"):
        alone, with_rival = kcca_runs(folder, direction)
        lines += [
            f"**{alone.title}**: {len(alone.rows):,} pairs of {len(alone.candidates.queries):,} queries, "
            f"P@10 {100 * alone.truth:.1f}; with nearest neighbours {len(with_rival.rows):,} pairs. "
            f"{n} labels, {times} repetitions.",
            "",
            "|  | error | ± | of plain random's ± | held |",
            "|---|--:|--:|--:|--:|",
        ]
        plain = 0.0
        for run, methods in ((alone, ALONE), (with_rival, WITH_RIVAL)):
            for title, estimate in methods.items():
                start = time.perf_counter()
                rmse, width, held = repeated(estimate, run, n, times)
                plain = plain or width
                cells = [
                    f"{100 * rmse:.2f}",
                    f"{100 * width:.2f}",
                    f"{width / plain:.2f}",
                    f"{100 * held:.1f}%",
                ]
                print(title, cells, f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
                lines.append(f"| {title} | {' | '.join(cells)} |")
        lines.append("")
    return lines


def sequences(run: LabelledRun, times: int, last: int = 500, batch: int = 25) -> list[str]:
    """Return a table of sequences on the same uniformly drawn labels, looked at after every batch."""
    y, size = run.label[run.rows], len(run.rows)
    p = run.fitted(np.random.default_rng(99).choice(run.rows, 300, replace=False))[run.rows]
    labels = np.arange(batch, last + 1, batch)
    widths: dict[str, list[float]] = {}
    missed: dict[str, list[bool]] = {}

    def note(title: str, low: np.ndarray, high: np.ndarray) -> None:
        truth = y.mean()
        missed.setdefault(title, []).append(bool(((low > truth) | (high < truth)).any()))
        widths.setdefault(title, []).append(float(high[-1] - low[-1]) / 2)

    for turn in range(times):
        order = np.random.default_rng([7, turn]).permutation(size)
        value, variance = [], []
        for n in labels:
            some = order[:n]
            slope = np.cov(y[some], p[some])[0, 1] / max(p[some].var(ddof=1), 1e-9)
            rest = y[some] - slope * p[some]
            value.append(rest.mean() + slope * p.mean())
            variance.append(rest.var(ddof=2) / n * (1 - n / size))
        value, variance = np.array(value), np.array(variance)
        half = 1.96 * np.sqrt(variance)
        late = labels >= 50
        note("95% interval at a fixed time", (value - half)[late], (value + half)[late])
        for title, options in {
            "karat, mixture": {},
            "karat, line with the target 500": {"target": last},
        }.items():
            looks = confidence_sequence(value, variance, labels, size, **options)
            note(title, looks.low, looks.high)
        try:
            low, high = glide_sequence(y, p, order, len(labels), batch)
            note("GLIDE, AsymptoticPPRM on both sides", low, high)
        except ImportError:
            pass
    lines = [
        f"Looks after every {batch} labels up to {last}, {times} repetitions, {run.title}:",
        "",
        "| | ever excludes the truth | ± at the end |",
        "|---|--:|--:|",
    ]
    for title in widths:
        lines.append(
            f"| {title} | {100 * np.mean(missed[title]):.1f}% | {100 * np.mean(widths[title]):.2f} |"
        )
    return [*lines, ""]


def glide_sequence(
    y: np.ndarray, p: np.ndarray, order: np.ndarray, batches: int, batch: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of GLIDE's sequence: two of its one-sided monitors at 97.5%, the best ends so far.

    Its batches may not share pairs, so that every batch gets its share of the pairs without a label.
    """
    from glide.monitors import AsymptoticPPRM

    used = batches * batch
    rest = np.array_split(order[used:], batches)
    rows, known, number = [], [], []
    for k in range(batches):
        mine = order[k * batch : (k + 1) * batch]
        rows.append(np.r_[mine, rest[k]])
        known.append(np.r_[y[mine], np.full(len(rest[k]), np.nan)])
        number.append(np.full(len(rows[-1]), k))
    at = np.concatenate(rows)
    ends = []
    for higher in (False, True):
        result = AsymptoticPPRM().detect(
            np.concatenate(known), p[at], np.concatenate(number), higher_is_better=higher, threshold=0.5,
            confidence_level=0.975, tightest_at_batch=batches,
        )  # fmt: skip
        ends.append(np.asarray(result.confidence_sequence.confidence_bounds))
    return np.maximum.accumulate(ends[0]), np.minimum.accumulate(ends[1])


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=60, help="repetitions")
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument(
        "--parts", default="sequences,world,flickr8k", help=f"which tables: {', '.join(PARTS)}"
    )
    parser.add_argument("--method", default="", help="only methods whose title has these words")
    parser.add_argument("--cache", type=Path, help="where fitted systems are kept")
    chosen = parser.parse_args()
    parts = chosen.parts.split(",")
    if chosen.cache is not None:
        os.environ["KARAT_CACHE"] = str(chosen.cache.resolve())
    folder = Path(os.environ.get("KARAT_DATA", "")) / "flickr8k"
    if not folder.is_dir() and {"flickr8k", "kcca"} & set(parts):
        print("KARAT_DATA has no flickr8k, which is left out", file=sys.stderr)
        parts = [part for part in parts if part in ("sequences", "world")]
    tables = []
    if "sequences" in parts:
        tables += sequences(world_run(), 4 * chosen.times)
    if "world" in parts:
        tables += compare(world_run(), chosen.times, chosen.method)
    if "flickr8k" in parts:
        tables += compare(flickr_run(folder), chosen.times, chosen.method)
    if tables:
        write_between("comparison", tables, chosen.output)
    if "kcca" in parts:
        write_between("kcca", kcca(folder, chosen.times), chosen.output)


def write_between(name: str, lines: list[str], path: Path) -> None:
    """Write lines between the two marks of a name, which are added to a file that lacks them."""
    begin, end = (f"<!-- {name}: {which} -->" for which in ("begin", "end"))
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    before, mark, rest = page.partition(begin)
    text = "\n".join(lines)
    path.write_text(
        f"{before}{begin}\n{text}{end}{rest.partition(end)[2] if mark else chr(10)}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
