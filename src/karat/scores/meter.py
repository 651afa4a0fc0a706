"""A meter: the scores of a model in training, from batches of its vectors, in one process or in several.

It never imports PyTorch: there are tensors and process groups only where the training program imported it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark, Fold, Ids, Truth, as_id_array
from karat.errors import InputError
from karat.measures import Combined, Named, parse_measures
from karat.runs import SIMILARITIES, EmbeddingRun, notes_on_loading
from karat.scores.evaluation import DEFAULT_MEASURES, ScoringOptions, check_options, score_runs
from karat.scores.scorecard import Scorecard

SAME = 0.05
"""How far apart two vectors of one item may be, as a share of their length: above what rounding leaves
between two batches (bfloat16 has steps of 0.008), below what dropout, a random crop or a wrong id does."""
KEYS = {"images": "images", "texts": "texts", "captions": "texts"}
"""What `ids` calls the sides; files of ids call the texts captions."""


class Meter:
    """Retrieval scores inside a training loop: `update` with every batch, then `compute`, then `reset`.

    The scores are exactly those that `karat.evaluate` gives for the same vectors.

    Vectors are torch tensors of any device and floating type, or arrays. Tensors are kept where they are, as
    references without gradients, and copied to main memory once, at `compute`; only a view of a tensor that
    is more than twice as large is copied at `update`, so as not to keep the whole. Arrays are copied at
    `update`. Do not write into a tensor that was given: where PyTorch counts writes, `compute` raises.

    Where `torch.distributed` is set up with several processes, each gives its own batches and all call
    `compute`, which brings the rows together by id: processes may have different numbers of rows or none, and
    what a padded sampler gives twice counts once. All processes get the same numbers.

    Parameters
    ----------
    benchmark
        A benchmark, its name or its folder.
    measure
        One or several for all truths, as `karat.evaluate` takes them. By default a fast choice: R@1, R@5,
        R@10, MedR and RSUM on the first truth, and mAP@R on every truth that lists more than one relevant
        image per caption.
    truth, direction, ties
        As `karat.evaluate` takes them.
    similarity
        "dot" takes the vectors as they are; "cosine" scales each to length 1 first.
    positions
        Whether `ids` are places in the benchmark's order, from 0, as samplers give them, instead of ids.
    prefix
        What the names of the scores begin with, such as "val/".
    distributed
        Whether rows of all processes are brought together. Without it each process scores its own, as where
        only one of them validates.
    name
        The model's, in the scorecard.
    threads
        How many; all by default.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a dog runs", "a brown dog", "a red bus"]
    >>> pets = build("pets", ["dog", "bus"], [0, 1, 2], ["dog", "dog", "bus"], texts, where="", about="")
    >>> meter = Meter(pets, ["R@1", "MedR"])
    >>> meter.update(images=np.eye(2), ids=["dog", "bus"])
    >>> meter.update(texts=np.array([[1.0, 0.0], [0.0, 1.0]]), ids=[0, 2])
    >>> meter
    Meter(pets: 2 of 2 images, 2 of 3 captions)
    >>> meter.update(texts=np.array([[0.6, 0.8]]), ids=[1])
    >>> for name, value in meter.compute().items():
    ...     print(name, round(value, 3))
    i2t/R@1 1.0
    t2i/R@1 0.667
    i2t/MedR 1.0
    t2i/MedR 1.0
    """

    def __init__(
        self,
        benchmark: Benchmark | str | Path,
        measure: Iterable[str | Named] | str | None = None,
        *,
        truth: Iterable[str] | str | None = None,
        direction: Iterable[str] | str | None = None,
        ties: str = "pessimistic",
        similarity: str = "dot",
        positions: bool = False,
        prefix: str = "",
        distributed: bool = True,
        name: str = "model",
        threads: int | None = None,
    ) -> None:
        options = check_options(
            benchmark, measure, truth=truth, direction=direction, ties=ties, threads=threads
        )
        if measure is None:
            options = replace(options, measures=fast_measures(options, every=truth is not None))
        self.options = options
        self.benchmark = options.benchmark
        self.similarity: Any = check_choice(similarity, SIMILARITIES, "similarity")
        self.positions, self.prefix, self.distributed, self.name = positions, prefix, distributed, name
        self.reset()

    def reset(self) -> None:
        """Forget all vectors and scores, before the next round of validation."""
        self._rows = GivenRows(self.benchmark)
        self._scores: dict[str, float] | None = None
        """Of the whole benchmark, once they are computed."""
        self._run: tuple[EmbeddingRun, ScoringOptions, list[str]] | None = None
        self._card: Scorecard | None = None

    def __repr__(self) -> str:
        seen = self._rows.seen() | (self._scores is not None)
        return f"Meter({self.benchmark.name}: {counted(self.benchmark, seen)})"

    def update(self, images: Any = None, texts: Any = None, ids: Any = None) -> None:
        """Add the vectors of a batch.

        Parameters
        ----------
        images, texts
            A row per image or per caption, of one side or of both, which need not have the same number of
            rows. Five captions per image may also be a tensor of images by five by dimensions, with a tensor
            of ids of images by five.
        ids
            The id of every row: numbers or text, in a list, an array or a tensor. With both sides a
            dictionary, ``{"images": …, "texts": …}``. They may be left out where a side is given completely,
            in the benchmark's order. An unknown id raises; one given before counts once, with its first
            vector, and `compute` raises where the two vectors are not the same up to rounding.
        """
        vectors = {side: rows for side, rows in (("images", images), ("texts", texts)) if rows is not None}
        if not vectors:
            raise InputError("update got no vectors", fix="give images=, texts= or both")
        if self._scores is not None:
            raise InputError(
                f"the meter has all of {self.benchmark.name} and computed its scores",
                fix="call reset() before the next round of validation",
            )
        by_side = ids_by_side(ids, list(vectors))
        for side, rows in vectors.items():
            self._rows.add(side, rows, by_side[side], self.positions)

    def compute(self, partial: bool = False) -> dict[str, float]:
        """Return the scores by name, as loggers take them: ``{"i2t/R@1": 0.58, …, "RSUM": 4.1}``.

        Shares are fractions of 1, RSUM is at most 6, ranks are ranks. Scores of the first truth are called by
        direction and measure, those of other truths begin with the truth, as in "eccv/i2t/mAP@R". What has no
        value is left out; a note of the scorecard says why.

        Parameters
        ----------
        partial
            Whether images or captions may be missing, as in the few batches that test a validation loop
            before training; by default they raise. Those given are ranked among themselves, and the names of
            the scores begin with "partial/": a smaller gallery is easier, and its scores do not belong in
            the same curve.
        """
        if self._scores is not None:
            return dict(self._scores)
        processes = Processes(self.distributed)
        rows, seen = self._rows.gathered(processes)
        n = self.benchmark.images.size
        options, notes, prefix = self.options, [], self.prefix
        if not seen.all():
            shown = f"{counted(self.benchmark, seen)} were given"
            if not (partial and seen[:n].any() and seen[n:].any()):
                first = row_name(self.benchmark, int(np.flatnonzero(~seen)[0]))
                raise InputError(
                    f"of {self.benchmark.name}, {shown}; the first that was not is {first}",
                    fix="update the meter with all of them, or rank those given with compute(partial=True)",
                )
            options, prefix = among(options, seen), f"{prefix}partial/"
            notes = [f"partial: {shown} and ranked among themselves, which is easier than among all"]
            # No gallery has them; a vector like the others keeps what is said of whole tables true.
            rows[~seen] = rows[np.flatnonzero(seen)[0]]
        run = EmbeddingRun(rows[:n], rows[n:], self.name, self.similarity)
        on_run = notes_on_loading([run])
        for note in on_run if processes.rank == 0 else ():
            warnings.warn(note, stacklevel=2)
        self._run, self._card = (run, options, [*notes, *on_run]), None
        keys = list(column_keys(options))
        values = processes.from_first(lambda: values_of(self.scorecard, keys), len(keys))
        names = (f"{'' if truth == keys[0].truth else f'{truth}/'}{name}" for truth, name, *_ in keys)
        scores = {f"{prefix}{name}": v for name, v in zip(names, values.tolist()) if not np.isnan(v)}
        if seen.all():
            # The vectors are not needed any more, and may occupy a GPU until the next round.
            self._scores, self._rows = scores, GivenRows(self.benchmark)
        return dict(scores)

    @property
    def scorecard(self) -> Scorecard:
        """The scorecard of the last `compute`, with values per query and notes.

        Of several processes the first has it; another computes it when it is first asked for.
        """
        if self._card is None:
            if self._run is None:
                raise InputError("the meter has computed nothing yet", fix="call compute() first")
            run, options, notes = self._run
            card = score_runs([run], options)
            self._card, self._run = replace(card, notes=[*notes, *card.notes]), None
        return self._card


def fast_measures(options: ScoringOptions, every: bool) -> dict[str, list[Named]]:
    """Return per truth what a meter computes by default, on every truth or on those that add something."""
    measures: dict[str, list[Named]] = {}
    for name in options.measures:
        truth = options.benchmark.truth(name)
        counts = {} if truth.implicit or truth.folds else truth.counts(options.benchmark.directions[-1])
        several = bool(counts) and counts["positives"] > counts["queries"]
        if several and measures:
            measures[name] = parse_measures(["mAP@R"])
        elif every or not measures:
            total = ["RSUM"] if len(options.directions) == 2 else []
            measures[name] = parse_measures(
                [*DEFAULT_MEASURES, "MedR", *(["mAP@R"] if several else []), *total]
            )
    return measures


class ScoreKey(NamedTuple):
    """Which column of a scorecard a score is, and its name beside others of the same truth."""

    truth: str
    name: str
    measure: str
    direction: str


def column_keys(options: ScoringOptions) -> Iterator[ScoreKey]:
    """Yield the columns that a meter returns: all but the means of both directions."""
    for truth, measures in options.measures.items():
        for named in measures:
            if isinstance(named, Combined):
                yield ScoreKey(truth, str(named), str(named), named.direction)
            else:
                for direction in options.directions:
                    yield ScoreKey(truth, f"{direction}/{named}", str(named), direction)


def values_of(card: Scorecard, keys: Iterable[ScoreKey]) -> np.ndarray:
    """Return the values of these columns; NaN where there is none."""
    known = {(column.truth, str(column.measure), column.direction): column.value for column in card}
    values = (known.get((key.truth, key.measure, key.direction)) for key in keys)
    return np.array([np.nan if value is None else value for value in values])


def counted(benchmark: Benchmark, seen: np.ndarray) -> str:
    """Say how many items of each side there are among all rows."""
    parts = np.split(seen, [benchmark.images.size])
    return ", ".join(
        f"{rows.sum():,} of {side.counted(len(rows))}" for rows, side in zip(parts, benchmark.sides)
    )


def row_name(benchmark: Benchmark, row: int) -> str:
    """Return the kind and id of a row, images first."""
    second = row >= benchmark.images.size
    ids = benchmark.ids[second]
    return f"{ids.kind} id {ids[row - second * benchmark.images.size]}"


def among(options: ScoringOptions, seen: np.ndarray) -> ScoringOptions:
    """Return the options with truths cut down to the rows that were seen: they are one fold, or cut folds."""
    bench = options.benchmark
    everything = Fold("seen", *map(np.flatnonzero, np.split(seen, [bench.images.size])))
    truths = {name: within(bench.truth(name), everything) for name in options.needed()}
    return replace(options, benchmark=replace(bench, truths={**bench.truths, **truths}))


def within(truth: Truth, part: Fold) -> Truth:
    """Return a truth whose queries rank the items of a part alone."""
    if truth.implicit:
        raise InputError(
            f"{truth.name} is a rule, whose relevant items are counted in the whole gallery",
            fix="give the meter all images and captions, or another truth",
        )
    folds = [
        Fold(
            fold.name, np.intersect1d(fold.images, part.images), np.intersect1d(fold.captions, part.captions)
        )
        for fold in truth.folds
    ]
    return replace(truth, folds=[f for f in folds if len(f.images) and len(f.captions)] or [part])


class VectorBatch(NamedTuple):
    """Rows as they were given, the places of their items, and how often the tensor had been written to."""

    places: np.ndarray
    vectors: Any
    version: int | None


class GivenRows:
    """The vectors given so far, by the places of their items: images, then captions, in one table."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.size = benchmark.images.size + benchmark.captions.size
        self.batches: list[VectorBatch] = []

    @property
    def width(self) -> int:
        """The dimensions of the vectors; 0 where none were given."""
        return self.batches[0].vectors.shape[1] if self.batches else 0

    def seen(self) -> np.ndarray:
        """Return which rows were given."""
        seen = np.zeros(self.size, bool)
        for batch in self.batches:
            seen[batch.places] = True
        return seen

    def add(self, side: str, rows: Any, ids: Any, positions: bool) -> None:
        """Keep the rows of one side, or raise where they cannot be matched with the benchmark."""
        of_images = side == "images"
        known = self.benchmark.images if of_images else self.benchmark.captions
        vectors = kept(rows, side)
        shape, width = tuple(vectors.shape[:-1]), vectors.shape[-1]
        count = int(np.prod(shape))
        if ids is None and count != known.size:
            raise InputError(
                f"update got {plural(count, known.kind)} without ids, and {self.benchmark.name} has "
                f"{known.size:,}",
                fix="give ids=, or all vectors at once in the benchmark's order",
            )
        places = np.arange(count) if ids is None else places_of(ids, known, shape, positions)
        if self.batches and width != self.width:
            raise InputError(
                f"vectors of {side} have {plural(width, 'dimension')}, those given before {self.width}",
                fix="give vectors of the space that images and texts share",
            )
        if count:
            offset = 0 if of_images else self.benchmark.images.size
            vectors = vectors.reshape(count, width)
            self.batches.append(VectorBatch(places + offset, vectors, writes(vectors)))

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first vector of every item in one table, zeros elsewhere, and which rows are known."""
        for batch in self.batches:
            if batch.version is not None and batch.version != writes(batch.vectors):
                raise InputError(
                    "a tensor was written into after update() got it",
                    fix="give the meter a copy, vectors.clone()",
                )
        parts = on_host([batch.vectors for batch in self.batches])
        dtype = np.result_type(np.float32, *(part.dtype for part in parts))
        table, seen = np.zeros((self.size, self.width), dtype), np.zeros(self.size, bool)
        for (places, *_), part in zip(self.batches, parts):
            strange = np.flatnonzero(~np.isfinite(part).all(axis=1))
            if len(strange):
                item = row_name(self.benchmark, int(places[strange[0]]))
                raise InputError(
                    f"the vector of {item} holds NaN or infinity",
                    fix="see whether training diverged or float16 overflowed",
                )
            first = np.zeros(len(places), bool)
            first[np.unique(places, return_index=True)[1]] = True
            new = first & ~seen[places]
            table[places[new]], seen[places[new]] = part[new], True
            self.check_same(places[~new], part[~new], table)
        return table, seen

    def check_same(self, places: np.ndarray, part: np.ndarray, table: np.ndarray) -> None:
        """Raise where rows are not the vectors that the table has for their items, up to rounding."""
        if not len(places):
            return
        rows, before = part.astype(np.float64), table[places].astype(np.float64)
        apart = np.linalg.norm(rows - before, axis=1)
        longer = np.maximum(np.linalg.norm(rows, axis=1), np.linalg.norm(before, axis=1))
        different = np.flatnonzero(apart > SAME * longer)
        if len(different):
            row = different[0]
            raise InputError(
                f"{row_name(self.benchmark, int(places[row]))} was given twice, with vectors that differ by "
                f"{apart[row] / longer[row]:.0%} of their length",
                fix="check the ids, model.eval(), and that reset() is called before every validation",
            )

    def gathered(self, processes: Processes) -> tuple[np.ndarray, np.ndarray]:
        """Return the table of all processes, and which rows are known; the first that has a row gives it."""
        table, seen = processes.together(self.table)
        if processes.count == 1:
            return table, seen
        # The most and the fewest dimensions, and whether any vector is in double precision.
        facts = [self.width, -self.width if self.width else -sys.maxsize, table.dtype == np.float64]
        width, fewest, double = processes.all(np.array(facts, np.int64), "MAX").tolist()
        if width not in (0, -fewest):
            raise InputError(
                f"processes gave vectors of {-fewest} and of {width} dimensions",
                fix="give vectors of the space that images and texts share",
            )
        owner = processes.all(np.where(seen, processes.rank, processes.count), "MIN")
        own = owner == processes.rank
        joint = np.zeros((self.size, width), np.float64 if double else np.float32)
        if self.batches:
            joint[own] = table[own]
        # One process has each row, the others zeros: the sum is exact.
        joint = processes.all(joint, "SUM")
        again = np.flatnonzero(seen & ~own)
        processes.together(lambda: self.check_same(again, table[again], joint))
        return joint, owner < processes.count


class Processes:
    """The processes that train together: one, or those of `torch.distributed`. Only numbers are exchanged."""

    def __init__(self, distributed: bool) -> None:
        self.torch: Any = sys.modules.get("torch")
        self.count, self.rank = 1, 0
        group = self.torch.distributed if distributed and self.torch is not None else None
        if group is not None and group.is_available() and group.is_initialized():
            self.count, self.rank = group.get_world_size(), group.get_rank()

    @property
    def device(self) -> Any:
        """Where numbers have to be to be exchanged: NCCL knows the memory of GPUs alone."""
        backend = str(self.torch.distributed.get_backend())
        on_gpu = "gloo" not in backend and backend != "mpi" and self.torch.cuda.is_available()
        return self.torch.device("cuda", self.torch.cuda.current_device()) if on_gpu else "cpu"

    def all(self, numbers: np.ndarray, operation: str) -> np.ndarray:
        """Return the sums, the least or the largest over all processes, number by number."""
        distributed = self.torch.distributed
        tensor = self.torch.from_numpy(numbers).to(self.device)
        distributed.all_reduce(tensor, getattr(distributed.ReduceOp, operation))
        return tensor.cpu().numpy()

    def together(self, work: Callable[[], Any]) -> Any:
        """Return what each process's work gives; where one of them raises, all do, and none waits for it."""
        error, done = None, None
        try:
            done = work()
        except Exception as problem:
            error = problem
        failed = error is not None
        if self.count > 1:
            failed = bool(self.all(np.array([failed], np.int64), "MAX")[0])
        if error is not None:
            raise error
        if failed:
            raise InputError("another process could not go on", fix="see its message")
        return done

    def from_first(self, work: Callable[[], np.ndarray], count: int) -> np.ndarray:
        """Return the numbers that the first process computes, in all of them."""
        numbers = self.together(lambda: work() if self.rank == 0 else np.zeros(count))
        return numbers if self.count == 1 else self.all(numbers, "SUM")


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor; without PyTorch nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def kept(rows: Any, side: str) -> Any:
    """Return vectors as they are kept: a tensor where it is, without gradients; others as a new array."""
    if is_tensor(rows):
        vectors = rows.detach()
        if vectors.untyped_storage().nbytes() > 2 * vectors.numel() * vectors.element_size():
            vectors = vectors.clone()
        numeric = not vectors.is_complex()
    else:
        if isinstance(rows, list | tuple):
            rows = [as_array(row.detach().cpu()) if is_tensor(row) else row for row in rows]
        try:
            vectors = np.array(rows)
        except ValueError:
            raise InputError(
                f"vectors of {side} have different lengths", fix="give rows of one length"
            ) from None
        numeric = vectors.dtype.kind in "fiu"
    if vectors.ndim < 2 or not numeric:
        raise InputError(
            f"vectors of {side} have the shape {tuple(vectors.shape)} and hold {vectors.dtype}",
            fix="give a table of floats with a row per item",
        )
    return vectors


