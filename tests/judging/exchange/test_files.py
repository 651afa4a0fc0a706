"""Bytes that are not a plain text file: packed, in another encoding, or not a file at all."""

import gzip
import io
import os
import struct
import zipfile

import pytest

from judging.exchange.projects import make_project
from karat.errors import InputError, KaratError
from karat.judging.exchange import files, import_answers

GOOD = "task,item,worker,answer\n0,1,ann,yes\n0,2,ann,no\n"


BYTES = {
    "latin-1": (GOOD.encode() + b"0,3,Ren\xe9,yes\n", "line 4 is not UTF-8 but probably Latin-1"),
    "cp1252": (GOOD.encode() + b"0,3,Ren\xe9\x94,yes\n", "line 4 is not UTF-8 but probably Windows-1252"),
    "cut within a character": (GOOD.encode() + "é".encode()[:1], "line 4 is not UTF-8"),
    "misread mark": (b"\xc3\xaf\xc2\xbb\xc2\xbf" + GOOD.encode(), "line 1 starts with ï»¿"),
    "utf-16": (GOOD.encode("utf-16"), "is written in UTF-16"),
    "utf-32": (GOOD.encode("utf-32"), "is written in UTF-32"),
    "nul": (GOOD.encode() + b"0,3,a\0b,yes\n", "line 4 has a NUL character"),
    "no format": (b"hello world\n", "does not look like any known format"),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes(refused, name):
    data, said = BYTES[name]
    assert refused(data).startswith(said)


def test_a_bad_byte_is_found_across_blocks(refused, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 7)
    assert refused(("é\n" * 20).encode() + b"\xe9\n").startswith("line 21 is not UTF-8")


def packed(data, **further):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answers.csv", data)
        for name, inside in further.items():
            archive.writestr(name, inside)
    return stream.getvalue()


def test_packed_files_are_read(tmp_path):
    for number, data in enumerate((packed(GOOD), gzip.compress(GOOD.encode()))):
        path = tmp_path / f"answers{number}"
        path.write_bytes(data)
        with make_project(tmp_path, f"{number}.db") as made:
            assert import_answers(made, path).answers == 2


def test_bombs(refused, monkeypatch):
    zeros = b"0" * (files.FREE + 2**22)
    for data in (packed(zeros), gzip.compress(zeros)):
        assert len(data) < 2**17
        assert refused(data) == "unpacks to more than 200 times its size"
    monkeypatch.setattr(files, "LARGEST", 1000)
    for data in (packed("x" * 2000), gzip.compress(b"x" * 2000), b"x" * 2000):
        assert refused(data).startswith("has more than")


def test_nested_bombs_are_not_unpacked(refused):
    assert refused(gzip.compress(gzip.compress(b"0" * 10_000_000)))
    assert refused(packed(packed(GOOD)))


def test_no_more_is_unpacked_than_allowed(monkeypatch):
    """The stream stops at the limit: a bomb is never unpacked as a whole."""
    monkeypatch.setattr(files, "LARGEST", 2**22)
    taken = []
    whole = files.gzip_blocks

    def counted(data, where):
        for block in whole(data, where):
            taken.append(len(block))
            yield block

    monkeypatch.setattr(files, "gzip_blocks", counted)
    with pytest.raises(InputError):
        files.unpack(gzip.compress(b"0" * 2**26), "bomb.gz")
    assert sum(taken) <= 2**22 + files.BLOCK


def symbolic():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    return stream.getvalue()


def wide(data):
    """A zip file whose 64-bit locator would override its table of contents."""
    at = data.rfind(b"PK\x05\x06")
    return data[:at] + b"PK\x06\x07" + struct.pack("<IQI", 0, 0, 1) + data[at:]


def damaged(data):
    at = data.find(b"answers.csv") + 20
    return data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]


ARCHIVES = {
    "two members": (packed(GOOD, more=GOOD), "is a zip file without exactly one member"),
    "no member": (b"PK\x05\x06" + b"\0" * 18, "is a zip file without exactly one member"),
    "link inside": (symbolic(), "does not contain a regular file"),
    "64 bits": (wide(packed(GOOD)), "is a zip file without exactly one member"),
    "cut zip": (packed(GOOD)[:-30], "is a truncated zip file"),
    "damaged zip": (damaged(packed(GOOD)), "is a broken zip file"),
    "cut gzip": (gzip.compress(GOOD.encode())[:-9], "is a truncated gzip file"),
    "damaged gzip": (gzip.compress(GOOD.encode())[:-5] + b"xxxxx", "is a broken gzip file"),
    "two gzip members": (gzip.compress(GOOD.encode()) * 2, "has more data after its first gzip member"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives(refused, name):
    data, said = ARCHIVES[name]
    assert refused(data) == said


def test_what_is_not_a_file(project, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder", "loop", "missing"):
        with pytest.raises(KaratError, match=name):
            import_answers(project, tmp_path / name)


def test_links_out_of_the_folder_are_refused(project, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "private.csv").write_text(GOOD)
    (shared / "answers.csv").symlink_to(tmp_path / "private.csv")
    with pytest.raises(
        InputError, match=r"link that points outside its folder; if you trust it, give .*private\.csv"
    ):
        import_answers(project, shared / "answers.csv")
    assert len(project.answers.read()) == 0


def test_links_within_the_folder_are_followed(tmp_path):
    (tmp_path / "real.csv").write_text(GOOD)
    (tmp_path / "latest.csv").symlink_to("real.csv")
    with make_project(tmp_path) as made:
        assert import_answers(made, tmp_path / "latest.csv").answers == 2
