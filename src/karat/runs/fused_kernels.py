"""Triton kernels of `karat.runs.fused_tiles`; Triton comes with PyTorch's builds for CUDA.

While a tile of products is in registers, every score is compared with the scores of judged items, in both
directions, and with what is needed to be among the first k. Counts are added up inside warps. Scores that are
closer to a judged item's than the error of the product, or that may be among the first k, are appended to a
list of the thread that holds them: no lock, no second product. Nothing is written for all other scores.

The tests are written in PTX because Triton has no branch inside a tile. They rely on where Hopper's tensor
cores leave the scores: eight neighbouring registers are rows r, r, r + 8, r + 8, r, r, r + 8, r + 8 and
columns c, c + 1, c, c + 1, c + 8, c + 9, c + 8, c + 9. A product that is listed in the wrong place is off by
more than its bound, which `karat.runs.fused_pass` checks for every list.
"""

import triton
import triton.language as tl

CHUNK = 8
"""Scores of a record: 2 rows by 4 columns, as one thread holds them after a product on Hopper."""
WORDS = 4 + CHUNK
ONE = "0f3F800000"


def registers(names):
    """Return the operands of an inline assembly with CHUNK values of each name, after CHUNK outputs."""
    return {(name, e): f"${CHUNK * (1 + k) + e}" for k, name in enumerate(names) for e in range(CHUNK)}


def largest(names, tag, lines):
    """Write a tree of maxima and return the register of the result."""
    number = 0
    while len(names) > 1:
        pairs = list(zip(names[::2], names[1::2]))
        for a, b in pairs:
            lines += [f".reg .f32 {tag}{number};", f"max.f32 {tag}{number}, {a}, {b};"]
            number += 1
        names = [f"{tag}{k}" for k in range(number - len(pairs), number)]
    return names[0]


def note(reg, lines):
    """Write the jump over, and the appending of, a record: its place, its tag and its scores."""
    lines += [
        "@!p0 bra DONE;",
        "mov.u32 t, %tid.x;",
        f"mad.wide.u32 uat, t, 4, {reg['used', 0]};",
        "ld.global.u32 c, [uat];",
        f"mad.lo.u32 t, t, {reg['room', 0]}, c;",
        f"mad.wide.u32 at, t, {4 * WORDS}, {reg['records', 0]};",
        f"setp.lt.u32 p1, c, {reg['room', 0]};",
        f"@p1 st.global.v4.b32 [at], {{{reg['row', 0]}, {reg['col', 0]}, {reg['tag', 0]}, c}};",
    ]
    for e in range(0, CHUNK, 4):
        four = ", ".join(reg["s", e + q] for q in range(4))
        lines.append(f"@p1 st.global.v4.b32 [at+{16 + 4 * e}], {{{four}}};")
    lines += ["add.u32 c, c, 1;", "st.global.u32 [uat], c;", "DONE:"]
    lines += [f"mov.u32 ${e}, 0;" for e in range(CHUNK)] + ["}"]
    return "\n".join(lines)


HEAD = ["{", ".reg .pred p0, p1, p2, p3;", ".reg .b32 c, t;", ".reg .b64 at, uat;", ".reg .f32 v;"]
PLACES = ["row", "col", "records", "used", "room", "tag"]


def constraints(floats):
    """Return the constraints of an assembly with so many floating-point operands per score."""
    kinds = ["=r", *["f"] * floats, "r", "r", "l", "l", "r", "r"]
    return ",".join(kind for kind in kinds for _ in range(CHUNK))


def write_tops(reg, lines):
    """Write the tests whether a score is high enough for the first k of its row (p0) or column (p1)."""
    upper = [e for e in range(CHUNK) if e % 4 < 2]
    first = largest([reg["s", e] for e in upper], "ma", lines)
    second = largest([reg["s", e + 2] for e in upper], "mb", lines)
    lines += [f"setp.ge.f32 p0, {first}, {reg['tr', 0]};"]
    lines += [f"setp.ge.or.f32 p0, {second}, {reg['tr', 2]}, p0;"]
    for number, e in enumerate(upper):
        joined, before = (".or", ", p1") if number else ("", "")
        lines += [
            f".reg .f32 cm{e};",
            f"max.f32 cm{e}, {reg['s', e]}, {reg['s', e + 2]};",
            f"setp.ge{joined}.f32 p1, cm{e}, {reg['tc', e]}{before};",
        ]


