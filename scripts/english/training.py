"""Training: rounds of the perceptrons, their average, and its rounding to small integers."""

from __future__ import annotations

import numpy as np

from english import beam, loops
from english.data import Flat
from karat.lexicon.syntax import templates
from karat.lexicon.syntax.model import KEY_BITS, SparseWeights
from karat.lexicon.syntax.parser import CASE
from karat.lexicon.syntax.sentences import LABELS

# Weights are kept as whole numbers of this part of one.
SCALE = 4


class Weights:
    """Weights of one perceptron; rows exist only for features that enough sentences show."""

    def __init__(self, patterns: np.ndarray, count: np.ndarray, least: int, classes: int) -> None:
        self.patterns = patterns
        # Key 0 marks gaps in the table.
        self.keys = np.flatnonzero(count >= least).astype(np.uint32)
        self.keys = self.keys[self.keys > 0]
        blank = np.zeros(len(self.keys), np.uint8)
        self.slots, self.shift, _ = SparseWeights(self.keys, blank, blank, blank).laid_out()
        self.now = np.zeros((len(self.slots), classes), np.float32)
        self.sums = np.zeros_like(self.now, dtype=np.float64 if classes < 4 else np.float32)

    @property
    def classifier(self) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
        """What the loops read."""
        return self.patterns, self.slots, self.shift, self.now

    def rows(self, step: int, small: float) -> SparseWeights:
        """Return the average in quarters, int8; weights below `small` become 0."""
        mean = (self.now - self.sums / step)[self.slots > 0]
        mean[np.abs(mean) < small] = 0
        whole = np.clip(np.rint(mean * SCALE), -127, 127).astype(np.int8)
        return SparseWeights.from_dense(self.keys, whole)


def no_counts() -> np.ndarray:
    """Return a count of 0 for every feature."""
    return np.zeros(1 << KEY_BITS, np.int32)


def train_tagger(
    data: Flat, classes: int, rounds: int, seed: int, least: int = 3, small: float = 0.2
) -> SparseWeights:
    """Return the weights of the tagger."""
    count = no_counts()
    loops.count_tags(data.table, data.ptr, data.tag, data.origin, templates.TAG, count, no_counts() - 1)
    weights = Weights(templates.TAG, count, least, classes)
    rng = np.random.default_rng(seed)
    step = 1
    for _ in range(rounds):
        order = rng.permutation(len(data.trees))
        step, wrong = loops.train_tags(
            data.table, data.ptr, data.tag, order, weights.classifier, weights.sums, step
        )
        print(f"tagger: {1 - wrong / len(data.words):.4f} right while learning", flush=True)
    return weights.rows(step, small)


def train_parser(
    data: Flat, tags: np.ndarray, groups: np.ndarray, rounds: int, seed: int, least: int = 8,
    small: float = 0.2, width: int = 6,
) -> tuple[SparseWeights, SparseWeights]:  # fmt: skip
    """Return the weights of the actions and of the labels, learned on `tags` that a tagger gave."""
    count, label_count = no_counts(), no_counts()
    beam.count_parser(
        data.table, tags, data.ptr, data.head, data.label, data.origin, groups, CASE,
        templates.ACTION, templates.LABEL, count, no_counts() - 1, label_count, no_counts() - 1,
    )  # fmt: skip
    actions, labels = (
        Weights(templates.ACTION, count, least, 3),
        Weights(templates.LABEL, label_count, 4, len(LABELS)),
    )
    print(f"{len(actions.keys):,} features of actions, {len(labels.keys):,} of labels", flush=True)
    rng = np.random.default_rng(seed)
    step = 1
    for _ in range(rounds):
        order = rng.permutation(len(data.trees))
        step, wrong, wrong_labels = beam.train_parser(
            data.table, tags, data.ptr, data.head, data.label, order, groups, CASE, width,
            actions.classifier, actions.sums, labels.classifier, labels.sums, step,
        )  # fmt: skip
        print(f"parser: {wrong} wrong trees, {wrong_labels} wrong labels while learning", flush=True)
    return actions.rows(step, small), labels.rows(step, small)
