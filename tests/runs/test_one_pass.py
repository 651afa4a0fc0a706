"""One pass over the scores: the same result however the table is cut, read, shared out or interrupted."""

import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat._util import reporting
from karat.runs import ArrayVectors, EmbeddingRun, MatrixRun, PassOptions, TopRequest, Vectors, pairs_to_place
from karat.runs.device import DEVICES
from karat.runs.devices import cpu
from karat.runs.embeddings import exact_products
from karat.runs.scan import Grid, Partial
from strangers import UNIX, WRITTEN
from told import Told


class Shards(Vectors):
    """Vectors in parts."""

    def __init__(self, table, cuts):
        self.parts = [ArrayVectors(part) for part in np.split(table, np.sort(cuts)) if len(part)]
        self.shape, self.dtype, self.stored = table.shape, table.dtype, table.dtype
        self.starts = np.cumsum([0, *(len(part) for part in self.parts)])

    def read(self, begin, end):
        spans = zip(self.starts, self.parts)
        return np.concatenate([part.read(max(0, begin - s), max(0, end - s)) for s, part in spans])

    read_stored = read

    def take(self, rows):
        place = np.searchsorted(self.starts, rows, side="right") - 1
        return np.stack([self.parts[p].read(r, r + 1)[0] for p, r in zip(place, rows - self.starts[place])])


