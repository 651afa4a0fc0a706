"""The model file: weights of the tagger and the parser, and the lexicon, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import parsing, write_file

# How many bits of its hash identify a feature.
KEY_BITS = 25


@dataclass(frozen=True)
class SparseWeights:
    """A sparse table of weights: per feature a few classes and their weights.

    Parameters
    ----------
    keys
        Sorted keys, uint32, none of them 0.
    count
        How many classes each feature has a weight for, uint8.
    column, value
        These classes and weights, feature after feature.
    """

    keys: np.ndarray
    count: np.ndarray
    column: np.ndarray
    value: np.ndarray

    @classmethod
    def from_dense(cls, keys: np.ndarray, dense: np.ndarray) -> SparseWeights:
        """Return the rows of `dense` that are not all zero; its rows belong to the sorted `keys`."""
        kept = dense.any(1)
        row, column = np.nonzero(dense[kept])
        count = np.bincount(row, minlength=int(kept.sum())).astype(np.uint8)
        return cls(keys[kept], count, column.astype(np.uint8), dense[kept][row, column])

    def laid_out(self) -> tuple[np.ndarray, int, np.ndarray]:
        """Return the keys in a table with gaps, how far to shift a key to its place, and the rows' limits.

        A key's upper bits are its place; when that is taken, the next free one. Since keys are
        sorted, so are their places, and the rows need not move.
        """
        bits = min(max(int(2 * len(self.keys)).bit_length(), 4), KEY_BITS)
        home = (self.keys >> np.uint32(KEY_BITS - bits)).astype(np.int64)
        order = np.arange(len(home))
        place = np.maximum.accumulate(home - order) + order
        # Room for those pushed beyond the end, and for the gap that ends every search.
        size = max((1 << bits), int(place[-1]) + 1 if len(place) else 0) + 1
        slots, limits = np.zeros(size, np.uint32), np.zeros(size + 1, np.uint32)
        slots[place] = self.keys
        limits[place + 1] = self.count
        np.cumsum(limits, out=limits)
        return slots, KEY_BITS - bits, limits


@dataclass(frozen=True)
class Model:
    """Everything the parser knows.

    Parameters
    ----------
    keys, facts
        The lexicon: sorted hashes of lower-case words, and per word its possible readings, the sense
        classes of its noun and its verb, and whether the treebank knows it.
    classes
        Per class of the tagger its place in `TAGS` and in `XPOS`, [classes, 2].
    tagger, actions, labels
        Weights of the tagger's classes, of the three actions and of the relations.
    """

    keys: np.ndarray
    facts: np.ndarray
    classes: np.ndarray
    tagger: SparseWeights
    actions: SparseWeights
    labels: SparseWeights

    def save(self, path: Path) -> None:
        """Write the model as .npz; the same model gives the same bytes."""
        arrays: dict[str, Any] = {
            "keys": np.diff(self.keys, prepend=np.uint32(0)),
            "facts": np.ascontiguousarray(self.facts.T),
            "classes": self.classes,
        }
        for name in ("tagger", "actions", "labels"):
            rows: SparseWeights = getattr(self, name)
            arrays[f"{name}_keys"] = np.diff(rows.keys, prepend=np.uint32(0))
            arrays[f"{name}_count"] = rows.count
            arrays[f"{name}_column"], arrays[f"{name}_value"] = rows.column, rows.value
        # numpy stamps the members of an archive with a fixed date, so the bytes do not change.
        write_file(path, lambda draft: np.savez_compressed(draft, **arrays))

    @classmethod
    def load(cls, path: Path) -> Model:
        """Read a model that `save` wrote."""
        wrong = parsing(path, "is not a model of karat's parser", "train it with scripts/train_english.py")
        # Opened here, since numpy leaves a broken archive open.
        with wrong, path.open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            rows = {
                name: SparseWeights(
                    np.cumsum(arrays[f"{name}_keys"], dtype=np.uint32),
                    arrays[f"{name}_count"],
                    arrays[f"{name}_column"],
                    arrays[f"{name}_value"],
                )
                for name in ("tagger", "actions", "labels")
            }
            return cls(
                keys=np.cumsum(arrays["keys"], dtype=np.uint32),
                facts=np.ascontiguousarray(arrays["facts"].T),
                classes=arrays["classes"],
                **rows,
            )