def watch_assembly():
    """Return PTX that notes scores near a judged item's, or high enough for the first k, of either side."""
    reg = registers(["s", "ur", "uc", "tr", "tc", *PLACES])
    lines = list(HEAD)
    write_tops(reg, lines)
    for e in range(CHUNK):
        for side, p in (("ur", "p2"), ("uc", "p3")):
            joined, before = (".or", f", {p}") if e else ("", "")
            lines += [f"abs.f32 v, {reg[side, e]};", f"setp.le{joined}.f32 {p}, v, {ONE}{before};"]
    lines += ["or.pred p0, p0, p1;", "or.pred p2, p2, p3;", "or.pred p0, p0, p2;"]
    return note(reg, lines), constraints(5)


def tops_assembly():
    """Return PTX that notes scores high enough for the first k alone."""
    reg = registers(["s", "tr", "tc", *PLACES])
    lines = list(HEAD)
    write_tops(reg, lines)
    lines += ["or.pred p0, p0, p1;"]
    return note(reg, lines), constraints(3)


def near_assembly():
    """Return PTX that notes scores near those of further judged items of one side."""
    reg = registers(["s", "u", *PLACES])
    lines = list(HEAD)
    for e in range(CHUNK):
        joined, before = (".or", ", p0") if e else ("", "")
        lines += [f"abs.f32 v, {reg['u', e]};", f"setp.le{joined}.f32 p0, v, {ONE}{before};"]
    return note(reg, lines), constraints(2)


def column_assembly(width):
    """Return PTX that adds packed counts: after the butterfly eight groups of lanes hold the same four."""
    return "\n".join([
        "{", ".reg .pred p;", ".reg .b32 g, v, o;", ".reg .b64 at;",
        "mov.u32 g, %laneid;", "shr.u32 g, g, 2;", "mul.lo.u32 o, g, 6;", "shr.u32 v, $1, o;",
        "and.b32 v, v, 63;", "setp.lt.u32 p, g, 4;", "setp.ne.and.u32 p, v, 0, p;",
        f"mad.lo.u32 o, g, {width}, $2;", "mad.wide.u32 at, o, 4, $3;",
        "@p red.relaxed.gpu.global.add.u32 [at], v;", "mov.u32 $0, 0;", "}",
    ])  # fmt: skip


ROWS = "\n".join([
    "{", ".reg .pred p;", ".reg .b32 g;", ".reg .b64 at;",
    "mov.u32 g, %laneid;", "and.b32 g, g, 3;", "setp.eq.u32 p, g, 0;", "setp.ne.and.u32 p, $1, 0, p;",
    "mad.wide.u32 at, $2, 4, $3;", "@p red.relaxed.gpu.global.add.u32 [at], $1;", "mov.u32 $0, 0;", "}",
])  # fmt: skip

WATCH, WATCH_TYPES = watch_assembly()
NEAR, NEAR_TYPES = near_assembly()
TOPS, TOPS_TYPES = tops_assembly()


