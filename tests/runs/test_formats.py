"""Every format reads back what it wrote, and a broken file is one sentence."""

import gzip
import json
import os
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat._util import read_text, text_blocks
from karat.runs import EmbeddingRun
from karat.runs.files import read
from karat.runs.formats import WRITERS, Content, trec
from karat.runs.formats.blocks import check_declared

SCORES = [name for name in WRITERS if "scores" in WRITERS[name].holds]


EMBEDDINGS = [name for name in WRITERS if "embeddings" in WRITERS[name].holds]


VECTORS = [name for name in WRITERS if "vectors" in WRITERS[name].holds]


LISTS = [name for name in WRITERS if "lists" in WRITERS[name].holds]


TYPES = st.sampled_from(["float16", "float32", "float64", "int8", "int32", "uint16"])


# No text that is a number: "7" and 7 are the same id.
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6)


TEXT_IDS = NAMES.map(lambda text: f"x{text}")


NUMBER_IDS = st.integers(-(10**17), 10**17)


@st.composite
def tables(draw, rows: int | None = None, columns: int | None = None, dtype: str | None = None):
    rows, columns = rows or draw(st.integers(1, 6)), columns or draw(st.integers(1, 6))
    dtype = np.dtype(dtype or draw(TYPES))
    if dtype.kind == "f":
        cell = st.floats(allow_nan=False, allow_infinity=False, width=8 * dtype.itemsize)
    else:
        cell = st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    values = draw(st.lists(cell, min_size=rows * columns, max_size=rows * columns))
    return np.array(values, dtype).reshape(rows, columns)


def ids(size: int):
    return st.sampled_from([TEXT_IDS, NUMBER_IDS]).flatmap(
        lambda one: st.lists(one, min_size=size, max_size=size, unique=True)
    )


@st.composite
def ranked(draw):
    """Lists of both directions or of none, ids of each side numbers or text."""
    images, captions = draw(ids(draw(st.integers(1, 4)))), draw(ids(draw(st.integers(1, 5))))
    lists = {}
    for direction, queries, items in (("i2t", images, captions), ("t2i", captions, images)):
        lists[direction] = {
            query: draw(st.lists(st.sampled_from(items), min_size=1, unique=True)) for query in queries
        }
    return lists if draw(st.booleans()) else lists["i2t"]


def there_and_back(name: str, content: Content) -> Content:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (f"run{name}" if name.startswith(".") else "run")
        WRITERS[name].write(content, path)
        found = read(path)
        tables = tuple(np.array(table) for table in found.tables)
        return Content(tables, found.lists, found.scores, found.ids, found.vectors, found.rows)


def keeps_type(name: str) -> bool:
    return name not in (".csv", ".tsv")


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=30, deadline=None)
@given(data=st.data(), table=tables())
def test_scores_round_trip(name, data, table):
    known = {}
    if "scores" in WRITERS[name].keeps_ids and data.draw(st.booleans()):
        known = {"images": data.draw(ids(len(table))), "captions": data.draw(ids(table.shape[1]))}
    back = there_and_back(name, Content(tables=(table,), ids=known))
    assert back.kind == "scores"
    np.testing.assert_array_equal(back.tables[0], table)
    assert back.tables[0].dtype == (table.dtype if keeps_type(name) else np.float64)
    assert {kind: list(listed) for kind, listed in back.ids.items()} == known


@pytest.mark.parametrize("name", EMBEDDINGS)
@settings(max_examples=30, deadline=None)
@given(data=st.data(), table=tables())
def test_embeddings_round_trip(name, data, table):
    other = data.draw(tables(columns=table.shape[1]))
    known = {"images": data.draw(ids(len(table))), "captions": data.draw(ids(len(other)))}
    for kind in data.draw(st.sets(st.sampled_from(["images", "captions"]))):
        del known[kind]
    back = there_and_back(name, Content(tables=(table, other), ids=known))
    for ours, theirs in zip(back.tables, (table, other)):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert {kind: list(listed) for kind, listed in back.ids.items()} == known


@pytest.mark.parametrize("name", VECTORS)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), table=tables())
def test_vectors_of_one_side_round_trip(name, data, table):
    rows = data.draw(st.none() | ids(len(table))) if name == ".parquet" else None
    back = there_and_back(name, Content(tables=(table,), vectors=True, rows=rows))
    np.testing.assert_array_equal(back.tables[0], table)
    assert back.rows == rows