def writes(vectors: Any) -> int | None:
    """Return how often a tensor was written to; None where nobody counts."""
    return vectors._version if is_tensor(vectors) and not vectors.is_inference() else None


def on_host(vectors: list[Any]) -> list[np.ndarray]:
    """Return arrays: of what is in main memory without a copy, of each other device in one transfer."""
    parts: dict[int, Any] = dict(enumerate(vectors))
    groups: dict[Any, list[int]] = {}
    for number, part in parts.items():
        if is_tensor(part) and part.device.type != "cpu":
            groups.setdefault((part.device, part.dtype), []).append(number)
    for group in groups.values():
        torch = sys.modules["torch"]
        joint = torch.cat([parts[number] for number in group]).cpu()
        parts.update(zip(group, joint.split([len(parts[number]) for number in group])))
    return [as_array(part) for part in parts.values()]


def as_array(vectors: Any) -> np.ndarray:
    """Return a tensor in main memory as an array; floats that numpy does not know become single precision."""
    if not is_tensor(vectors):
        return vectors
    known = not vectors.is_floating_point() or str(vectors.dtype)[6:] in ("float16", "float32", "float64")
    return (vectors if known else vectors.float()).numpy()


def ids_by_side(ids: Any, sides: list[str]) -> dict[str, Any]:
    """Return the ids of each side that vectors were given for; None where they are left out.

    >>> ids_by_side([3, 4], ["images"])
    {'images': [3, 4]}
    >>> ids_by_side({"images": [3], "captions": [7, 8]}, ["images", "texts"])
    {'images': [3], 'texts': [7, 8]}
    """
    if not isinstance(ids, Mapping):
        if ids is not None and len(sides) > 1:
            raise InputError(
                "ids is one list, for vectors of images and of texts",
                fix='give ids={"images": …, "texts": …}',
            )
        return dict.fromkeys(sides, ids)
    by_side = {KEYS.get(key, key): own for key, own in ids.items()}
    for key in by_side:
        if key not in sides:
            raise InputError(f"ids has {key!r}, without vectors", fix=f"give ids of {' and '.join(sides)}")
    return {side: by_side.get(side) for side in sides}