@triton.jit
def is_above(u):
    """Return 1 where u > 1 and 0 elsewhere, in one instruction."""
    return tl.inline_asm_elementwise(
        "fma.rn.sat.f32 $0, $1, 0f4D000000, 0fCD000000;", "=f,f", [u], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def whole(x):
    """Return whole floats below 2**23 as integers, without a slow conversion."""
    return (x + 8388608.0).to(tl.int32, bitcast=True) & 0x7FFFFF


@triton.jit
def halves(x, BM: tl.constexpr, W: tl.constexpr):
    """Return the left and the right half of the columns: registers of the same thread."""
    return tl.split(tl.permute(tl.reshape(x, (BM, 2, W)), (0, 2, 1)))


@triton.jit
def add_columns(
    x, base, count, BM: tl.constexpr, Q: tl.constexpr, REP: tl.constexpr, G: tl.constexpr, RED: tl.constexpr
):  # fmt: skip
    """Add the column sums of zeros and ones to the counts.

    16 rows of each of REP blocks are in one warp: at most 32 per column, so that four counts fit a float.
    """
    W: tl.constexpr = Q // 4
    lo, hi = halves(x, BM, Q // 2)
    a, b = halves(lo, BM, W)
    c, d = halves(hi, BM, W)
    four = tl.reshape(a + b * 64.0 + (c + d * 64.0) * 4096.0, (REP, G, 16, W))
    # Up to 2**23 and a little more, where `whole` does not reach.
    four = tl.sum(tl.sum(four, 0), 1).to(tl.int32)
    col = tl.broadcast_to((base + tl.arange(0, W))[None, :], (G, W))
    tl.inline_asm_elementwise(
        RED, "=r,r,r,l", [four, col, count.to(tl.int64, bitcast=True)], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def add_rows(r, row, count, ROW: tl.constexpr):
    """Add row sums, of which four lanes hold the parts, to the counts."""
    tl.inline_asm_elementwise(
        ROW, "=r,r,r,l", [whole(tl.sum(r, 1)), row, count.to(tl.int64, bitcast=True)],
        dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit
def in_threads(x, BM: tl.constexpr, Q: tl.constexpr):
    """Return the sums of the columns that one thread holds: four lanes share a row."""
    return tl.sum(tl.sum(tl.reshape(x, (BM, Q // 8, 4, 2)), 3), 1)


@triton.jit
def slice_counts(
    s, inv, rc, rt, row, base, col_centre, col_top, col_count, records, used, room,
    BM: tl.constexpr, Q: tl.constexpr, REP: tl.constexpr, G: tl.constexpr,
    WATCH: tl.constexpr, TYPES: tl.constexpr, RED: tl.constexpr,
):  # fmt: skip
    """Look at the scores of a quarter of a tile's columns; return the row sums, not yet added up."""
    col = base + tl.arange(0, Q)
    cc = tl.load(col_centre + col)
    ct = tl.load(col_top + col)
    ur = s * inv + rc[:, None]
    uc = s * inv + cc[None, :]
    tl.inline_asm_elementwise(
        WATCH, TYPES,
        [s, ur, uc, rt[:, None], ct[None, :], row[:, None], col[None, :],
         records.to(tl.int64, bitcast=True), used.to(tl.int64, bitcast=True), room, room * 0],
        dtype=tl.int32, is_pure=False, pack=8,
    )  # fmt: skip
    add_columns(is_above(uc), base, col_count, BM, Q, REP, G, RED)
    return in_threads(is_above(ur), BM, Q)


@triton.jit
def slice_tops(
    s, rt, row, base, col_top, records, used, room, Q: tl.constexpr, TOPS: tl.constexpr, TYPES: tl.constexpr
):  # fmt: skip
    """Look only for scores that may be among the first k."""
    col = base + tl.arange(0, Q)
    ct = tl.load(col_top + col)
    tl.inline_asm_elementwise(
        TOPS, TYPES,
        [s, rt[:, None], ct[None, :], row[:, None], col[None, :],
         records.to(tl.int64, bitcast=True), used.to(tl.int64, bitcast=True), room, room * 0],
        dtype=tl.int32, is_pure=False, pack=8,
    )  # fmt: skip


@triton.jit
def slice_columns(
    s, inv, row, base, centre, count, records, used, room,
    BM: tl.constexpr, Q: tl.constexpr, REP: tl.constexpr, G: tl.constexpr,
    NEAR: tl.constexpr, TYPES: tl.constexpr, RED: tl.constexpr, TAG: tl.constexpr,
):  # fmt: skip
    """Count for a further judged item of the columns."""
    col = base + tl.arange(0, Q)
    cc = tl.load(centre + col)
    u = s * inv + cc[None, :]
    tl.inline_asm_elementwise(
        NEAR, TYPES,
        [s, u, row[:, None], col[None, :],
         records.to(tl.int64, bitcast=True), used.to(tl.int64, bitcast=True), room, room * 0 + TAG],
        dtype=tl.int32, is_pure=False, pack=8,
    )  # fmt: skip
    add_columns(is_above(u), base, count, BM, Q, REP, G, RED)


@triton.jit
def slice_rows(
    s, inv, rc, row, base, records, used, room,
    BM: tl.constexpr, Q: tl.constexpr, NEAR: tl.constexpr, TYPES: tl.constexpr, TAG: tl.constexpr,
):  # fmt: skip
    """Count for a further judged item of the rows."""
    col = base + tl.arange(0, Q)
    u = s * inv + rc[:, None]
    tl.inline_asm_elementwise(
        NEAR, TYPES,
        [s, u, row[:, None], col[None, :],
         records.to(tl.int64, bitcast=True), used.to(tl.int64, bitcast=True), room, room * 0 + TAG],
        dtype=tl.int32, is_pure=False, pack=8,
    )  # fmt: skip
    return in_threads(is_above(u), BM, Q)


# Not compiled again for sizes that happen to be 1 or multiples of 16.
@triton.jit(do_not_specialize=["room", "n", "m"])
def scan_tiles(
    left, right, inv, row_centre, row_top, col_centre, col_top, row_count, col_count, records, used, room,
    n, m, row_stride, col_stride, LIGHT: tl.constexpr,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    WATCH: tl.constexpr, TYPES: tl.constexpr, RED: tl.constexpr, ROW: tl.constexpr, THREADS: tl.constexpr,
    ROW_LAYERS: tl.constexpr, COL_LAYERS: tl.constexpr, NEAR: tl.constexpr, NEAR_TYPES: tl.constexpr,
    TOPS: tl.constexpr, TOPS_TYPES: tl.constexpr,
):  # fmt: skip
    """Multiply, count and note, tile after tile."""
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    tm = tl.cdiv(n, BM)
    tn = tl.cdiv(m, BN)
    per = GROUP * tn
    records += pid.to(tl.int64) * THREADS * room * 12
    used += pid * THREADS
    Q: tl.constexpr = BN // 4
    G: tl.constexpr = THREADS // 32
    REP: tl.constexpr = BM // (16 * G)
    for t in tl.range(pid, tm * tn, programs, flatten=True):
        first = (t // per) * GROUP
        size = tl.minimum(tm - first, GROUP)
        i = first + (t % per) % size
        j = (t % per) // size
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, D, BK):
            acc = tl.dot(left.load([i * BM, k]), right.load([j * BN, k]).T, acc)
        row = i * BM + tl.arange(0, BM)
        rt = tl.load(row_top + row)
        lo, hi = halves(acc, BM, BN // 2)
        s0, s1 = halves(lo, BM, Q)
        s2, s3 = halves(hi, BM, Q)
        if LIGHT:
            for q in tl.static_range(4):
                s = s0 if q == 0 else s1 if q == 1 else s2 if q == 2 else s3
                slice_tops(s, rt, row, j * BN + q * Q, col_top, records, used, room, Q, TOPS, TOPS_TYPES)
        else:
            rc = tl.load(row_centre + row)
            r = tl.zeros((BM, 4), tl.float32)
            for q in tl.static_range(4):
                s = s0 if q == 0 else s1 if q == 1 else s2 if q == 2 else s3
                r += slice_counts(
                    s, inv, rc, rt, row, j * BN + q * Q, col_centre, col_top, col_count, records, used, room,
                    BM, Q, REP, G, WATCH, TYPES, RED,
                )  # fmt: skip
            add_rows(r, row, row_count, ROW)
            for layer in tl.static_range(1, ROW_LAYERS):
                rc = tl.load(row_centre + layer * row_stride + row)
                r = tl.zeros((BM, 4), tl.float32)
                for q in tl.static_range(4):
                    s = s0 if q == 0 else s1 if q == 1 else s2 if q == 2 else s3
                    r += slice_rows(
                        s, inv, rc, row, j * BN + q * Q, records, used, room, BM, Q, NEAR, NEAR_TYPES, layer
                    )  # fmt: skip
                add_rows(r, row, row_count + layer * row_stride, ROW)
            for layer in tl.static_range(1, COL_LAYERS):
                for q in tl.static_range(4):
                    s = s0 if q == 0 else s1 if q == 1 else s2 if q == 2 else s3
                    slice_columns(
                        s, inv, row, j * BN + q * Q, col_centre + layer * col_stride,
                        col_count + layer * col_stride, records, used, room,
                        BM, Q, REP, G, NEAR, NEAR_TYPES, RED, ROW_LAYERS + layer,
                    )  # fmt: skip


@triton.jit(do_not_specialize=["n"])
def group_maxima(
    left, right, out, n, m, groups, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """Write, for every row, the largest product with the BN / 4 columns that one thread holds."""
    tm = tl.cdiv(n, BM)
    for t in tl.range(tl.program_id(0), tm * tl.cdiv(m, BN), tl.num_programs(0), flatten=True):
        i = t % tm
        j = t // tm
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, D, BK):
            acc = tl.dot(left.load([i * BM, k]), right.load([j * BN, k]).T, acc)
        best = tl.max(tl.max(tl.reshape(acc, (BM, BN // 8, 4, 2)), 3), 1)
        row = i * BM + tl.arange(0, BM)
        at = row.to(tl.int64)[:, None] * groups + j * 4 + tl.arange(0, 4)[None, :]
        tl.store(out + at, best, mask=(row < n)[:, None])


@triton.jit(do_not_specialize=["near_room"])
def count_listed(
    count, scores, centre, inv, above, near, near_n, near_room, items, ROOM: tl.constexpr, B: tl.constexpr
):  # fmt: skip
    """Count, for queries whose judged item is far up, the listed items above it; near ones go to a list."""
    query = tl.program_id(0).to(tl.int64)
    size = tl.minimum(tl.load(count + query), ROOM)
    c = tl.load(centre + query)
    total = tl.zeros((), tl.int32)
    for begin in range(0, size, B):
        k = begin + tl.arange(0, B)
        here = k < size
        u = tl.load(scores + query * ROOM + k, mask=here, other=float("-inf")) * inv + c
        total += tl.sum((u > 1.0).to(tl.int32), 0)
        close = (tl.abs(u) <= 1.0) & here
        found = tl.sum(close.to(tl.int32), 0)
        if found > 0:
            first = tl.atomic_add(near_n, found, sem="relaxed")
            place = first + tl.cumsum(close.to(tl.int32), 0) - 1
            fits = close & (place < near_room)
            at = near + place.to(tl.int64) * 3
            item = tl.load(items + query * ROOM + k, mask=fits, other=0)
            tl.store(at, tl.broadcast_to(query.to(tl.int32), (B,)), mask=fits)
            tl.store(at + 1, item, mask=fits)
    tl.store(above + query, total)


@triton.jit
def keep(query, item, score, mask, count, items, scores, ROOM: tl.constexpr):
    """Append to the lists of queries."""
    slot = tl.atomic_add(count + query, 1, mask=mask, sem="relaxed")
    at = query.to(tl.int64) * ROOM + slot
    fits = mask & (slot < ROOM)
    tl.store(items + at, item, mask=fits)
    tl.store(scores + at, score, mask=fits)


@triton.jit
def list_near(near, near_n, near_room, row, col, layer, mask, B: tl.constexpr):
    """Append pairs that are to be compared exactly."""
    flat = tl.reshape(mask.to(tl.int32), (B * 8,))
    total = tl.sum(flat, 0)
    if total > 0:
        begin = tl.atomic_add(near_n, total, sem="relaxed")
        place = begin + tl.cumsum(flat, 0) - 1
        fits = (flat > 0) & (place < near_room)
        at = near + place.to(tl.int64) * 3
        tl.store(at, tl.reshape(row, (B * 8,)), mask=fits)
        tl.store(at + 1, tl.reshape(col, (B * 8,)), mask=fits)
        tl.store(at + 2, tl.reshape(layer, (B * 8,)), mask=fits)


@triton.jit(
    do_not_specialize=["room", "n", "m", "first_row", "first_col", "near_room"],
    do_not_specialize_on_alignment=["row_n", "col_n"],
)
def sort_records(
    records, used, room, inv, row_centre, row_top, col_centre, col_top, n, m, row_stride, col_stride,
    first_row, first_col,
    row_n, row_items, row_scores, col_n, col_items, col_scores, near, near_n, near_room,
    ROW_LAYERS: tl.constexpr, ROW_ROOM: tl.constexpr, COL_ROOM: tl.constexpr,
    KEEP: tl.constexpr, LIGHT: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """Look at noted scores one by one: candidates go to the lists of their queries, near ones to one list."""
    pid = tl.program_id(0)
    size = tl.minimum(tl.load(used + pid), room)
    records += pid.to(tl.int64) * room * 12
    e = tl.arange(0, 8)
    for begin in range(0, size, B):
        k = begin + tl.arange(0, B)
        here = k < size
        at = records + k.to(tl.int64) * 12
        row0 = tl.load(at, mask=here, other=0)
        col0 = tl.load(at + 1, mask=here, other=0)
        tag = tl.load(at + 2, mask=here, other=0)
        row = row0[:, None] + ((e % 4) // 2 * 8)[None, :]
        col = col0[:, None] + (e // 4 * 8 + e % 2)[None, :]
        inside = here[:, None] & (row < n) & (col < m)
        s = tl.load(at[:, None] + 4 + e[None, :], mask=inside, other=0).to(tl.float32, bitcast=True)
        plain = inside & (tag == 0)[:, None]
        if KEEP:
            high = plain & (s >= tl.load(row_top + row, mask=plain, other=float("inf")))
            keep(row, col + first_col, s, high, row_n, row_items, row_scores, ROW_ROOM)
            high = plain & (s >= tl.load(col_top + col, mask=plain, other=float("inf")))
            keep(col, row + first_row, s, high, col_n, col_items, col_scores, COL_ROOM)
        if not LIGHT:
            # Tag 0 is the first judged item of either side; the others of columns come after those of rows.
            mine = inside & (tag < ROW_LAYERS)[:, None]
            layer = tl.where(tag < ROW_LAYERS, tag, 0)[:, None]
            u = s * inv + tl.load(row_centre + layer * row_stride + row, mask=mine, other=0.0)
            close = mine & (tl.abs(u) <= 1.0)
            layer = tl.broadcast_to(layer, (B, 8))
            list_near(near, near_n, near_room, row + first_row, col + first_col, layer, close, B)
            mine = inside & ((tag == 0) | (tag >= ROW_LAYERS))[:, None]
            layer = tl.where(tag >= ROW_LAYERS, tag - ROW_LAYERS, 0)[:, None]
            u = s * inv + tl.load(col_centre + layer * col_stride + col, mask=mine, other=0.0)
            close = mine & (tl.abs(u) <= 1.0)
            layer = tl.broadcast_to(layer + ROW_LAYERS, (B, 8))
            list_near(near, near_n, near_room, row + first_row, col + first_col, layer, close, B)


@triton.jit(do_not_specialize=["size"])
def dot_pairs(left, right, first, second, out, size, D: tl.constexpr, B: tl.constexpr):
    """Write the products of pairs of rows, summed in double in the CPU's order: eight interleaved sums."""
    k = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    here = k < size
    a = left + tl.load(first + k, mask=here, other=0).to(tl.int64)[:, None] * D
    b = right + tl.load(second + k, mask=here, other=0).to(tl.int64)[:, None] * D
    e = tl.arange(0, 8)[None, :]
    sums = tl.zeros((B, 8), tl.float64)
    WHOLE: tl.constexpr = D - D % 8
    for d in range(0, WHOLE, 8):
        # Products of single precision are exact in double.
        sums += tl.load(a + d + e).to(tl.float64) * tl.load(b + d + e).to(tl.float64)
    for d in range(WHOLE, D):
        product = tl.load(a + d).to(tl.float64) * tl.load(b + d).to(tl.float64)
        sums += tl.where(e == 0, product, 0.0)
    even, odd = tl.split(tl.reshape(sums, (B, 4, 2)))
    even, odd = tl.split(tl.reshape(even + odd, (B, 2, 2)))
    even, odd = tl.split(even + odd)
    tl.store(out + k, even + odd, mask=here)