@pytest.mark.parametrize("name", LISTS)
@settings(max_examples=30, deadline=None)
@given(lists=ranked(), data=st.data())
def test_lists_round_trip(name, lists, data):
    if name == ".trec" and "i2t" in lists:
        lists = lists["t2i"]
    back = there_and_back(name, Content(lists=lists))
    expected = json.loads(json.dumps(lists)) if name == ".json" else lists
    assert back.lists == expected
    if back.scores is None:
        return
    scores = {"i2t": {}, "t2i": {}} if "i2t" in lists else {}
    number = st.floats(allow_nan=False, allow_infinity=False)
    for direction, part in lists.items() if "i2t" in lists else (("", lists),):
        for query, listed in part.items():
            values = data.draw(st.lists(number, min_size=len(listed), max_size=len(listed)))
            (scores[direction] if direction else scores)[query] = sorted(values, reverse=True)
    back = there_and_back(name, Content(lists=lists, scores=scores))
    assert (back.lists, back.scores) == (lists, scores)


@pytest.mark.parametrize(("images", "captions"), [("img", "txt"), ("image_embeddings", "text_embeddings")])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_by_other_names_and_orders(tmp_path, rng, save, images, captions):
    table, other = np.asfortranarray(rng.random((5, 3))), rng.random((7, 3))
    save(tmp_path / "run.npz", logit_scale=np.float32(100), **{images: table, captions: other})
    run = karat.load_run(tmp_path / "run.npz")
    assert isinstance(run, EmbeddingRun)
    np.testing.assert_array_equal(run.images, table)
    np.testing.assert_array_equal(run.captions, other)
    save(tmp_path / "scores.npz", whatever=table, note=np.array("text"))
    np.testing.assert_array_equal(np.asarray(read(tmp_path / "scores.npz").tables[0]), table)


def test_stored_npz_and_safetensors_are_mapped(tmp_path, rng):
    table = rng.random((5, 3), dtype=np.float32)
    for name in (".npz", ".safetensors", ".npy"):
        WRITERS[name].write(Content(tables=(table,)), tmp_path / f"run{name}")
        assert isinstance(read(tmp_path / f"run{name}").tables[0], np.memmap)


