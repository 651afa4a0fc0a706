"""Classifiers of NUS-WIDE's tags, as systems of different quality for the replication of active testing.

A tag is predicted from the official labels of the other 80 concepts of the same image. Many images have the
same labels: the train images have 13,410 label vectors, the test images 10,328. Each vector is fitted and
scored once, with the number of its images as its weight, which leaves the fit the same. Images with the same
labels thus have exactly the same score, and ties are broken by the order of the images (``ties="stable"``).

As a program, it prints how good the systems and the search words in their first 48 images are:

    KARAT_DATA=DIR python replications/_nuswide_systems.py
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import karat
from karat._util.cache import Arrays, cached
from karat.benchmarks import Benchmark
from karat.runs import MatrixRun

RECIPE = 1
"""Raised when the same data gives other scores than before."""
SEED = 2018
DEPTH = 48
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Takes features, labels and weights of the train vectors and the features of the test vectors."""


def logistic(features: np.ndarray, label: np.ndarray, weight: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the log odds by logistic regression, C = 1.

    The default solver at its default tolerance stops early, which costs 0.9 points of Precision@48.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    return model.fit(features, label, sample_weight=weight).decision_function(asked)


def naive_bayes(features: np.ndarray, label: np.ndarray, weight: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the log odds by naive Bayes, one added to every count."""
    from sklearn.naive_bayes import BernoulliNB

    no, yes = BernoulliNB(alpha=1.0).fit(features, label, weight).predict_joint_log_proba(asked).T
    return yes - no


SYSTEMS: dict[str, tuple[Fit, float]] = {
    "logistic": (logistic, 1.0),
    "logistic-10": (logistic, 0.1),
    "logistic-2": (logistic, 0.02),
    "naive-bayes": (naive_bayes, 1.0),
    "logistic-0.2": (logistic, 0.002),
}
"""By name, what is fitted on which share of the train images; the number is that share in percent."""


def load_nuswide(data_dir: Path, split: str = "test", tags: str = "keyword") -> Benchmark:
    """Return the benchmark in a folder of real data; the tags are the 71 that are search words too."""
    return karat.load_benchmark("nuswide", file=file_of(data_dir), split=split, tags=tags)


def file_of(data_dir: Path) -> Path:
    """Return the archive of the labels."""
    return Path(data_dir) / "nuswide" / "nuswide_gt81.npz"


def nuswide_runs(data_dir: Path, systems: Sequence[str] = tuple(SYSTEMS)) -> list[tuple[str, np.ndarray]]:
    """Return the name and the scores of each system, test images by the 71 tags, float32 log odds.

    The scores are kept in karat's cache folder, which ``KARAT_CACHE`` names. They lie in memory tag by tag.
    """
    out = []
    for name in systems:
        stage = f"nuswide/{name}-{RECIPE}"
        kept = cached(stage, [file_of(data_dir)], partial(scores_of, name, data_dir))
        out.append((name, np.take(kept["scores"], kept["vector"], axis=1).T))
    return out


def matrix_runs(data_dir: Path, systems: Sequence[str] = tuple(SYSTEMS)) -> list[MatrixRun]:
    """Return the systems as runs of `load_nuswide`."""
    return [MatrixRun(scores, name) for name, scores in nuswide_runs(data_dir, systems)]


def scores_of(name: str, data_dir: Path) -> Arrays:
    """Fit a system: the scores of every tag and label vector of the test part, and each test image's vector.

    A tag without a positive among the train images of a small share has the score 0 everywhere.
    """
    from threadpoolctl import threadpool_limits

    fit, share = SYSTEMS[name]
    train, bench = (load_nuswide(data_dir, split, "all") for split in ("train", "test"))
    labels = labels_of(train)
    if share < 1:
        rng = np.random.default_rng(SEED)
        labels = labels[rng.choice(len(labels), round(share * len(labels)), replace=False)]
    known, _, weight = distinct(labels)
    asked, vector, _ = distinct(labels_of(bench))
    tags = bench.truth("keyword").queries["t2i"]
    scores = np.zeros((len(tags), len(asked)), np.float32)
    # The tables are small: with more threads most of the time is spent on waiting for one another.
    with threadpool_limits(1):
        for number, tag in enumerate(tags):
            if known[:, tag].any():
                features, others = (np.delete(vectors, tag, axis=1) for vectors in (known, asked))
                scores[number] = fit(features, known[:, tag], weight, others)
    return {"scores": scores, "vector": vector.astype(np.int32)}


def labels_of(bench: Benchmark) -> np.ndarray:
    """Return the official labels, images by tags."""
    labels = np.zeros((bench.images.size, bench.captions.size), np.uint8)
    pairs = bench.truth("gt").judgments.pairs()
    labels[pairs.image, pairs.caption] = 1
    return labels


def distinct(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct rows as numbers, which of them each row is, and how often each is there."""
    packed = np.packbits(labels, axis=1)
    rows = packed.view(f"V{packed.shape[1]}")[:, 0]
    _, first, which, count = np.unique(rows, return_index=True, return_inverse=True, return_counts=True)
    return labels[first].astype(np.float64), which, count


def first_lists(run: MatrixRun, bench: Benchmark) -> tuple[np.ndarray, np.ndarray]:
    """Return, for the first 48 images of every tag, whether they have the tag, and the search word."""
    scores = run.query_scores("t2i", np.arange(bench.captions.size))
    items = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    found = []
    for name in ("gt", "keyword"):
        pairs = bench.truth(name).judgments.pairs()
        labels = np.zeros((bench.captions.size, bench.images.size), bool)
        labels[pairs.caption, pairs.image] = True
        found.append(np.take_along_axis(labels, items, axis=1))
    return found[0], found[1]


def main() -> None:
    """Print how good each system is, and the search words in its lists."""
    data = Path(os.environ["KARAT_DATA"])
    bench = load_nuswide(data)
    print("system        P@48  naive  recall  precision   (percent; of the search words in the lists)")
    for run in matrix_runs(data):
        card = karat.evaluate(run, bench, f"P@{DEPTH}", ties="stable", direction="t2i")
        true, naive = (card.value(f"P@{DEPTH}", truth=name, direction="t2i") for name in ("gt", "keyword"))
        gt, word = first_lists(run, bench)
        both = (gt & word).sum()
        shown = "".join(f"{100 * value:8.2f}" for value in (true, naive, both / gt.sum(), both / word.sum()))
        print(f"{run.name:12s}{shown}")


if __name__ == "__main__":
    main()
