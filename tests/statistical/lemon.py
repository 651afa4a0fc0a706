"""Label errors by nearest neighbours in both modalities (LEMoN: Zhang et al. 2024)."""

import numpy as np

ROWS = 512


def neighbour_scores(
    images: np.ndarray,
    captions: np.ndarray,
    owner: np.ndarray,
    *,
    k: int = 30,
    beta: float = 5.0,
    gamma: float = 5.0,
    tau_same: float = 0.1,
    tau_pair: float = 5.0,
) -> np.ndarray:
    """Return how likely each caption is wrong for its image, by the method of LEMoN; higher is worse.

    With cosine distances d, and the other pairs (x_j, y_j) of the data set, the score of a pair (x, y) is
    d(x, y) + β s_n + γ s_m, where s_n is the mean over the k pairs whose images are nearest to x of
    d(y, y_j) exp(−τ₁ d(x, x_j)) exp(−τ₂ d(x_j, y_j)), and s_m the mean over the k pairs whose captions are
    nearest to y of d(x, x_j) exp(−τ₁ d(y, y_j)) exp(−τ₂ d(x_j, y_j)).

    The paper chooses k, β, γ, τ₁ and τ₂ on validation pairs that are known to be right or wrong.
    """
    x, y = unit(images)[owner], unit(captions)
    n = len(y)
    k = min(k, n - 1)
    pair = 1 - (x * y).sum(axis=1)
    trust = np.exp(-tau_pair * pair)
    out = pair.copy()
    for weight, near, far in ((beta, x, y), (gamma, y, x)):
        for begin in range(0, n, ROWS):
            rows = np.arange(begin, min(begin + ROWS, n))
            distance = 1 - near[rows] @ near.T
            distance[np.arange(len(rows)), rows] = np.inf
            nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
            close = np.take_along_axis(distance, nearest, axis=1)
            across = 1 - np.einsum("rd,rkd->rk", far[rows], far[nearest])
            out[rows] += weight * (across * np.exp(-tau_same * close) * trust[nearest]).mean(axis=1)
    return out


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1; empty ones stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