def test_the_library_reads_our_safetensors_and_we_its_bfloat16(tmp_path, rng):
    from safetensors.numpy import load_file, save_file

    table = rng.standard_normal((4, 6), dtype=np.float32)
    known = {"images": [3, 1, 2, 9], "captions": list("abcdef")}
    WRITERS[".safetensors"].write(Content(tables=(table,), ids=known), tmp_path / "run.safetensors")
    back = load_file(tmp_path / "run.safetensors")
    np.testing.assert_array_equal(back["scores"], table)
    assert back["image_ids"].tolist() == known["images"]
    half = (table.view(np.uint32) >> 16).astype(np.uint16)
    for code, data in (("BF16", half.tobytes()), ("F8_E4M3", half.astype(np.uint8).tobytes())):
        head = json.dumps({"x": {"dtype": code, "shape": [4, 6], "data_offsets": [0, len(data)]}}).encode()
        (tmp_path / f"{code}.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    run = karat.load_run(tmp_path / "BF16.safetensors")
    np.testing.assert_array_equal(run.scores, (half.astype(np.uint32) << 16).view(np.float32))
    with pytest.raises(karat.KaratError, match=r"'x' is of type F8_E4M3; save it as float32"):
        karat.load_run(tmp_path / "F8_E4M3.safetensors")
    save_file({"images": table, "captions": table.astype(np.float16)}, tmp_path / "both.safetensors")
    assert isinstance(karat.load_run(tmp_path / "both.safetensors"), EmbeddingRun)


def test_lists_are_sorted_by_score_then_row_or_rank(tmp_path):
    (tmp_path / "run.csv").write_text("item,query,score\n3,a,0.5\n1,a,2\n2,a,0.5\n")
    assert read(tmp_path / "run.csv").lists == {"a": [1, 3, 2]}
    (tmp_path / "run.run").write_text("a Q0 3 2 0.5 t\na\tQ0  1 9 2\n\na Q0 2 1 0.5 two words\n")
    assert read(tmp_path / "run.run").lists == {"a": [1, 2, 3]}


def test_a_folder_of_clip_retrieval(tmp_path, rng):
    images, captions = rng.random((24, 4), dtype=np.float32), rng.random((24, 4), dtype=np.float32)
    image_id = np.repeat(np.arange(8), 3)
    for part, table in (("img_emb", images), ("text_emb", captions)):
        (tmp_path / part).mkdir()
        for k in range(12):
            np.save(tmp_path / part / f"{part}_{k}.npy", table[2 * k : 2 * k + 2])
    content = read(tmp_path)
    np.testing.assert_array_equal(np.asarray(content.tables[0]), images)
    np.testing.assert_array_equal(karat.load_run(tmp_path).captions, captions)
    (tmp_path / "metadata").mkdir()
    frame = pl.DataFrame({"image_path": ["x"] * 24, "image_id": image_id, "caption_id": np.arange(24) + 100})
    for k, half in enumerate((frame[:10], frame[10:])):
        half.write_parquet(tmp_path / "metadata" / f"metadata_{k}.parquet")
    run = karat.load_run(tmp_path)
    assert list(run.ids["images"]) == list(range(8))
    assert list(run.ids["captions"]) == list(range(100, 124))
    # An image that stands there once per caption is one image.
    np.testing.assert_array_equal(run.images, images[::3])
    frame[:3].write_parquet(tmp_path / "metadata" / "metadata_1.parquet")
    with pytest.raises(karat.KaratError, match=r"image_id: names 4 ids for 24 rows; give an id for each row"):
        karat.load_run(tmp_path)
    (tmp_path / "metadata" / "metadata_1.parquet").write_bytes(b"PAR1")
    with pytest.raises(karat.KaratError, match=r"metadata_1.parquet: is not a complete Parquet file"):
        karat.load_run(tmp_path)
    np.save(tmp_path / "text_emb" / "text_emb_3.npy", captions[:, :2])
    with pytest.raises(karat.KaratError, match=r"text_emb_3.npy: has 2 columns, but text_emb_0.npy has 4"):
        karat.load_run(tmp_path)
    (tmp_path / "img_emb" / "img_emb_7.npy").unlink()
    with pytest.raises(karat.KaratError, match=r"img_emb: number 7 is missing; add the file"):
        karat.load_run(tmp_path)


class Explosive:
    """Would leave a file behind if it were ever loaded."""

    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def bad_npz(path, **arrays):
    np.savez(path, **arrays)


def bomb(path):
    """Declares more than it holds."""
    head = {"descr": "<f4", "fortran_order": False, "shape": (10**6, 10**6)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as handle:
        np.lib.format.write_array_header_1_0(handle, head)
        handle.write(b"\0" * 4000)


def flipped(path):
    """A compressed archive whose numbers were damaged on the way."""
    np.savez_compressed(path, scores=np.random.default_rng(0).random((50, 50)))
    data = bytearray(path.read_bytes())
    data[2000:2010] = b"0123456789"
    path.write_bytes(data)


def cut(make):
    def write(path):
        make(path)
        path.write_bytes(path.read_bytes()[:-40])

    return write


def frame(**columns):
    return lambda path: pl.DataFrame(columns, strict=False).write_parquet(path)


def text(text):
    return lambda path: path.write_text(text)


def tensors(**arrays):
    def write(path):
        from safetensors.numpy import save_file

        save_file(arrays, path)

    return write


NAN = np.array([[1.0, np.nan], [0.0, 1.0]])


MISTAKES = [
    (".npz", text(""), "is not a complete npz file; write it with np.savez"),
    (".npz", text("notes"), "is not a complete npz file"),
    (".npz", cut(lambda p: bad_npz(p, x=np.eye(9))), "is not a complete npz file"),
    (".npz", flipped, "is not a complete npz file"),
    (".npz", bomb, "is not a complete npz file"),
    (".npz", lambda p: bad_npz(p), "holds 0 tables but no single table of scores (keys: none)"),
    (".npz", lambda p: bad_npz(p, a=np.eye(2), b=np.eye(2)), "holds 2 tables but no single table of scores"),
    (".npz", lambda p: bad_npz(p, x=np.zeros(3)), "holds 0 tables"),
    (".npz", lambda p: bad_npz(p, x=np.array([["a"]])), "not numbers; save a float32 array"),
    (".npz", lambda p: bad_npz(p, x=np.zeros((0, 3))), "is empty"),
    (".npz", lambda p: bad_npz(p, x=np.array([[Explosive()]])), "holds Python objects, which are never"),
    (".npz", lambda p: bad_npz(p, img=np.eye(2), images=np.eye(2), txt=np.eye(2)), "two tables of images"),
    (".npz", lambda p: bad_npz(p, img=np.eye(2), txt=np.eye(3)), "image embeddings have 2 dimensions"),
    (".npz", lambda p: bad_npz(p, img=np.eye(2), txt=NAN), "(caption embeddings): row 0, column 1 is nan"),
    (".npz", lambda p: bad_npz(p, x=np.eye(2), image_ids=[1, 2, 3]), "names 3 image ids for a table of 2"),
    (".npz", lambda p: bad_npz(p, x=np.eye(2), caption_ids=[0.5, 1]), "caption_ids: are ids of float64"),
    (".npz", lambda p: bad_npz(p, x=np.eye(2), caption_ids=[b"\xff", b"a"]), "are ids that are not text"),
    (".safetensors", text(""), "is not a complete safetensors file; write it with"),
    (".safetensors", cut(tensors(x=np.eye(9))), "is not a complete safetensors file"),
    (".safetensors", tensors(a=np.eye(2), b=np.eye(2)), "holds 2 tables"),
    (".safetensors", tensors(x=np.eye(2) > 0), "'x' is of type BOOL; save it as float32"),
    (".safetensors", tensors(x=np.zeros((0, 2))), "is empty"),
    (".safetensors", tensors(img=NAN, txt=np.eye(2)), "(image embeddings): row 0, column 1 is nan"),
    (".safetensors", tensors(x=np.eye(2), image_ids=np.arange(3)), "names 3 image ids for a table of 2"),
    (".parquet", text(""), "is not a complete Parquet file; write it with polars or pandas"),
    (".parquet", cut(frame(a=[1.0])), "is not a complete Parquet file"),
    (".parquet", frame(a=["x"], b=[1.0]), "column 'a' holds String; give the columns query, item, score"),
    (".parquet", frame(a=[1.0, None]), "row 1, column 'a' is empty"),
    (".parquet", frame(a=np.zeros(0)), "is empty"),
    (".parquet", frame(query=[1], item=[2]), "has no column 'score'; name its columns"),
    (".parquet", frame(query=[1], score=[2.0]), "has no column 'item'"),
    (".parquet", frame(query=[], item=[], score=[]), "holds no ranking"),
    (".parquet", frame(query=[1, None], item=[2, 2], score=[1.0, 2.0]), "row 1 has no query"),
    (".parquet", frame(query=[1.5], item=[2], score=[1.0]), "query is a column of Float64"),
    (".parquet", frame(query=[1], item=[2], score=["high"]), "row 0 has score is 'high'"),
    (".parquet", frame(query=[1], item=[2], score=[np.nan]), "row 0 has the score nan"),
    (".parquet", frame(query=[1], item=[2], score=[[1]]), "score is a column of List"),
    (".parquet", frame(query=[1], item=[2], score=[1], direction=["up"]), "row 0 has the direction 'up'"),
    (".parquet", frame(id=[1, 2], embedding=[[1.0], [1.0, 2.0]]), "embeddings have 1 and 2 numbers"),
    (".parquet", frame(id=[1, 2], embedding=[[1.0], None]), "embeddings have 1 and None numbers"),
    (".parquet", frame(id=[1, 2], embedding=["a", "b"]), "embedding is a column of String"),
    (".parquet", frame(id=[1, None], embedding=[[1.0], [2.0]]), "row 1 has no id"),
    (".parquet", frame(id=[1, 2], embedding=[[1.0], [2.0]]), "holds the embeddings of one side; give"),
    (".csv", text(""), "is not a table with ',' between cells"),
    (".csv", text("\n\n"), "is empty"),
    (".csv", text("1,2\n3,4,5\n"), "is not a table with ',' between cells"),
    (".csv", text("1,2\n3\n"), "row 2, column 2 is empty; give rows of numbers"),
    (".csv", text("1,2\n3,four\n"), "row 2, column 2 is 'four', not a number"),
    (".csv", text("a,b\n1,2\n"), "row 1, column 1 is 'a', not a number"),
    (".csv", text("query,item\n1,2\n"), "has no column 'score'"),
    (".csv", text("query,query,item\n1,2,3\n"), "has two columns of the same name"),
    (".csv", text("query,item,score\n"), "holds no ranking"),
    (".csv", text("query,item,score\n1,2,3\n1,3\n"), "row 3 has no score"),
    (".csv", text("query,item,score\n1,2,x\n"), "row 2 has score is 'x'"),
    (".csv", lambda p: p.write_bytes(b"\xff\xfe1,2"), "is not UTF-8"),
    (".tsv", text("1,2\n"), "row 1, column 1 is '1,2', not a number"),
    (".trec", text(""), "is empty; write lines of query, Q0, item, rank, score, tag"),
    (".trec", text("a Q0 b 1 0.5 t\na Q0 c\n"), "line 2 is not a line of a TREC run"),
    (".trec", text("a Q0 b 1 best t\n"), "row 1 has score is 'best'"),
    (".trec", lambda p: p.write_bytes(b"\xff\xfe"), "is not UTF-8"),
    (".npy", lambda p: p.write_bytes(b"PK\x03\x04"), "is not a complete npy file"),
]  # fmt: skip


@pytest.mark.parametrize(("extension", "write", "message"), MISTAKES)
def test_a_mistake_names_the_file_and_the_fix(tmp_path, monkeypatch, extension, write, message):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"mine{extension}"
    write(path)
    with pytest.raises(karat.KaratError) as error:
        karat.load_run(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert error.value.fix
    assert not (tmp_path / "exploded").exists()


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    check_declared("x", 3 << 30, 3 << 30)
    check_declared("x", 1 << 30, 1)
    for declared, stored in ((65 << 30, 65 << 30), (3 << 30, 1 << 20)):
        with pytest.raises(karat.KaratError, match=r"would unpack .* save it as npy"):
            check_declared("x", declared, stored)
    # Zeros, of which a zip archive holds a thousandth. Gigabytes were refused above: here few are packed.
    monkeypatch.setattr("karat.runs.formats.blocks.BOMB_BYTES", 20 << 20)
    path = tmp_path / "zeros.npz"
    head = {"descr": "|i1", "fortran_order": False, "shape": (22, 1 << 20)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as handle,
    ):
        np.lib.format.write_array_header_1_0(handle, head)
        for _ in range(22):
            handle.write(bytes(1 << 20))
    with pytest.raises(karat.KaratError, match=r"zeros.npz: would unpack"):
        karat.load_run(path)
    monkeypatch.setattr("karat.runs.formats.csv.MOST_BYTES", 10)
    (tmp_path / "large.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(karat.KaratError, match=r"large.csv: is too large \(0 MB\); save a run of this size"):
        karat.load_run(tmp_path / "large.csv")


@pytest.mark.parametrize("name", [n for n in WRITERS if n.startswith(".")])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_raise_nothing_else(name, data):
    """Any byte may be wrong or missing: the file is read, or refused with a sentence."""
    content = Content(lists={1: [2, 3]}) if "lists" in WRITERS[name].holds else Content(tables=(np.eye(3),))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"run{name}"
        WRITERS[name].write(content, path)
        damaged = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
        try:
            for table in read(path).tables:
                np.array(table)
        except karat.KaratError:
            pass


@pytest.mark.parametrize("size", [1, 7, 30, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_blocks_of_a_trec_run_change_nothing(tmp_path, monkeypatch, size, packed):
    lines = (f"q{q}é Q0 d{d} {d} 0.{9 - d % 4} t\r\n" for d in range(9) for q in (2, 1))
    text = "\ufeff# é\n\n" + "".join(lines)
    path = tmp_path / "a.trec"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    monkeypatch.setattr(trec, "text_blocks", partial(text_blocks, size=size))
    content = trec.read_trec(path)
    order = [0, 4, 8, 1, 5, 2, 6, 3, 7]
    assert content.lists == {f"q{q}é": [f"d{d}" for d in order] for q in (2, 1)}
    assert list(content.lists) == ["q2é", "q1é"]
    assert content.scores == {f"q{q}é": [float(f"0.{9 - d % 4}") for d in order] for q in (2, 1)}
    assert "".join(text_blocks(path, size)) == read_text(path)
    path.write_bytes(text.encode() + b"q Q0 d 1 x\nq Q0\n")
    with pytest.raises(karat.KaratError, match="line 22 is not a line of a TREC run"):
        trec.read_trec(path)
    path.write_bytes(text.encode() + b"q Q0 \xe9 1 1\n")
    with pytest.raises(karat.KaratError, match="line 21 is not UTF-8"):
        trec.read_trec(path)
