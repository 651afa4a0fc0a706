"""Text, tables and json are read with errors that name the file, the row and the key."""

import gzip
import os

import pytest

from karat._util import ID, NUMBER, TEXT, check_once, read_json, read_rows, read_table, read_text, text_blocks
from karat.errors import InputError, MissingDataError


@pytest.fixture
def write(tmp_path):
    def written(content, name="some.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def test_a_mark_is_dropped_and_stray_quotes_stay(write):
    assert read_text(write(b"\xef\xbb\xbfa")) == "a"
    assert read_rows(write('1\ta "dog\r\n2\tline\x0cfeed\n\n')) == [["1", 'a "dog'], ["2", "line\x0cfeed"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; give the complete file"),
        (b"1\ta\n2\n", "row 2 holds 1 column; a row has 2, separated by tabs"),
        (b"1\ta\n\tb\n", "row 2 holds nothing in its first column"),
        (b"1\ta\n2\t\xff\n", "line 2 is not UTF-8 but probably Latin-1"),
        (b"1\t\0\n", "is not text"),
    ],
)
def test_rows_that_are_wrong_are_named(write, content, message):
    with pytest.raises(InputError, match=f"some.txt: {message}"):
        read_rows(write(content))


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(MissingDataError, match="is a folder"):
        read_text(tmp_path)
    with pytest.raises(MissingDataError, match="there is no such file"):
        read_text(tmp_path / "none")


def test_columns_are_found_by_name(write):
    path = write("caption\timage\nc1\ti1\nc2\ti2\n")
    assert read_table(path, ["image", "caption"]) == [["i1", "i2"], ["c1", "c2"]]
    with pytest.raises(InputError, match=r"has no column 'score'; its first row names score, image"):
        read_table(path, ["score", "image"])
    with pytest.raises(InputError, match="has no rows below its header"):
        read_table(write("caption\timage\n"), ["image"])


def test_keys_of_json_are_named_with_their_place(write):
    record = read_json(write('{"images": [{"id": 3}, {"id": true}, {"box": {}}], "name": "x"}', "some.json"))
    first, second, third = record.records("images")
    assert first.get("id", ID) == 3
    assert record.get("name", TEXT) == "x"
    assert "name" in record
    with pytest.raises(
        InputError, match=r"some.json: images\[1\] has the 'id' True; give a whole number or text"
    ):
        second.get("id", ID)
    with pytest.raises(InputError, match=r"images\[2\] has no key 'id'; give a number there"):
        third.get("id", NUMBER)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not json"),
        ("[" * 100_000, "is not json"),
        (f'{{"n": {"9" * 5000}}}', "is not json"),
        ("[1]", "is not a json object"),
    ],
)
def test_what_is_not_json_is_one_sentence(write, content, message):
    with pytest.raises(InputError, match=f"some.json: {message}"):
        read_json(write(content, "some.json"))


def test_a_duplicate_names_both_places():
    check_once(["a", "b"], "image", "row {}".format, "some.tsv")
    with pytest.raises(
        InputError, match=r"some\.tsv: row 2 repeats the image a of row 0; remove one of them"
    ):
        check_once(["a", "b", "a"], "image", "row {}".format, "some.tsv")


def test_text_that_is_nearly_all_holes_is_not_read(tmp_path):
    path = tmp_path / "captions.json"
    path.write_text(" " * 5000)
    os.truncate(path, 1 << 42)
    for read in (read_text, lambda path: list(text_blocks(path))):
        with pytest.raises(InputError, match="4,398,046,511,104 bytes, of which nearly none were written"):
            read(path)


@pytest.mark.parametrize("content", [bytes(8_000_000), b"a\n" * 4_000_000, b" " * 8_000_000])
def test_a_few_bytes_do_not_become_gigabytes(write, monkeypatch, content):
    monkeypatch.setattr("karat._util.text_files.SLACK", 1 << 20)
    path = write(gzip.compress(content), "small.txt.gz")
    for read in (read_text, lambda path: list(text_blocks(path))):
        with pytest.raises(InputError, match=r"is not text|unpacks to more than 200 times its size"):
            read(path)


def test_text_that_repeats_itself_is_read(write):
    text = "0 1 2 1\n" * 1_000_000
    path = write(gzip.compress(text.encode()), "qrels.txt.gz")
    assert read_text(path) == text == "".join(text_blocks(path))
