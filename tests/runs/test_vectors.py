"""Tables in files: every layout reads as the array it was made of, and a damaged file is one sentence."""

import contextlib
import gzip
import io
import json
import os
import tarfile
import tempfile
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.runs import ArrayVectors, EmbeddingRun, Fingerprint, Loading, Shards, load_runs
from karat.runs.files import read
from karat.runs.formats import parquet, shards
from karat.runs.formats.content import SHARD_READERS
from karat.runs.formats.shards import ShardFolder
from karat.runs.vectors import ChosenRows, Vectors
from karat.world import make_world

ROWS = 4


def bfloat16(table):
    """The upper halves of float32: what is kept, and what is read."""
    halves = (np.asarray(table, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return halves, (halves.astype(np.uint32) << 16).view(np.float32)


def write_tensor(path, table, code, key="vectors"):
    """By hand: the library's numpy functions have no bfloat16, and keep numbers at even places."""
    data = np.ascontiguousarray(table).tobytes()
    head = json.dumps({key: {"dtype": code, "shape": table.shape, "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + data)


def write_members(path, members):
    with tarfile.open(path, "w") as archive:
        for name, content in members:
            stream = io.BytesIO()
            np.save(stream, content) if isinstance(content, np.ndarray) else stream.write(content)
            member = tarfile.TarInfo(name)
            member.size = stream.tell()
            stream.seek(0)
            archive.addfile(member, stream)


def write_npy(path, table, row=0):
    np.save(path, table)


def write_fortran(path, table, row=0):
    np.save(path, np.asfortranarray(table))


def write_safetensors(path, table, row=0):
    codes = {"float16": "F16", "float32": "F32", "float64": "F64"}
    write_tensor(path, table, codes[table.dtype.name])


def write_lists(path, table, row=0):
    pl.DataFrame({"embedding": table.tolist()}, schema={"embedding": pl.List(pl.Float32)}).write_parquet(path)


def write_arrays(path, table, row=0):
    kind = pl.Float64 if table.dtype == np.float64 else pl.Float32
    frame = pl.DataFrame({"embedding": table}, schema={"embedding": pl.Array(kind, table.shape[1])})
    frame.write_parquet(path, row_group_size=3)


def write_tar(path, table, row=0):
    # As img2dataset and clip-retrieval leave them: pictures between the vectors.
    samples = [(f"{row + k:09d}", vector) for k, vector in enumerate(table)]
    write_members(path, [m for key, v in samples for m in ((f"{key}.jpg", b"a picture"), (f"{key}.npy", v))])


LAYOUTS = {
    "npy": (".npy", write_npy, "float32"),
    "npy, columns first": (".npy", write_fortran, "float32"),
    "npy, float16": (".npy", write_npy, "float16"),
    "safetensors": (".safetensors", write_safetensors, "float32"),
    "safetensors, float64": (".safetensors", write_safetensors, "float64"),
    "parquet, lists": (".parquet", write_lists, "float32"),
    "parquet, arrays": (".parquet", write_arrays, "float64"),
    "tar": (".tar", write_tar, "float16"),
}


def fill(folder, table, write, extension, stem="shard", rows=ROWS):
    """Write a table as numbered files."""
    folder.mkdir(exist_ok=True, parents=True)
    for number, begin in enumerate(range(0, len(table), rows)):
        write(folder / f"{stem}-{number:05d}{extension}", table[begin : begin + rows], begin)
    return folder


def test_every_format_of_shards_is_tested():
    assert {extension for extension, *_ in LAYOUTS.values()} == {*SHARD_READERS}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shards_read_as_the_array(tmp_path, rng, layout, monkeypatch):
    extension, write, dtype = LAYOUTS[layout]
    table = rng.standard_normal((18, 5)).astype(dtype)
    vectors = read(fill(tmp_path, table, write, extension)).tables[0]
    monkeypatch.setattr("karat.runs.formats.parquet.CHUNK_BYTES", 60)
    assert isinstance(vectors, Shards)
    assert vectors.shape == (18, 5)
    expected = table.astype(np.float64 if dtype == "float64" else np.float32)
    assert (vectors.dtype, vectors.stored) == (expected.dtype, table.dtype)
    np.testing.assert_array_equal(np.asarray(vectors), table)
    for begin, end in ((0, 18), (0, 0), (3, 5), (4, 8), (7, 17), (17, 18)):
        part = vectors.read(begin, end)
        np.testing.assert_array_equal(part, expected[begin:end])
        assert (part.dtype, part.flags.c_contiguous, part.flags.aligned) == (expected.dtype, True, True)
    rows = rng.integers(0, 18, 40)
    np.testing.assert_array_equal(vectors.take(rows), expected[rows])
    assert vectors.take(rows).dtype == expected.dtype
    assert vectors.place(9) == (str(tmp_path / f"shard-00002{extension}"), 1)
    assert list(vectors.spans(3))[:3] == [(0, 3), (3, 4), (4, 7)]


def test_bfloat16_and_mixed_types(tmp_path, rng):
    table = rng.standard_normal((8, 3), dtype=np.float32)
    halves, rounded = bfloat16(table[:4])
    write_tensor(tmp_path / "a-0.safetensors", halves, "BF16")
    write_tensor(tmp_path / "a-1.safetensors", table[4:], "F32")
    vectors = read(tmp_path).tables[0]
    np.testing.assert_array_equal(vectors.read(0, 8), np.r_[rounded, table[4:]])
    np.testing.assert_array_equal(vectors.read(1, 3), rounded[1:3])
    assert [shard.stored_as for shard in vectors.shards] == ["bfloat16", "float32"]
    run = karat.load_run(tmp_path, tmp_path)
    assert "image embeddings are of bfloat16 (first a-0.safetensors) and float32" in run.checks[0].warnings[0]
    # A header of any length: numbers that are not at a multiple of their size are copied.
    for key in ("vectors", "vectors1", "vectors12", "vectors123"):
        write_tensor(tmp_path / "a-1.safetensors", table[4:], "F32", key)
        part = read(tmp_path).tables[0].read(4, 8)
        np.testing.assert_array_equal(part, table[4:])
        assert part.flags.aligned


def test_few_files_are_open_and_threads_may_read_together(tmp_path, rng):
    table = rng.standard_normal((600, 3), dtype=np.float32)
    vectors = read(fill(tmp_path, table, write_npy, ".npy", rows=1)).tables[0]
    count = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    wrong = []

    def work(seed):
        order = np.random.default_rng(seed)
        for _ in range(60):
            begin = int(order.integers(0, 590))
            rows = order.integers(0, 600, 5)
            if not np.array_equal(vectors.read(begin, begin + 9), table[begin : begin + 9]):
                wrong.append(begin)
            if not np.array_equal(vectors.take(rows), table[rows]):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(vectors._open) == 32
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert maps.read_text().count(str(tmp_path)) <= 32
        assert len(os.listdir("/proc/self/fd")) <= count + 32


def test_chosen_rows(rng):
    table = rng.random((6, 2))
    chosen = ChosenRows(ArrayVectors(table, "x.npy"), [5, 0, 3])
    np.testing.assert_array_equal(chosen.read(1, 3), table[[0, 3]])
    np.testing.assert_array_equal(chosen.take(np.array([2, 0])), table[[3, 5]])
    assert chosen.place(2) == ("x.npy", 3)


def embeddings(rng, bench, width=5):
    return [
        rng.standard_normal((size, width), dtype=np.float32)
        for size in (bench.images.size, bench.captions.size)
    ]


def two_folders(path, images, captions):
    fill(path / "images", images, write_npy, ".npy", "any")
    fill(path / "captions", captions, write_npy, ".npy", "any")


def two_stems(path, images, captions):
    fill(path, images, write_safetensors, ".safetensors", "images")
    fill(path, captions, write_safetensors, ".safetensors", "captions", rows=7)


def with_index(path, images, captions):
    facts = Fingerprint({"weights.sha256": "9f"})
    folder = ShardFolder(path, "digest", facts, rows=7)
    tables = {"images": images, "captions": captions}
    for side, table in tables.items():
        for file, rows in folder.parts(side, len(table)):
            folder.write(file, table[rows])
    folder.finish({side: list(range(len(table))) for side, table in tables.items()}, facts, "run")


def of_clip_retrieval(path, images, captions):
    fill(path / "img_emb", images.astype(np.float16), write_npy, ".npy", "img_emb")
    fill(path / "text_emb", captions.astype(np.float16), write_npy, ".npy", "text_emb")


def both_in_tars(path, images, captions):
    path.mkdir()
    for number, begin in enumerate(range(0, len(captions), 6)):
        members = [(f"{k:09d}.txt.npy", captions[k]) for k in range(begin, min(begin + 6, len(captions)))]
        members += [
            (f"{k:09d}.img.npy", images[k : k + 1]) for k in range(begin, min(begin + 6, len(images)))
        ]
        write_members(path / f"{number:05d}.tar", [*members, (f"{number}.json", b"{}")])


def both_in_safetensors(path, images, captions):
    from safetensors.numpy import save_file

    path.mkdir()
    save_file({"images": images[:3], "captions": captions[:9]}, path / "run-00000-of-00002.safetensors")
    save_file({"images": images[3:], "captions": captions[9:]}, path / "run-00001-of-00002.safetensors")


FOLDERS = [two_folders, two_stems, with_index, of_clip_retrieval, both_in_tars, both_in_safetensors]


@pytest.mark.parametrize("make", FOLDERS)
def test_folders_score_as_the_arrays_do(tmp_path, rng, make):
    bench = make_world(images=12, captions=2, seed=1).benchmark()
    images, captions = embeddings(rng, bench)
    if make is of_clip_retrieval:
        images, captions = images.astype(np.float16), captions.astype(np.float16)
    if make is both_in_tars:
        # Every second caption has no image there: keys count the captions, not the images.
        images = images[: bench.images.size]
    make(tmp_path / "run", images, captions)
    content = read(tmp_path / "run")
    assert all(isinstance(table, Vectors) for table in content.tables)
    (loaded,) = load_runs(
        [tmp_path / "run"],
        bench,
        loading=Loading(ids={"images": bench.images.values, "captions": bench.captions.values}),
    )
    assert isinstance(loaded, EmbeddingRun)
    plain = karat.evaluate(karat.load_run(images, captions), bench, ["R@1", "MedR", "mAP@R"])
    card = karat.evaluate(loaded, bench, ["R@1", "MedR", "mAP@R"])
    assert [column.value for column in card] == [column.value for column in plain]
    if make is with_index:
        assert content.made_with.facts == {"weights.sha256": "9f"}
        assert content.ids["images"] == list(range(12))


def test_a_folder_for_each_side(tmp_path, rng):
    bench = make_world(images=12, captions=2, seed=1).benchmark()
    images, captions = embeddings(rng, bench)
    fill(tmp_path / "a", images, write_npy, ".npy")
    fill(tmp_path / "b", captions, write_tar, ".tar")
    (tmp_path / "b" / "shard-00000.parquet").write_bytes(b"what img2dataset writes beside it")
    (run,) = load_runs([tmp_path / "a", tmp_path / "b"], bench)
    np.testing.assert_array_equal(run.captions, captions)
    with pytest.raises(karat.KaratError, match="holds the embeddings of one side"):
        karat.load_run(tmp_path / "a")


def test_keys_of_tars_are_ids_unless_they_count(tmp_path, rng):
    table = rng.random((3, 2), dtype=np.float32)
    write_members(tmp_path / "x.tar", [(f"cat/{k}.npy", v) for k, v in zip(("b", "a%2Ejpg", "7"), table)])
    assert list(read(tmp_path / "x.tar").rows) == ["cat/b", "cat/a.jpg", "cat/7"]
    write_tar(tmp_path / "y.tar", table)
    assert read(tmp_path / "y.tar").rows is None
    (tmp_path / "img.tar").write_bytes((tmp_path / "x.tar").read_bytes())
    run = karat.load_run(tmp_path / "img.tar", tmp_path / "y.tar")
    assert list(run.ids["images"]) == ["cat/b", "cat/a.jpg", "cat/7"]


def test_ids_of_parquet_shards_are_joined(tmp_path, rng):
    table = rng.random((5, 2), dtype=np.float32)
    for number, part in enumerate((slice(0, 3), slice(3, 5))):
        frame = pl.DataFrame({"id": [f"i{k}" for k in range(5)][part], "embedding": table[part]})
        frame.write_parquet(tmp_path / f"a-{number}.parquet")
    assert read(tmp_path).rows == [f"i{k}" for k in range(5)]
    pl.DataFrame({"embedding": table[3:]}).write_parquet(tmp_path / "a-1.parquet")
    with pytest.raises(karat.KaratError, match=r"a-1.parquet: has no ids, unlike a-0.parquet"):
        read(tmp_path)


def test_ids_of_safetensors_shards_are_joined(tmp_path, rng):
    from safetensors.numpy import save_file

    table = rng.random((5, 2), dtype=np.float32)
    for number, part in enumerate((slice(0, 3), slice(3, 5))):
        arrays = {"images": table[part], "captions": table[part], "image_ids": np.arange(5)[part] + 10}
        texts = {"caption_ids": json.dumps([f"c{k}" for k in range(5)][part])}
        save_file(arrays, tmp_path / f"run-{number}.safetensors", texts)
    ids = read(tmp_path).ids
    assert ids == {"images": [10, 11, 12, 13, 14], "captions": ["c0", "c1", "c2", "c3", "c4"]}
    save_file({"images": table}, tmp_path / "run-1.safetensors")
    with pytest.raises(karat.KaratError, match=r"run-1.safetensors: does not name its sides as those before"):
        read(tmp_path)


def test_conversion_keeps_the_type_of_shards(tmp_path, rng):
    images, captions = (rng.standard_normal((size, 3)).astype(np.float16) for size in (9, 11))
    of_clip_retrieval(tmp_path / "run", images, captions)
    karat.convert(tmp_path / "run", target=tmp_path / "one.npz")
    with np.load(tmp_path / "one.npz") as arrays:
        assert arrays["images"].dtype == np.float16
        np.testing.assert_array_equal(arrays["captions"], captions)
    karat.convert(tmp_path / "run", target=tmp_path / "two.tar", kind="embeddings")
    np.testing.assert_array_equal(np.asarray(read(tmp_path / "two.images.tar").tables[0]), images)
    table = np.load(tmp_path / "run" / "img_emb" / "img_emb-00001.npy")
    table[2, 1] = np.inf
    np.save(tmp_path / "run" / "img_emb" / "img_emb-00001.npy", table)
    with pytest.raises(
        karat.KaratError, match=r"img_emb-00001.npy \(image embeddings\): row 2, column 1 is inf"
    ):
        karat.convert(tmp_path / "run", target=tmp_path / "bad.npz")


def remove(*names):
    return lambda folder: [(folder / name).unlink() for name in names]


def cut(name, size=-3):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


def resize(name, shape):
    return lambda folder: np.save(folder / name, np.ones(shape, np.float32))


PROBLEMS = [
    (remove("s-00002.npy"), "number 2 is missing; add the file s-00002.npy"),
    (remove("s-00000.npy", "s-00001.npy"), "number 0 is missing: the first is 2"),
    (cut("s-00001.npy"), "s-00001.npy: is not a complete npy file"),
    (
        lambda folder: (cut("s-00001.npy")(folder), cut("s-00003.npy", 5)(folder)),
        "2 files cannot be used: s-00001.npy is not a complete npy file; s-00003.npy is not",
    ),
    (resize("s-00001.npy", (4, 6)), "s-00001.npy: has 6 columns, but s-00000.npy has 5"),
    (resize("s-00001.npy", (4,)), "s-00001.npy: has 1 dimension"),
    (resize("s-00001.npy", (0, 5)), "s-00001.npy: is empty"),
    (resize("s-1.npy", (4, 5)), "s-1.npy: has the number 1, and so has s-00001.npy; move one of them away"),
    (resize("labels.npy", (4, 5)), "labels.npy: has no number in its name"),
    (
        lambda folder: (folder / "s-00001.npy").write_bytes(gzip.compress(b"numbers")),
        "s-00001.npy: is compressed with gzip, and tables are read in place; unpack it with gunzip",
    ),
    (resize("images-00000.npy", (4, 5)), "s-00000.npy is of neither side"),
    (lambda folder: write_members(folder / "s.tar", [("a.npy", np.ones(5))]), "holds .npy and .tar files"),
    (lambda folder: np.save(folder / "s-00001.npy", np.array([[None]])), "holds Python objects"),
]


@pytest.mark.parametrize(("spoil", "message"), PROBLEMS)
def test_what_is_wrong_with_shards_is_said_before_they_are_read(tmp_path, rng, spoil, message):
    fill(tmp_path, rng.random((18, 5), dtype=np.float32), write_npy, ".npy", "s")
    spoil(tmp_path)
    with pytest.raises(karat.KaratError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(tmp_path) in str(error.value)
    assert error.value.fix


def test_hidden_files_are_not_parts_of_a_table(tmp_path, rng):
    table = rng.random((18, 5), dtype=np.float32)
    fill(tmp_path, table, write_npy, ".npy", "s")
    (tmp_path / "._s-00001.npy").write_bytes(b"\0\5\x16\7")
    assert (np.asarray(read(tmp_path).tables[0]) == table).all()


def test_metadata_that_names_only_some_rows_is_refused(tmp_path, rng):
    of_clip_retrieval(tmp_path, rng.random((8, 3)), rng.random((8, 3)))
    (tmp_path / "metadata").mkdir()
    files = [tmp_path / "metadata" / f"metadata_{number}.parquet" for number in range(2)]
    pl.DataFrame({"caption_id": [3, 2, 1, 0]}).write_parquet(files[0])
    pl.DataFrame({"key": [7, 6, 5, 4]}).write_parquet(files[1])
    with pytest.raises(
        karat.KaratError, match=r"metadata_1.parquet: has no column 'caption_id', unlike meta"
    ):
        read(tmp_path)
    pl.DataFrame({"caption_id": [7, 6, 5, 4]}).write_parquet(files[1])
    assert read(tmp_path).ids == {"captions": [3, 2, 1, 0, 7, 6, 5, 4]}


def test_an_index_without_the_ids_of_a_side_is_refused(tmp_path, rng):
    with_index(tmp_path / "run", *(rng.standard_normal((size, 5), dtype=np.float32) for size in (3, 9)))
    index = tmp_path / "run" / "index.json"
    index.write_text(index.read_text().replace('"captions": [', '"kaptions": ['))
    with pytest.raises(karat.KaratError, match=r"index\.json: is not the index of a run"):
        read(tmp_path / "run")


def test_an_index_is_no_larger_than_its_vectors(tmp_path, rng, monkeypatch):
    with_index(tmp_path / "run", *(rng.standard_normal((size, 500), dtype=np.float32) for size in (3, 9)))
    index = tmp_path / "run" / "index.json"
    whole = index.read_text()
    # As large as it likes, as long as there are as many vectors.
    monkeypatch.setattr(shards, "MOST_HEAD", 10)
    assert len(read(tmp_path / "run").ids["captions"]) == 9
    index.write_text(whole + " " * 30_000)
    with pytest.raises(
        karat.KaratError, match=r"index\.json: has 3.,... bytes, and what describes the files"
    ):
        read(tmp_path / "run")
    monkeypatch.undo()
    assert len(read(tmp_path / "run").ids["captions"]) == 9
    os.truncate(index, 1 << 40)
    with pytest.raises(
        karat.KaratError, match=r"index\.json: has 1,099,511,627,776 bytes, and what describes"
    ):
        read(tmp_path / "run")
    # Holes among the vectors make no room.
    os.truncate(tmp_path / "run" / "images-00000.safetensors", 1 << 41)
    with pytest.raises(
        karat.KaratError, match="safetensors: has 2,199,023,255,552 bytes, of which nearly none"
    ):
        read(tmp_path / "run")


def test_a_table_of_holes_is_not_read(tmp_path):
    np.save(tmp_path / "run.npy", np.ones((2, 3), np.float32))
    os.truncate(tmp_path / "run.npy", 1 << 42)
    with pytest.raises(karat.KaratError, match=r"run\.npy: has 4,398,046,511,104 bytes, of which nearly"):
        read(tmp_path / "run.npy")


def test_written_parquet_is_unpacked_in_parts(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 10 * 5 * 4)
    vectors = rng.standard_normal((24, 5), dtype=np.float32)
    karat.convert(vectors, vectors, target=tmp_path / "run.parquet", kind="embeddings")
    # A part of 10 rows needs no more than a group of 10 rows.
    groups = pl.read_parquet(tmp_path / "run.images.parquet")["embedding"].get_chunks()
    assert [len(group) for group in groups] == [10, 10, 4]
    assert np.asarray(read(tmp_path / "run.images.parquet").tables[0]).tolist() == vectors.tolist()


def test_a_missing_last_shard_shows_by_the_names(tmp_path):
    for number in (0, 1):
        np.save(tmp_path / f"x-0000{number}-of-00003.npy", np.ones((2, 2)))
    with pytest.raises(karat.KaratError, match=r"number 2 is missing; add the file x-00002-of-00003.npy"):
        read(tmp_path)


def test_folders_that_are_no_tables(tmp_path):
    with pytest.raises(karat.KaratError, match=r"there is no such file as img_emb/\*.npy; a folder holds"):
        read(tmp_path)
    for name in ("clip.npy", "blip.npy"):
        np.save(tmp_path / name, np.ones((2, 2)))
    with pytest.raises(karat.KaratError, match=r"there is no such file as img_emb/\*.npy"):
        read(tmp_path)
    fill(tmp_path / "images", np.ones((2, 2)), write_npy, ".npy")
    with pytest.raises(karat.KaratError, match=r"there is no such file as text_emb/\*.npy"):
        read(tmp_path)
    (tmp_path / "img_emb").mkdir()
    with pytest.raises(karat.KaratError, match=r"img_emb holds images again; move one folder away"):
        read(tmp_path)


def test_what_is_wrong_with_a_tar_is_said(tmp_path, rng):
    table = rng.random((3, 2), dtype=np.float32)
    path = tmp_path / "x.tar"
    write_tar(path, table)
    whole = path.read_bytes()
    for size, message in (
        (-10240, "is not a complete"),
        (2048, "ends without the mark"),
        (700, "is not a complete"),
    ):
        path.write_bytes(whole[:size])
        with pytest.raises(karat.KaratError, match=f"x.tar: ({message}|ends without)"):
            read(path)
    for members, message in [
        ([("a.jpg", b"x")], "holds no vectors; name its members"),
        ([("a.npy", table[0]), ("b.img.npy", table[0])], "with and without a side"),
        ([("a.left.npy", table[0])], "has the member 'a.left.npy'"),
        ([("a.npy", table)], r"member 'a.npy' is of shape \(3, 2\)"),
        ([("a.npy", table[0]), ("b.npy", table[0, :1])], "member 'b.npy' has 1 numbers"),
        ([("a.npy", b"what")], "member 'a.npy' is not a complete npy file"),
    ]:
        write_members(path, members)
        with pytest.raises(karat.KaratError, match=message):
            read(path)


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_shards_raise_nothing_else(layout, data):
    """Any byte may be wrong or missing: the table is read, or refused with a sentence."""
    extension, write, dtype = LAYOUTS[layout]
    table = np.random.default_rng(0).standard_normal((9, 3)).astype(dtype)
    with tempfile.TemporaryDirectory() as name:
        folder = fill(Path(name), table, write, extension)
        path = folder / f"shard-0000{data.draw(st.integers(0, 2))}{extension}"
        damaged = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)) | st.just(len(damaged)))])
        # Anything but a sentence ends the test.
        with contextlib.suppress(karat.KaratError):
            assert karat.load_run(folder, folder).images.shape[1] == 3
