"""Visual words: the centres of k-means over a sample of points, and the nearest of them for every point."""

from __future__ import annotations

import numpy as np

from karat.systems.images.extras import extra

BATCH = 8192


def fit_words(sample: np.ndarray, words: int, seed: int) -> np.ndarray:
    """Return the centres of k-means over a sample, float32 [words, dimensions].

    They are fewer where the sample has no more than `words` different points: each of these is a word then.
    scikit-learn's mini-batch k-means is used, on one thread, because sums over several threads are not
    added up in the same order twice.

    Examples
    --------
    >>> fit_words(np.array([[0.0], [1.0], [0.0]]), 5, seed=0)
    array([[0.],
           [1.]], dtype=float32)
    """
    sample = np.ascontiguousarray(sample, dtype=np.float32)
    # np.unique sorts whole rows, which takes as long as k-means itself: few rows show that there are enough.
    head = np.unique(sample[: 4 * words], axis=0)
    distinct = head if len(head) > words else np.unique(sample, axis=0)
    if len(distinct) <= words:
        return distinct
    cluster, pools = extra("sklearn.cluster"), extra("threadpoolctl")
    means = cluster.MiniBatchKMeans(
        words, batch_size=BATCH, n_init=1, max_iter=30, max_no_improvement=20, random_state=seed
    )
    with pools.threadpool_limits(1):
        means.fit(sample)
    return means.cluster_centers_.astype(np.float32)


def draw(
    pictures: int, most_pictures: int, points: int, most_points: int, seed: int
) -> list[tuple[int, np.ndarray]]:
    """Return which pictures a sample takes, and which points of each; all where there are no more.

    Examples
    --------
    >>> sample = draw(10, 2, 100, 3, seed=0)
    >>> len(sample), [len(places) for _, places in sample]
    (2, [3, 3])
    """
    rng = np.random.default_rng(seed)
    chosen = rng.choice(pictures, min(most_pictures, pictures), replace=False)
    return [(int(k), rng.choice(points, min(most_points, points), replace=False)) for k in chosen]


def nearest_words(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the number of the nearest centre of every point; the first of several equally near.

    Examples
    --------
    >>> nearest_words(np.array([[0.1], [0.9], [0.5]]), np.array([[0.0], [1.0]]))
    array([0, 1, 0])
    """
    # |p - c|² without |p|², which is the same for all centres.
    return (0.5 * np.einsum("ij,ij->i", centres, centres) - points @ centres.T).argmin(axis=1)