def places_of(ids: Any, known: Ids, shape: tuple[int, ...], positions: bool) -> np.ndarray:
    """Return the place of each row in the gallery, by the ids of vectors of this shape."""
    if is_tensor(ids):
        ids = ids.detach().cpu().numpy()
    elif not isinstance(ids, np.ndarray):
        if not isinstance(ids, Iterable):
            raise InputError(f"{known.kind} ids are {ids!r}", fix="give a list with one id per vector")
        ids = list(ids)
        if any(getattr(value, "ndim", 0) for value in ids):
            raise InputError(
                f"{known.kind} ids are a list of tensors, as PyTorch's default collation makes of lists",
                fix="give torch.stack(ids, 1), whose rows are those of the vectors",
            )
        ids = as_id_array([value.item() if is_tensor(value) else value for value in ids])
    count = int(np.prod(shape))
    if ids.shape not in (shape, (count,)):
        raise InputError(
            f"{known.kind} ids have the shape {ids.shape}, and their vectors {shape}",
            fix="give one id per vector",
        )
    if positions and ids.dtype.kind == "u":
        ids = ids.astype(np.int64)
    listed = as_id_array(ids.reshape(-1))
    places = listed if positions else known.index(listed)
    outside = np.flatnonzero((places < 0) | (places >= known.size)) if places.dtype.kind == "i" else [0]
    if count and len(outside):
        kind = "position" if positions else "id"
        raise InputError(
            f"{known.kind} {kind} {listed[outside[0]]} is not one of the {known.size:,} that are ranked",
            fix="leave it out" if not positions else f"give positions from 0 to {known.size - 1}",
        )
    return places
