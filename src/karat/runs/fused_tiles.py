"""What looks at the products of two tables on a GPU: tables for tensor cores, and two engines.

`TritonTiles` has kernels that count while the product is in registers; `TorchTiles` is plain PyTorch on any
device, which tests also run on the CPU. Both count what is above judged items for certain, list what is too
close to tell and what may be among the first items; `karat.runs.fused_pass` decides the rest exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class CandidateLists:
    """Candidates for the first k of every query: how many were found, and those that there was room for."""

    level: torch.Tensor
    count: torch.Tensor
    item: torch.Tensor
    score: torch.Tensor

    @classmethod
    def empty(cls, level: torch.Tensor, room: int) -> CandidateLists:
        """Return lists without candidates; an item becomes one by reaching the query's level."""
        size, device = (len(level), room), level.device
        count = torch.zeros(len(level), dtype=torch.int32, device=device)
        item = torch.empty(size, dtype=torch.int32, device=device)
        return cls(level, count, item, torch.full(size, -math.inf, device=device))

    @property
    def room(self) -> int:
        """How many candidates a list holds."""
        return self.item.shape[1]

    def view(self, begin: int, end: int) -> CandidateLists:
        """Return the lists of some queries, to be filled."""
        parts = (self.level, self.count, self.item, self.score)
        return CandidateLists(*(part[begin:end] for part in parts))


@dataclass(eq=False)
class ScoreMarks:
    """Where judged items lie, in units of the error: (s - score) inv is the place of a score s."""

    centre: torch.Tensor
    count: torch.Tensor

    @classmethod
    def of(cls, scores: torch.Tensor, inv: float) -> ScoreMarks:
        """Return the marks of scores of judged items, with nothing counted."""
        centre = -(scores * inv).float()
        return cls(centre, torch.zeros_like(centre, dtype=torch.int32))


@dataclass(frozen=True, eq=False)
class Halves:
    """Two tables that tensor cores multiply, and how far their products are from the exact ones at most.

    A sum of d exact products errs by at most γ_d Σ|x_i y_i| ≤ γ_d ‖x‖ ‖y‖ (Higham 2002, §3.1). Tensor cores
    add sixteen products at a time and may cut off where the standard rounds: so u is 2⁻²³, not 2⁻²⁴, and
    there is one more addition per sixteen products, of which the last may be fewer. Two more u are for
    the rounding of places (`ScoreMarks`), and the last term for products that underflow.
    """

    left: torch.Tensor
    right: torch.Tensor
    error: float

    @classmethod
    def of(cls, left: torch.Tensor, right: torch.Tensor) -> Halves:
        """Return tables in half precision with the same products, or nearly.

        Tables that bfloat16 or float16 hold without rounding are multiplied as such. Other float32 x are
        x₁ + x₂ + r with bfloat16 x₁, x₂, |x₂| ≤ 2⁻⁸ |x| and |r| ≤ 2⁻¹⁷ |x|, and x₁y₂ + x₂y₁ + x₁y₁ leaves out
        x₂y₂ and what r brings: at most 2⁻¹⁵ ‖x‖ ‖y‖. The small products come first, where what is cut off is
        small too: the bound of the sum is that of d products and a little.
        """
        norms = [float(torch.linalg.vector_norm(side.float(), dim=1).max()) for side in (left, right)]
        scale = norms[0] * norms[1]
        # Where all vectors of a side are 0 the bound is not: its inverse has to be a number.
        sums = 1.05 * (left.shape[1] * 17 / 16 + 18) * 2.0**-23 * scale + 1e-30
        for kind in (torch.bfloat16, torch.float16):
            halves = left.to(kind), right.to(kind)
            if all(torch.equal(half.to(side.dtype), side) for half, side in zip(halves, (left, right))):
                return cls(*halves, sums)
        high = left.bfloat16(), right.bfloat16()
        low = [(side - half.float()).bfloat16() for side, half in zip((left.float(), right.float()), high)]
        joined = torch.cat([high[0], low[0], high[0]], 1), torch.cat([low[1], high[1], high[1]], 1)
        return cls(*joined, sums + 2.0**-15 * scale)