def tables(rng, n=45, m=70, d=5):
    """Vectors with duplicates, near-duplicates and many equal scores."""
    images = rng.integers(-2, 3, (n, d)).astype(np.float32)
    captions = np.repeat(rng.integers(-2, 3, (m // 2, d)), 2, axis=0).astype(np.float32)
    images[::3] += rng.standard_normal((len(images[::3]), d)).astype(np.float32)
    captions[1::4] = np.nextafter(captions[1::4], np.float32(9))
    return images, captions


def requests(rng, n, m):
    pairs = {"i2t": (n, m), "t2i": (m, n)}
    items, tops = [], []
    for direction, (queries, size) in pairs.items():
        gallery = np.flatnonzero(rng.random(size) < 0.6)
        for some in (None, gallery):
            query = np.sort(rng.integers(0, queries, 3 * queries))
            item = rng.choice(np.arange(size) if some is None else some, len(query))
            items.append(pairs_to_place(direction, query, item, some))
        tops += [
            TopRequest(direction, 1),
            TopRequest(direction, 4, whole_ties=True),
            TopRequest(direction, 9, rng.permutation(queries), gallery),
        ]
    return items, tops


def answers(scanned):
    counts = [column.tolist() for one in scanned.placed for column in (one.above, one.tied, one.earlier)]
    lists = [column.tolist() for top in scanned.tops for column in (top.ptr, top.item, top.score)]
    return counts, lists, {direction: first.tolist() for direction, first in scanned.first.items()}


def brute_force(exact, items, tops):
    """The same from a whole table of exact scores, by sorting and comparing everything."""
    tables = {"i2t": exact, "t2i": exact.T}
    counts = []
    for one in items:
        gallery = np.arange(tables[one.direction].shape[1]) if one.gallery is None else one.gallery
        rows = tables[one.direction][one.query_of_row]
        own = rows[np.arange(len(rows)), one.item][:, None]
        same = rows[:, gallery] == own
        counts.append((rows[:, gallery] > own).sum(axis=1).tolist())
        counts.append((same.sum(axis=1) - 1).tolist())
        counts.append((same & (gallery < one.item[:, None])).sum(axis=1).tolist())
    lists = []
    for request in tops:
        table = tables[request.direction]
        gallery = np.arange(table.shape[1]) if request.gallery is None else request.gallery
        ptr, item, score = [0], [], []
        for row in table if request.queries is None else table[request.queries]:
            order = np.argsort(-row[gallery], kind="stable")
            ranked = row[gallery][order]
            last = (ranked >= ranked[request.k - 1]).sum() if request.whole_ties else request.k
            item += gallery[order[:last]].tolist()
            score += ranked[:last].tolist()
            ptr.append(len(item))
        lists += [ptr, item, score]
    first = {direction: table.argmax(axis=1).tolist() for direction, table in tables.items()}
    return counts, lists, first


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    tile=st.tuples(st.integers(4, 50), st.integers(5, 80)),
    block=st.tuples(st.integers(3, 40), st.integers(4, 40)),
    threads=st.integers(1, 3),
    similarity=st.sampled_from(["dot", "cosine"]),
)
def test_any_tiles_threads_and_shards_give_the_same(seed, tile, block, threads, similarity):
    rng = np.random.default_rng(seed)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    plain = EmbeddingRun(images, captions, similarity=similarity)
    rows, columns = np.indices(plain.shape).reshape(2, -1)
    exact = exact_products(plain.images, plain.captions, rows, columns).reshape(plain.shape)
    expected = brute_force(exact, items, tops)
    shards = [Shards(table, rng.integers(1, len(table), 4)) for table in (images, captions)]
    matrix = MatrixRun(exact), MatrixRun(np.asfortranarray(exact))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", block)
        for run in (plain, EmbeddingRun(*shards, similarity=similarity), *matrix):
            scanned = run.scan(items, threads, True, tops=tops, options=PassOptions(tile=tile))
            assert answers(scanned) == expected


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_partial_results_merge_in_any_order(seed):
    rng = np.random.default_rng(seed)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    whole = Partial(tuple(map(run.counts, items)), tuple(map(run.shortlists, tops)))
    parts = []
    for tile in Grid(run.shape, (20, 33)).tiles():
        parts.append(whole.empty())
        DEVICES["cpu"].add(run.tile_scores(tile, None), parts[-1], 1)
    while len(parts) > 1:
        one, other = (parts.pop(int(rng.integers(len(parts)))) for _ in range(2))
        one.merge(other)
        parts.append(one)
    scanned = run.scan(items, tops=tops)
    for part, counts, placed in zip(items, parts[0].counts, scanned.placed):
        merged = run.placed(part, counts)
        for name in ("above", "tied", "earlier"):
            assert getattr(merged, name).tolist() == getattr(placed, name).tolist()
    for request, lists, top in zip(tops, parts[0].lists, scanned.tops):
        merged = run.top_of(request, lists)
        assert (merged.item.tolist(), merged.score.tolist()) == (top.item.tolist(), top.score.tolist())


def test_all_scores_equal():
    ones = np.ones((30, 4), np.float32)
    for run in (EmbeddingRun(ones, np.ones((2000, 4), np.float32)), MatrixRun(np.ones((30, 2000)))):
        assert (run.top("i2t", 3).item.reshape(30, 3) == [0, 1, 2]).all()
        assert run.top("i2t", 3, whole_ties=True).ptr[-1] == 30 * 2000
        placed = run.place([pairs_to_place("i2t", np.arange(30), np.arange(30))])[0]
        assert placed.above.tolist() == [0] * 30
        assert placed.tied.tolist() == [1999] * 30


def test_the_first_score_that_is_not_a_number_is_named(rng, monkeypatch):
    monkeypatch.setattr(cpu, "BLOCK", (4, 4))
    scores = rng.random((20, 30))
    scores[[7, 3, 19], [2, 28, 1]] = np.nan
    for threads in (1, 3):
        with pytest.raises(karat.KaratError, match="row 3, column 28 is nan"):
            MatrixRun(scores).scan(first=True, threads=threads)


def test_memory_bounds_the_tiles(rng):
    tables = [rng.standard_normal((size, 64)).astype(np.float32) for size in (3000, 9000)]
    run = EmbeddingRun(*(Shards(table, [50, 700]) for table in tables))
    largest = []
    read = run.vectors[1].read
    run.vectors[1].read = lambda begin, end: largest.append(end - begin) or read(begin, end)
    query = np.arange(3000)
    items = [pairs_to_place("i2t", query, query)]
    placed = run.scan(items, options=PassOptions(memory=2_000_000)).placed[0]
    assert max(largest) <= 2_000_000 // (2 * 64 * 4)
    assert placed.above.tolist() == EmbeddingRun(*tables).place(items)[0].above.tolist()
    with pytest.raises(karat.KaratError, match="of memory that are left for the pass are not enough"):
        run.scan(items, options=PassOptions(memory=100_000))


class Interrupted(BaseException):
    pass


def interrupt_after(tiles):
    """What interrupts a pass when so many tiles are done."""

    def hear(stage):
        if stage.what == "tiles" and stage.done == tiles:
            raise Interrupted

    return hear


def test_an_interrupted_pass_goes_on_where_it_was(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions, "my run")
    expected = answers(run.scan(items, tops=tops))
    seen = []
    options = PassOptions(checkpoint=tmp_path / "new", tile=(10, 20))
    for stop in (3, 8, 100):

        def hear(stage, stop=stop):
            if stage.what == "tiles":
                seen.append(stage.done)
                if stage.done == stop:
                    raise Interrupted

        if stop < 100:
            # Stopped after the tile, before it was saved: only that one is computed again.
            with pytest.raises(Interrupted), reporting(Told(hear)):
                run.scan(items, tops=tops, options=options)
            assert len(list((tmp_path / "new").iterdir())) == 1
        else:
            with reporting(Told(hear)):
                assert answers(run.scan(items, tops=tops, options=options)) == expected
    assert seen == [0, 1, 2, 3, 2, 3, 4, 5, 6, 7, 8, *range(7, 21)]
    assert list((tmp_path / "new").iterdir()) == []


def test_a_checkpoint_of_something_else_is_not_used(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    images, captions = tables(rng)
    items, _ = requests(rng, len(images), len(captions))

    options = PassOptions(checkpoint=tmp_path, tile=(10, 20))
    with pytest.raises(Interrupted), reporting(Told(interrupt_after(5))):
        EmbeddingRun(images, captions).scan(items, options=options)
    changed = captions.copy()
    changed[33, 2] += 1
    others = (EmbeddingRun(images, changed), items), (EmbeddingRun(images, captions), items[:2])
    for run, asked in others:
        told = Told()
        with reporting(told):
            scanned = run.scan(asked, options=options)
        assert told.numbers("tiles")[0][0] == 0
        assert answers(scanned) == answers(run.scan(asked))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(karat.KaratError, match=r"is not a complete checkpoint.*delete it"):
        EmbeddingRun(images, captions).scan(items, options=options)


def stopped(run, items, folder, after=5, tile=(10, 20)):
    """A pass that ends after some tiles; return the file that is left."""

    with pytest.raises(Interrupted), reporting(Told(interrupt_after(after))):
        run.scan(items, options=PassOptions(checkpoint=folder, tile=tile))
    (path,) = folder.iterdir()
    return path


def test_a_pass_goes_on_in_smaller_parts(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    images, captions = tables(rng)
    items, _ = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    expected = answers(run.scan(items))
    stopped(run, items, tmp_path)
    shapes, told = [], Told()
    add = DEVICES["cpu"].add
    monkeypatch.setattr(
        type(DEVICES["cpu"]),
        "add",
        lambda self, scores, *rest: shapes.append(scores.tile.shape) or add(scores, *rest),
    )
    with reporting(told):
        scanned = run.scan(items, options=PassOptions(checkpoint=tmp_path, tile=(7, 15)))
    assert answers(scanned) == expected
    # 20 tiles of 10 by 20 were begun and are counted, as memory for 7 by 15 is left.
    assert max(shapes) <= (7, 15)
    assert told.numbers("tiles") == [(n, 20) for n in range(4, 21)]


def test_scores_in_memory_that_changed_anywhere_start_again(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    scores = rng.random((2000, 30))
    scores[5, 29] = -1.0
    items = [pairs_to_place("i2t", np.arange(30), np.arange(30))]
    stopped(MatrixRun(scores), items, tmp_path, 2, (500, 30))
    scores[5, 29] = 9.0
    placed = MatrixRun(scores).scan(items, options=PassOptions(checkpoint=tmp_path, tile=(500, 30))).placed[0]
    assert placed.above.tolist() == MatrixRun(scores).place(items)[0].above.tolist()


def test_a_checkpoint_with_any_damage_is_named(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    images, captions = tables(rng)
    items, _ = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    path = stopped(run, items, tmp_path)
    data = bytearray(path.read_bytes())
    # The method of compression in the list of members.
    data[data.rindex(b"PK\x01\x02") + 10] = 77
    path.write_bytes(data)
    with pytest.raises(karat.KaratError, match=r"is not a complete checkpoint.*delete it"):
        run.scan(items, options=PassOptions(checkpoint=tmp_path))


def test_a_checkpoint_needs_a_folder_before_the_work_starts(tmp_path, rng, monkeypatch):
    (tmp_path / "file").touch()
    run = MatrixRun(rng.random((5, 5)))
    monkeypatch.setattr(run, "tile_scores", None)
    with pytest.raises(karat.KaratError, match="file: is a file; give the name of a folder"):
        run.scan(first=True, options=PassOptions(checkpoint=tmp_path / "file"))


def test_products_that_underflow_are_ranked_exactly():
    # Each product with the first image is half of the smallest number, or a little more or less than that.
    images = np.ones((2, 8192), np.float32)
    images[0] = np.finfo(np.float32).smallest_subnormal
    captions = np.zeros((2, 8192), np.float32)
    captions[0], captions[1, ::2] = 0.49, 0.51
    run = EmbeddingRun(images, captions)
    assert run.dtype == np.float32
    assert run.top("i2t", 1).item.tolist() == [0, 0]
    placed = run.place([pairs_to_place("i2t", np.array([0, 1]), np.array([1, 1]))])[0]
    assert placed.above.tolist() == [1, 1]


@pytest.mark.parametrize("k", [1, 3])
def test_an_empty_gallery_has_no_first_item(rng, k):
    none = np.zeros(0, int)
    for run in (MatrixRun(rng.random((4, 5))), EmbeddingRun(rng.random((4, 3)), rng.random((5, 3)))):
        for whole_ties in (False, True):
            top = run.top("i2t", k, gallery=none, whole_ties=whole_ties)
            assert top.ptr.tolist() == [0] * 5
            assert len(top.item) == len(top.score) == 0


SCRIPT = """
import sys, time
import numpy as np
from karat.runs import EmbeddingRun, PassOptions, pairs_to_place
import karat.runs.one_pass
from karat.runs.device import DEVICES

karat.runs.one_pass.SHARE = 1e9
folder, slow = sys.argv[1], float(sys.argv[2])
rng = np.random.default_rng(1)
run = EmbeddingRun(rng.standard_normal((40, 4)), rng.standard_normal((60, 4)))
add = DEVICES["cpu"].add

def counted(scores, partial, threads):
    print(scores.tile.rows, scores.tile.columns, flush=True)
    time.sleep(slow)
    add(scores, partial, threads)

DEVICES["cpu"].add = counted
query = np.arange(40)
placed = run.scan(
    [pairs_to_place("i2t", query, query)], options=PassOptions(checkpoint=folder, tile=(10, 15))
).placed[0]
print(placed.above.tolist())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed(how, tmp_path):
    def start(slow):
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path), str(slow)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    process = start(0.1)
    begun = [process.stdout.readline().strip() for _ in range(7)]
    process.send_signal(how)
    rest, said = process.communicate()
    if how == signal.SIGINT:
        assert "stopped with 7 of 16 tiles done; the same command goes on from there" in said
    begun += rest.split("\n")[:-1]
    again, _ = start(0).communicate()
    *tiles, result = again.strip().split("\n")
    # What was under way when it was killed is computed again, and nothing that was finished.
    assert len(set(begun) & set(tiles)) <= (how == signal.SIGKILL)
    assert len(set(begun) | set(tiles)) == 16
    folder = tmp_path / "whole"
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder), "0"], capture_output=True, text=True
    )
    assert process.stdout.strip().split("\n")[-1] == result


@pytest.fixture
def gpu(monkeypatch):
    """The device of GPUs, computing on the processor: everything but the kernels."""
    pytest.importorskip("torch")
    from karat.runs import fused_pass

    monkeypatch.setattr(DEVICES["cuda"], "place", "cpu")
    # Small strips, blocks and samples, so that lists overflow and candidates are missing.
    monkeypatch.setattr(fused_pass, "STRIP", 17)
    monkeypatch.setattr(fused_pass, "SAMPLE", 16)
    monkeypatch.setattr(fused_pass.TorchTiles, "block", 256)
    return fused_pass


@pytest.mark.parametrize("seed", range(6))
def test_a_gpu_gives_the_same(seed, gpu):
    rng = np.random.default_rng(seed)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions, similarity=["dot", "cosine"][seed % 2])
    plain = answers(run.scan(items, first=True, tops=tops))
    tile = [None, (13, 70), (45, 31)][seed % 3]
    options = PassOptions(device="cuda", tile=tile)
    assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain


@pytest.mark.parametrize("seed", range(3))
def test_a_gpu_with_little_memory_divides_tiles(seed, gpu, monkeypatch):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    plain = answers(run.scan(items, first=True, tops=tops))
    scan, sizes = gpu.scan_tables, []

    def scan_small(left, right, *asked, **again):
        sizes.append(len(left) * len(right))
        if sizes[-1] > 400:
            raise torch.OutOfMemoryError
        return scan(left, right, *asked, **again)

    monkeypatch.setattr(gpu, "scan_tables", scan_small)
    monkeypatch.setattr(gpu, "LEAST", 8)
    options = PassOptions(device="cuda")
    assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain
    assert max(sizes) > 400
    # What is known to need more is not tried.
    sizes.clear()
    monkeypatch.setattr(gpu, "needed_bytes", lambda tables, asked: len(tables[0]) * len(tables[1]))
    monkeypatch.setattr(gpu, "free_bytes", lambda device: 400)
    assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain
    assert max(sizes) < 400
    monkeypatch.setattr(gpu, "LEAST", 30)
    with pytest.raises(karat.KaratError, match="memory of the GPU is not enough for a tile; choose --device"):
        run.scan(items, options=options)


def test_few_queries_are_looked_at_alone_on_a_gpu(gpu, monkeypatch, rng):
    images, captions = tables(rng)
    run = EmbeddingRun(images, captions)
    # One image has twelve judged captions, the others one each; only some captions ask.
    query = np.r_[np.arange(45), np.full(11, 3)]
    items = [
        pairs_to_place("i2t", query, np.arange(56)),
        pairs_to_place("t2i", np.arange(0, 70, 9), np.arange(8)),
    ]
    tops = [TopRequest("t2i", 3, np.array([5, 6]))]
    scan, sizes = gpu.scan_tables, []

    def scan_seen(left, right, *asked, **again):
        if not again:
            sizes.append((len(left), len(right)))
        return scan(left, right, *asked, **again)

    monkeypatch.setattr(gpu, "scan_tables", scan_seen)
    given = answers(run.scan(items, tops=tops, options=PassOptions(device="cuda")))
    assert given == answers(run.scan(items, tops=tops))
    assert sizes == [(45, 70), (1, 70), (1, 70)]


def test_equals_of_counts_and_lists_may_have_different_orders_on_a_gpu(gpu, rng):
    images, captions = tables(rng)
    run = EmbeddingRun(images, captions)
    request = TopRequest("i2t", 4)
    counts, lists = run.counts(pairs_to_place("i2t", np.arange(45), np.arange(45))), run.shortlists(request)
    counts = replace(counts, order=rng.permutation(70))
    added = [Partial((counts,), (lists,)).empty() for _ in range(2)]
    for name, partial in zip(("cpu", "cuda"), added):
        for tile in Grid(run.shape, (20, 33)).tiles():
            DEVICES[name].add(run.tile_scores(tile, None), partial, 1)
    plain, other = ({name: part.tolist() for name, part in one.arrays().items()} for one in added)
    assert plain == other


def test_all_scores_equal_on_a_gpu(gpu):
    run = EmbeddingRun(np.ones((30, 4), np.float32), np.ones((50, 4), np.float32))
    tops = [TopRequest("i2t", 5), TopRequest("t2i", 3)]
    (first, second) = run.scan(tops=tops, options=PassOptions(device="cuda")).tops
    assert first.item.reshape(30, 5).tolist() == [list(range(5))] * 30
    assert second.item.reshape(50, 3).tolist() == [list(range(3))] * 50


def test_given_scores_are_counted_by_the_processor(gpu, rng):
    run = MatrixRun(rng.random((20, 30)))
    items, tops = requests(rng, 20, 30)
    options = PassOptions(device="cuda")
    assert answers(run.scan(items, tops=tops, options=options)) == answers(run.scan(items, tops=tops))


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("width", [8, 37])
def test_tables_in_any_precision_are_ranked_exactly(kind, width, gpu):
    torch = pytest.importorskip("torch")
    draw = torch.Generator().manual_seed(width)
    left, right = (torch.randn(size, width, generator=draw) for size in (40, 90))
    right[50:60], left[7] = right[:10], left[3]
    left, right = (table.to(getattr(torch, kind)) for table in (left, right))
    every = [index.flatten() for index in torch.meshgrid(torch.arange(40), torch.arange(90), indexing="ij")]
    exact = gpu.exact_products(left, right, *every).view(40, 90)
    product = exact_products(left.float().numpy(), right.float().numpy(), *map(np.asarray, every))
    np.testing.assert_array_equal(exact.flatten().numpy(), product)
    own = torch.randint(90, (2, 40), generator=draw)
    rows = gpu.Asked(exact[torch.arange(40), own], own, torch.arange(90), 6)
    nothing = torch.full((1, 90), gpu.NOTHING, dtype=torch.float64)
    columns = gpu.Asked(nothing, torch.zeros_like(nothing, dtype=torch.int64), torch.arange(40), 4)
    by_rows, by_columns = gpu.scan_tables(left, right, rows, columns)
    scores = exact[torch.arange(40), own]
    torch.testing.assert_close(by_rows.above, (exact > scores[:, :, None]).sum(2), rtol=0, atol=0)
    torch.testing.assert_close(by_rows.tied, (exact == scores[:, :, None]).sum(2), rtol=0, atol=0)
    for table, answer, k in ((exact, by_rows, 6), (exact.T, by_columns, 4)):
        order = np.argsort(-table.numpy(), axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(answer.item.numpy(), order)
        np.testing.assert_array_equal(answer.score.numpy(), np.take_along_axis(table.numpy(), order, 1))


def test_a_product_beyond_its_bound_is_a_bug_that_is_told(gpu, monkeypatch):
    wrong = gpu.TorchTiles.products
    monkeypatch.setattr(gpu.TorchTiles, "products", lambda *spans: wrong(*spans) + 0.5)
    run = EmbeddingRun(*tables(np.random.default_rng(0)))
    with pytest.raises(karat.KaratError, match="more than its bound"):
        run.scan(tops=[TopRequest("i2t", 2)], options=PassOptions(device="cuda"))


@pytest.mark.parametrize("d", [4, 64])
def test_vectors_of_zeros_tie_with_everything_on_a_gpu(d, gpu, rng):
    images, captions = tables(rng, d=d)
    # All that a query is asked again with may be 0, and a whole tile of queries.
    images[-9:], captions[[3, 8]] = 0, 0
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    plain = answers(run.scan(items, first=True, tops=tops))
    for tile in (None, (36, 70)):
        options = PassOptions(device="cuda", tile=tile)
        assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain


@pytest.mark.parametrize("d", [1, 8, 64, 512])
def test_the_bound_holds_for_the_worst_numbers(d, gpu):
    torch = pytest.importorskip("torch")
    from karat.runs.fused_tiles import Halves, ScoreMarks

    # What is left out of x = x₁ + x₂ + r is as large as it can be, and of one sign.
    worst = torch.full((1, d), 1 + 2**-8 - 2**-16 + 2**-17 - 2**-23)
    halves = Halves.of(worst, worst)
    product = (halves.left.double() @ halves.right.double().T).item()
    exact = gpu.exact_products(worst, worst, torch.tensor([0]), torch.tensor([0])).item()
    assert abs(product - exact) / exact > 0.9 * 2**-15
    assert abs(product - exact) + d * 2**-23 * exact < halves.error
    # Tensor cores cut off each of sixteen products and the sum; then a place is rounded three times.
    ones = torch.ones(1, d, dtype=torch.bfloat16)
    halves = Halves.of(ones, ones)
    cut_off = 17 * -(-d // 16) * 2.0**-23 * d
    inv = 0.99 / halves.error
    for direction in (-1, 1):
        marks = ScoreMarks.of(torch.tensor([[float(d)]], dtype=torch.float64), inv)
        score = torch.tensor(d + direction * cut_off, dtype=torch.float64).float()
        assert abs(score * inv + marks.centre[0, 0]).item() * (1 + 3 * 2**-24) + 3 * 2**-24 * d * inv < 1


def test_a_wrong_count_is_a_bug_that_is_told(gpu, monkeypatch, rng):
    near = gpu.TorchTiles.near

    def one_too_many(tiles, s, query0, item0, marks, first):
        marks.count[:, 0] += 1
        return near(tiles, s, query0, item0, marks, first)

    monkeypatch.setattr(gpu.TorchTiles, "near", one_too_many)
    run = EmbeddingRun(*tables(rng))
    items = [pairs_to_place("i2t", np.arange(45), np.arange(45))]
    with pytest.raises(karat.KaratError, match=r"ranks of query \d+ are not those of its exact scores"):
        run.scan(items, options=PassOptions(device="cuda"))


def test_a_tile_that_cannot_be_copied_to_the_gpu_is_divided(gpu, monkeypatch, rng):
    torch = pytest.importorskip("torch")
    from karat.runs.devices.cuda import Copies

    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    plain = answers(run.scan(items, first=True, tops=tops))
    copy = Copies.to_device

    def copy_small(copies, array):
        if array.ndim == 2 and array.dtype == np.float32 and len(array) > 25:
            raise torch.OutOfMemoryError
        return copy(copies, array)

    monkeypatch.setattr(Copies, "to_device", copy_small)
    monkeypatch.setattr(gpu, "LEAST", 8)
    options = PassOptions(device="cuda")
    assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain
    monkeypatch.setattr(gpu, "LEAST", 50)
    with pytest.raises(karat.KaratError, match="memory of the GPU is not enough for a tile; choose --device"):
        run.scan(items, options=options)


@pytest.mark.parametrize("width", [5, 64])
def test_a_gpu_itself_gives_the_same(width, rng):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    images, captions = tables(rng, 700, 1500, width)
    items, tops = requests(rng, len(images), len(captions))
    run = EmbeddingRun(images, captions)
    plain = answers(run.scan(items, first=True, tops=tops))
    for tile in (None, (300, 900)):
        options = PassOptions(device="cuda", tile=tile)
        assert answers(run.scan(items, first=True, tops=tops, options=options)) == plain


def test_without_a_gpu_the_command_says_so(rng):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    images, captions = tables(rng)
    items, _ = requests(rng, len(images), len(captions))
    with pytest.raises(karat.KaratError, match="torch finds no GPU; choose --device cpu"):
        EmbeddingRun(images, captions).scan(items, options=PassOptions(device="cuda"))


@pytest.fixture
def half(tmp_path, rng, monkeypatch):
    """A pass that was stopped, and its checkpoint."""
    monkeypatch.setattr("karat.runs.one_pass.SHARE", 1e9)
    images, captions = tables(rng)
    items, tops = requests(rng, len(images), len(captions))
    run, options = EmbeddingRun(images, captions), PassOptions(checkpoint=tmp_path, tile=(10, 20))
    with pytest.raises(Interrupted), reporting(Told(interrupt_after(5))):
        run.scan(items, tops=tops, options=options)
    (path,) = tmp_path.iterdir()
    return lambda: run.scan(items, tops=tops, options=options), path


@UNIX
@pytest.mark.parametrize("spoil", WRITTEN)
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_checkpoint_that_others_may_have_written_does_not_go_on(half, spoil, what):
    again, path = half
    spoil(path if what == "file" else path.parent)
    with pytest.raises(karat.KaratError, match=r"if you trust it, make it yours alone .*; else delete it"):
        again()
    assert path.exists()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("of", lambda a: np.array("another"), "belongs to another pass"),
        ("step", lambda a: np.array([0, -5]), "has no tiles"),
        ("step", lambda a: a.astype(object), "Object arrays cannot be loaded"),
        ("step", lambda a: np.arange(5), "too many values"),
        ("done", lambda a: np.array([10**9]), "names tiles that there are not"),
        ("done", lambda a: np.array([-1]), "names tiles that there are not"),
        ("done", lambda a: np.array(["x"]), "does not say which tiles are done"),
        ("above", lambda a: a + 10**6, "counts more items than there are"),
        ("tied", lambda a: a - 10**6, "counts more items than there are"),
        ("above", lambda a: a[:1], "another shape or type"),
        ("above", lambda a: a.astype(float), "another shape or type"),
        ("above", lambda a: np.zeros(10**6), "is larger than it can be"),
        ("item", lambda a: a + 10**6, "lists items that there are not"),
        ("item", lambda a: a - 10**6, "lists items that there are not"),
        ("size", lambda a: a + 10**6, "not lists of scores"),
        ("score", lambda a: a * np.nan, "not lists of scores"),
        ("score", None, "score is not a file"),
    ],
)
def test_a_poisoned_checkpoint_is_a_sentence(half, name, change, message):
    """What compiled loops would take as places in an array is looked at first."""
    again, path = half
    with np.load(path) as stored:
        arrays = dict(stored)
    name = next(key for key in arrays if key.rpartition(".")[2] == name)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    np.savez(path, **arrays)
    with pytest.raises(karat.KaratError, match=rf"is not a complete checkpoint: .*{message}.*; delete it"):
        again()


def test_a_checkpoint_of_another_run_under_this_one_s_name_is_refused(half, tmp_path, rng, monkeypatch):
    again, path = half
    images, captions = tables(rng)
    items, tops = requests(np.random.default_rng(1), len(images), len(captions))
    other = tmp_path / "other"
    with pytest.raises(Interrupted), reporting(Told(interrupt_after(5))):
        EmbeddingRun(images, captions).scan(
            items, tops=tops, options=PassOptions(checkpoint=other, tile=(10, 20))
        )
    next(other.iterdir()).replace(path)
    with pytest.raises(karat.KaratError, match="is not a complete checkpoint"):
        again()
