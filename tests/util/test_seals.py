"""Seals: the same for the same user, for nobody else, and never by a key that others can read."""

import os
import subprocess
import sys

import pytest

from karat._util import is_sealed, passing_key, seal
from karat._util.seals import read_key
from karat.errors import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


def test_a_seal_holds_for_its_values_and_purpose_alone(folder):
    mark = seal("account", 7, "ann", None, b"\x00")
    assert is_sealed(mark, "account", 7, "ann", None, b"\x00")
    for other in (
        ("session", 7, "ann", None, b"\x00"), ("account", "7", "ann", None, b"\x00"),
        ("account", 7, "ann", "None", b"\x00"), ("account", 7, "an", "n", None, b"\x00"),
        ("account", 7, "ann", None, b"\x00", ""),
    ):  # fmt: skip
        assert not is_sealed(mark, *other)
    assert not is_sealed(None, "account", 7)
    assert not is_sealed("é", "account", 7)


def test_another_key_makes_another_seal(folder, tmp_path, monkeypatch):
    mark = seal("account", 7)
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "other"))
    assert not is_sealed(mark, "account", 7)


def test_the_key_is_private_and_one_for_programs_that_start_together(folder):
    code = "from karat._util import seal; print(seal('a', 1))"
    programs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    marks = {program.communicate(timeout=60)[0] for program in programs}
    assert len(marks) == 1
    assert [path.name for path in folder.iterdir()] == ["seal.key"]
    assert folder.joinpath("seal.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_key_that_others_can_read_or_that_is_none_is_refused(folder):
    def key_now():
        # What another program would read; this one has read the key before.
        read_key.cache_clear()
        return seal("a")

    key_now()
    key = folder / "seal.key"
    key.chmod(0o640)
    with pytest.raises(InputError, match=r"other users can read the key .*chmod 600 .*KARAT_CONFIG"):
        key_now()
    key.chmod(0o600)
    key.write_text("short")
    with pytest.raises(InputError, match="not a key that karat made"):
        key_now()
    key.unlink()
    key.symlink_to(folder / "elsewhere")
    with pytest.raises(InputError, match="not a plain file"):
        key_now()


def test_a_passing_key_writes_nothing(folder):
    with passing_key():
        mark = seal("a")
        assert is_sealed(mark, "a")
    assert not folder.exists()
    assert not is_sealed(mark, "a")


def test_a_disk_without_links_has_a_key_too(folder, monkeypatch):
    def refuse(*names):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert is_sealed(seal("a"), "a")
    assert [path.name for path in folder.iterdir()] == ["seal.key"]