class TorchTiles:
    """Plain PyTorch: blocks of scores are compared as they are."""

    block = 1 << 24

    def __init__(self, left: torch.Tensor, right: torch.Tensor, inv: float) -> None:
        self.left, self.right, self.inv = left, right, inv

    def products(self, rows: slice, columns: slice) -> torch.Tensor:
        """Return scores in single precision."""
        return self.left[rows].float() @ self.right[columns].float().T

    def levels(self, by_rows: bool, sample: torch.Tensor, place: int) -> torch.Tensor:
        """Return the score at a place among those of a sample of items, for every query."""
        queries, items = (self.left, self.right) if by_rows else (self.right, self.left)
        chosen = items[sample].float()
        step = max(1, self.block // len(sample))
        parts = [
            (queries[b : b + step].float() @ chosen.T).topk(place, 1).values[:, -1]
            for b in range(0, len(queries), step)
        ]
        return torch.cat(parts)

    def scan(
        self,
        rows: slice,
        columns: slice,
        row: ScoreMarks,
        column: ScoreMarks,
        row_lists: CandidateLists,
        column_lists: CandidateLists,
        light: bool,
    ) -> torch.Tensor:
        """Look at a rectangle of the table: add to counts and lists, and return pairs near judged items.

        Pairs are row, column and the number of the judged item, those of rows first. A light rectangle has no
        query whose count is not known from its list.
        """
        near = []
        step = max(1, self.block // max(1, columns.stop - columns.start))
        for begin in range(rows.start, rows.stop, step):
            part = slice(begin, min(begin + step, rows.stop))
            s = self.products(part, columns)
            append(row_lists, part.start, columns.start, s)
            append(column_lists, columns.start, part.start, s.T)
            if light:
                continue
            near += self.near(s, part.start, columns.start, row, 0)
            turned = self.near(s.T, columns.start, part.start, column, len(row.centre))
            near += [pairs[:, [1, 0, 2]] for pairs in turned]
        return torch.cat(near) if near else torch.empty(0, 3, dtype=torch.int32, device=self.left.device)

    def near(
        self, s: torch.Tensor, query0: int, item0: int, marks: ScoreMarks, first: int
    ) -> list[torch.Tensor]:
        """Count what is above judged items for certain; return the pairs near them: query, item, number."""
        found = []
        for layer, centre in enumerate(marks.centre):
            u = s * self.inv + centre[query0 : query0 + len(s), None]
            marks.count[layer, query0 : query0 + len(s)] += (u > 1).sum(1, dtype=torch.int32)
            query, item = torch.nonzero(u.abs() <= 1, as_tuple=True)
            number = torch.full_like(query, first + layer)
            found.append(torch.stack([query + query0, item + item0, number], 1).int())
        return found

    def listed(self, lists: CandidateLists, centre: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how many listed items are surely above a judged item, and pairs of query and item near."""
        u = lists.score * self.inv + centre[:, None]
        query, place = torch.nonzero(u.abs() <= 1, as_tuple=True)
        return (u > 1).sum(1, dtype=torch.int32), torch.stack([query.int(), lists.item[query, place]], 1)


def append(lists: CandidateLists, query0: int, item0: int, scores: torch.Tensor) -> None:
    """Add the scores that reach their query's level to its list."""
    some = lists.view(query0, query0 + len(scores))
    query, item = torch.nonzero(scores >= some.level[:, None], as_tuple=True)
    number = torch.bincount(query, minlength=len(scores))
    first = torch.cumsum(number, 0) - number
    slot = some.count[query].long() + torch.arange(len(query), device=query.device) - first[query]
    fits = slot < lists.room
    some.item[query[fits], slot[fits]] = (item[fits] + item0).int()
    some.score[query[fits], slot[fits]] = scores[query[fits], item[fits]]
    some.count += number.int()


def exact_products(
    left: torch.Tensor, right: torch.Tensor, first: torch.Tensor, second: torch.Tensor
) -> torch.Tensor:
    """Return products of pairs of rows, summed in double in the CPU's order: eight interleaved sums."""
    if left.is_cuda and has_triton():
        from karat.runs.fused_kernels import dot_pairs

        out = torch.empty(len(first), dtype=torch.float64, device=left.device)
        if len(first):
            first, second = (index.int().contiguous() for index in (first, second))
            grid = (-(-len(first) // 128),)
            dot_pairs[grid](left, right, first, second, out, len(first), left.shape[1], 128, num_warps=4)
        return out
    width = left.shape[1]
    whole = width - width % 8
    parts = []
    for begin in range(0, len(first), 1 << 16):
        some = slice(begin, begin + (1 << 16))
        product = left[first[some].long()].double() * right[second[some].long()].double()
        sums = torch.zeros(len(product), 8, dtype=torch.float64, device=left.device)
        for d in range(0, whole, 8):
            sums += product[:, d : d + 8]
        for d in range(whole, width):
            sums[:, 0] += product[:, d]
        pairs = sums[:, ::2] + sums[:, 1::2]
        fours = pairs[:, ::2] + pairs[:, 1::2]
        parts.append(fours[:, 0] + fours[:, 1])
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64, device=left.device)


def has_triton(part: str = "triton") -> bool:
    """Whether Triton is installed, as it is with PyTorch for GPUs, or a part that older versions lack."""
    from importlib.util import find_spec

    return find_spec("triton") is not None and find_spec(part) is not None


class TritonTiles(TorchTiles):
    """Kernels for GPUs with Hopper's tensor cores: scores never leave the registers of the product.

    Scores that need another look are noted in lists of the threads that hold them, and sorted afterwards.
    """

    tile = (256, 128, 64)
    warps = 8
    stages = 4
    records: torch.Tensor | None = None
    room = 0

    @staticmethod
    def fits(table: torch.Tensor) -> bool:
        """Whether a table is on a GPU that these kernels were made for."""
        return (
            table.is_cuda
            and has_triton("triton.tools.tensor_descriptor")
            and torch.cuda.get_device_capability(table.device) == (9, 0)
            # The copy engine wants rows that begin at multiples of 16 bytes.
            and table.shape[1] % 8 == 0
        )

    def __init__(self, left: torch.Tensor, right: torch.Tensor, inv: float) -> None:
        super().__init__(left.contiguous(), right.contiguous(), inv)
        self.programs = torch.cuda.get_device_properties(left.device).multi_processor_count
        self.used = torch.zeros(self.programs * self.warps * 32, dtype=torch.int32, device=left.device)
        self.found = torch.zeros(1, dtype=torch.int64, device=left.device)

    def described(self, table: torch.Tensor, rows: int) -> Any:
        """Return a table as the copy engine takes it."""
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor.from_tensor(table, [rows, self.tile[2]])

    def levels(self, by_rows: bool, sample: torch.Tensor, place: int) -> torch.Tensor:
        """Return the score at a place among the largest of groups of a sample: as high, or a little lower."""
        from karat.runs.fused_kernels import group_maxima

        queries, items = (self.left, self.right) if by_rows else (self.right, self.left)
        rows, columns = 128, 256
        groups = 4 * (len(sample) // columns)
        if groups < 4 * place:
            return super().levels(by_rows, sample, place)
        chosen = items[sample[: groups * columns // 4]].contiguous()
        level = torch.empty(len(queries), device=queries.device)
        step = 1 << 20
        for begin in range(0, len(queries), step):
            part = queries[begin : begin + step]
            best = torch.empty(len(part), groups, device=queries.device)
            group_maxima[(self.programs,)](
                self.described(part, rows), self.described(chosen, columns), best, len(part), len(chosen),
                groups, part.shape[1], rows, columns, self.tile[2], num_warps=8, num_stages=3,
            )  # fmt: skip
            level[begin : begin + step] = best.topk(place, 1).values[:, -1]
        return level

    def scan(
        self,
        rows: slice,
        columns: slice,
        row: ScoreMarks,
        column: ScoreMarks,
        row_lists: CandidateLists,
        column_lists: CandidateLists,
        light: bool,
    ) -> torch.Tensor:
        """Look at a rectangle of the table; again, with more room, where its notes did not fit."""
        from karat.runs import fused_kernels as kernels

        n, m = rows.stop - rows.start, columns.stop - columns.start
        BM, BN, BK = self.tile
        left = self.described(self.left[rows], BM)
        right = self.described(self.right[columns], BN)
        threads = len(self.used)
        share = n / len(self.left) * m / len(self.right)
        events = share * (len(self.left) * row_lists.room + len(self.right) * column_lists.room)
        # Lists have 2.5 times the room that is expected.
        if (room := int(0.6 * events / threads) + 256) > self.room:
            self.room, self.records = room, None
        row_lists = row_lists.view(rows.start, rows.stop)
        column_lists = column_lists.view(columns.start, columns.stop)
        levels = padded(row_lists.level, BM), padded(column_lists.level, BN)
        row_centre = padded(row.centre[:, rows], BM, -math.inf)
        column_centre = padded(column.centre[:, columns], BN, -math.inf)
        centres = row_centre, column_centre
        strides = centres[0].stride(0), centres[1].stride(0)
        layers = len(row.centre), len(column.centre)
        # A light rectangle is not compared with judged items: one kernel for any number.
        compared = (1, 1) if light else layers
        while True:
            if self.records is None:
                self.records = torch.empty(
                    threads * self.room * kernels.WORDS, dtype=torch.int32, device=self.left.device
                )
            self.used.zero_()
            counts = [torch.zeros_like(centre, dtype=torch.int32) for centre in centres]
            kernels.scan_tiles[(self.programs,)](
                left, right, self.inv, row_centre, levels[0], column_centre, levels[1], *counts,
                self.records, self.used, self.room, n, m, *strides, light, self.left.shape[1], BM, BN, BK, 8,
                kernels.WATCH, kernels.WATCH_TYPES, kernels.column_assembly(BN // 16), kernels.ROWS,
                self.warps * 32, *compared, kernels.NEAR, kernels.NEAR_TYPES,
                kernels.TOPS, kernels.TOPS_TYPES, num_warps=self.warps, num_stages=self.stages,
            )  # fmt: skip
            most = int(self.used.max())
            if most <= self.room:
                break
            self.room, self.records = 2 * most, None
        if not light:
            # Rows and columns that fill up the last tiles have the score 0 with everything.
            for side, span, count, centre, pads in (
                (row, rows, counts[0], centres[0], -m % BN), (column, columns, counts[1], centres[1], -n % BM)
            ):  # fmt: skip
                side.count[:, span] += (count - pads * (centre > 1).int())[:, : span.stop - span.start]
        room = 1 if light else 3 * int(self.used.sum()) + (1 << 20)
        for keep in (True, False):
            near = torch.empty(room, 3, dtype=torch.int32, device=self.left.device)
            self.found.zero_()
            kernels.sort_records[(threads,)](
                self.records, self.used, self.room, self.inv, row_centre, levels[0], column_centre, levels[1],
                n, m, *strides, rows.start, columns.start, row_lists.count, row_lists.item, row_lists.score,
                column_lists.count, column_lists.item, column_lists.score, near, self.found, room,
                compared[0], row_lists.room, column_lists.room, keep, light, 64, num_warps=4,
            )  # fmt: skip
            if light or (found := int(self.found)) <= room:
                break
            room = found
        return near[: 0 if light else found]

    def listed(self, lists: CandidateLists, centre: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how many listed items are surely above a judged item, and pairs of query and item near."""
        from karat.runs.fused_kernels import count_listed

        queries = len(lists.count)
        above = torch.empty(queries, dtype=torch.int32, device=lists.count.device)
        room = 4 * queries + 1024
        while True:
            near = torch.empty(room, 3, dtype=torch.int32, device=above.device)
            self.found.zero_()
            count_listed[(queries,)](
                lists.count, lists.score, centre, self.inv, above, near, self.found, room,
                lists.item, lists.room, 256, num_warps=2,
            )  # fmt: skip
            if (found := int(self.found)) <= room:
                return above, near[:found, :2]
            room = found


def padded(table: torch.Tensor, multiple: int, value: float = math.inf) -> torch.Tensor:
    """Return a table with its last dimension filled up to a multiple."""
    missing = -table.shape[-1] % multiple
    return torch.nn.functional.pad(table, (0, missing), value=value).contiguous()
