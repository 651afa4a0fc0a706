"""The ordered ids of a benchmark's images or captions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from karat._util import check_unique_ids, plural
from karat.errors import InputError

NUMBER = re.compile(r"-?[0-9]{1,18}")
EXTENSION = re.compile(r"\.(jpe?g|png|webp|gif|bmp|tiff?)$", re.IGNORECASE)
"""Of an image's file."""
COCO_FILE = re.compile(r"(?:COCO_[a-z]+[0-9]{4}_)?0*([0-9]+)")
"""How COCO calls an image's file, without its extension, around the image's id: COCO_val2014_000000391895."""


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
    files
        The names of the files of the gallery, in order, where they are known: each is another name of
        its id, with or without folder and extension, as far as no two ids could be meant.
    open
        Whether there may be others than those named here, as where a list of judgments is all that is known:
        a run may then name them too.

    Examples
    --------
    >>> files = ["a/COCO_val2014_000000000030.jpg", "b/dog.png"]
    >>> Ids([30, 10], files=files).index(["dog", "30.jpg"]).tolist()
    [1, 0]
    >>> ids = Ids([30, 10, 20], extra=[99], kind="caption")
    >>> ids.size, ids.index([10, 99]).tolist()
    (3, [1, 3])
    >>> ids.index([11])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: caption id 11 is not in the benchmark; the first ids are 30, 10, 20.
    """

    def __init__(
        self,
        gallery: Iterable[Any],
        extra: Iterable[Any] = (),
        kind: str = "item",
        files: Sequence[str] | None = None,
        open: bool = False,
    ) -> None:
        self.kind, self.files, self.open = kind, files, open
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

    def with_more(self, ids: Sequence[Any] | np.ndarray) -> Ids:
        """Return the same with further ids at the end of the gallery; what had an index keeps it.

        >>> Ids([30, 10], open=True).with_more([7]).gallery.tolist()
        [30, 10, 7]
        """
        if not self.open or len(self.extra):
            raise InputError(f"the {self.kind} ids are complete", fix="make them with open=True")
        more = as_id_array(ids)
        known = self.values if more.dtype.kind == self.values.dtype.kind else self.values.astype(str)
        return Ids(np.concatenate([known, more.astype(known.dtype.kind)]), kind=self.kind, open=True)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.values, kind="stable")
        return self.values[order], order

    def find(self, ids: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return the index of each of `ids`, which may be the name of its file; −1 where it is unknown."""
        ids = as_id_array(ids)
        index = self._find_exactly(ids)
        unknown = np.flatnonzero(index < 0)
        if self.files is not None and len(unknown):
            known = self._by_file
            for at, text in zip(unknown.tolist(), ids[unknown].astype(str).tolist()):
                index[at] = next((known[name] for name in file_names(text) if name in known), -1)
        return index

    def _find_exactly(self, ids: np.ndarray) -> np.ndarray:
        if ids.dtype.kind != self.values.dtype.kind:
            ids = convert_ids(ids, self.values.dtype)
        ordered, order = self._sorted
        at = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
        return np.where(ordered[at] == ids, order[at], -1)

    @cached_property
    def _by_file(self) -> dict[str, int]:
        """By each name of a file that means one id, its index.

        Either all files are called by the names of one kind (whole, without extension, number) or none: with
        some, a list of names could be read half as names and half as ids.
        """
        known: dict[str, int] = {}
        for names in zip(*(file_names(file) for file in self.files or ())):
            exact = self._find_exactly(np.array(names))
            own = (exact < 0) | (exact == np.arange(len(names)))
            if len(set(names)) == len(names) and own.all():
                known |= {name: k for k, name in enumerate(names)}
        return known

    def index(self, ids: Sequence[Any] | np.ndarray, where: str | Path | None = None) -> np.ndarray:
        """Return the index of each of `ids`; raise on the first unknown one."""
        ids = as_id_array(ids, where)
        index = self.find(ids)
        for unknown in ids[index < 0]:
            shown = ", ".join(str(i) for i in self.values[:3])
            files = f", and the first file is {self.files[0]}" if self.files else ""
            raise InputError(
                f"{self.kind} id {unknown} is not in the benchmark",
                where=where,
                fix=f"the first ids are {shown}{files}",
            )
        return index

    def arrangement(self, ids: Sequence[Any] | np.ndarray, where: str | Path | None = None) -> np.ndarray:
        """Return, for each gallery index, the row of a table that lists its rows as `ids`.

        `ids` must hold each id of the gallery once and nothing else.
        """
        ids = as_id_array(ids, where)
        check_unique_ids(ids, self.kind, where)
        index = self.index(ids, where)
        for outside in ids[index >= self.size]:
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


def file_names(file: str) -> tuple[str, str, str]:
    """Return what the image in a file may be called: the file, the same without extension, and its number.

    >>> file_names("val2014/COCO_val2014_000000391895.jpg")
    ('COCO_val2014_000000391895.jpg', 'COCO_val2014_000000391895', '391895')
    """
    name = PurePosixPath(file).name
    stem = EXTENSION.sub("", name)
    number = COCO_FILE.fullmatch(stem)
    return name, stem, number[1] if number else stem


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
