"""The ordered ids of a benchmark's images or captions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_unique_ids, plural
from karat.errors import InputError

NUMBER = re.compile(r"-?[0-9]{1,18}")


class Ids:
    """Ids in the order in which score tables list them; then those that only judgments mention.

    Parameters
    ----------
    gallery
        The ids that a system ranks, in order.
    extra
        Ids that judgments mention but no system ranks (*off-gallery*). They count
        among a query's positives, so that published scores come out.
    kind
        "image" or "caption", for messages.

    Examples
    --------
    >>> ids = Ids([30, 10, 20], extra=[99], kind="caption")
    >>> ids.size, ids.index([10, 99]).tolist()
    (3, [1, 3])
    >>> ids.index([11])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: caption id 11 is not in the benchmark; the first ids are 30, 10, 20.
    """

    def __init__(self, gallery: Iterable[Any], extra: Iterable[Any] = (), kind: str = "item") -> None:
        self.kind = kind
        first, rest = as_id_array(gallery), as_id_array(extra)
        if len(rest) and rest.dtype.kind != first.dtype.kind:
            first, rest = first.astype(str), rest.astype(str)
        self.values = np.concatenate([first, rest]) if len(rest) else first.copy()
        self.values.setflags(write=False)
        self.size = len(first)
        check_unique_ids(self.values, kind)

    @property
    def gallery(self) -> np.ndarray:
        """The ids that a system ranks."""
        return self.values[: self.size]

    @property
    def extra(self) -> np.ndarray:
        """The off-gallery ids."""
        return self.values[self.size :]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.values, kind="stable")
        return self.values[order], order

    def find(self, ids: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return the index of each of `ids`, −1 where it is unknown."""
        ids = as_id_array(ids)
        if ids.dtype.kind != self.values.dtype.kind:
            ids = convert_ids(ids, self.values.dtype)
        ordered, order = self._sorted
        at = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
        return np.where(ordered[at] == ids, order[at], -1)

    def index(self, ids: Sequence[Any] | np.ndarray, where: str | Path | None = None) -> np.ndarray:
        """Return the index of each of `ids`; raise on the first unknown one."""
        ids = as_id_array(ids, where)
        index = self.find(ids)
        if (index < 0).any():
            unknown = ids[index < 0][0]
            shown = ", ".join(str(i) for i in self.values[:3])
            raise InputError(
                f"{self.kind} id {unknown} is not in the benchmark",
                where=where,
                fix=f"the first ids are {shown}",
            )
        return index

    def arrangement(self, ids: Sequence[Any] | np.ndarray, where: str | Path | None = None) -> np.ndarray:
        """Return, for each gallery index, the row of a table that lists its rows as `ids`.

        `ids` must hold each id of the gallery once and nothing else.
        """
        ids = as_id_array(ids, where)
        check_unique_ids(ids, self.kind, where)
        index = self.index(ids, where)
        if (index >= self.size).any():
            outside = ids[index >= self.size][0]
            raise InputError(
                f"{self.kind} id {outside} is outside the gallery", where=where, fix="leave it out"
            )
        rows = np.full(self.size, -1)
        rows[index] = np.arange(len(ids))
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            listed = plural(len(ids), f"{self.kind} id")
            raise InputError(
                f"lists {listed}, but {len(missing):,} of the benchmark's {self.size:,} are missing, "
                f"first {self.values[missing[0]]}",
                where=where,
                fix="give the complete gallery",
            )
        return rows


def as_id_array(ids: Iterable[Any], where: str | Path | None = None) -> np.ndarray:
    """Return ids as int64 where all are whole numbers, else as text.

    >>> as_id_array([3, 1]).dtype.kind, as_id_array(["a", 1]).dtype.kind
    ('i', 'U')
    """
    if isinstance(ids, np.ndarray):
        array = ids
    else:
        listed = list(ids)
        kinds = set(map(type, listed))
        if kinds & {list, tuple, dict, set, np.ndarray, type(None)}:
            raise InputError("ids are not a plain list", where=where, fix="list one number or text per item")
        numbers = all(issubclass(kind, int | np.integer) for kind in kinds)
        array = np.asarray(listed) if numbers else np.array([str(value) for value in listed])
    if array.ndim != 1:
        raise InputError(f"ids form a table of shape {array.shape}", where=where, fix="give a plain list")
    if array.size == 0 or array.dtype.kind in "i" or array.dtype in (np.uint8, np.uint16, np.uint32):
        return array.astype(np.int64)
    return array if array.dtype.kind == "U" else array.astype(str)


def convert_ids(ids: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return ids in the kind of `dtype`, as json keys need: "391895" means 391895.

    Text that is not a number becomes one below every real id, so that it is never found.
    """
    if dtype.kind == "U":
        return ids.astype(str)
    return np.array(
        [int(text) if NUMBER.fullmatch(text) else np.iinfo(np.int64).min for text in ids.tolist()]
    )
