"""Whose a file is: the user's, the superuser's, or of somebody who may have written what they like."""

import os

import pytest

from karat._util.ownership import NotOwnError, check_own_folder, check_own_work, is_private, open_own
from karat.errors import InputError
from strangers import SPOILT, UNIX, WRITTEN, listening

pytestmark = UNIX


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    return path


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_file_of_somebody_else_is_refused(file, spoil):
    with open_own(file) as opened:
        assert opened.read() == b"mine"
    spoil(file)
    with pytest.raises(NotOwnError):
        open_own(file)


@pytest.mark.parametrize("spoil", WRITTEN)
@pytest.mark.parametrize("where", ["top", "top/middle", "top/middle/low"])
def test_a_folder_is_refused_with_any_above_it(tmp_path, spoil, where):
    low = tmp_path / "top" / "middle" / "low"
    low.mkdir(parents=True)
    check_own_folder(low, tmp_path / "top")
    spoil(tmp_path / where)
    with pytest.raises(NotOwnError, match=f"{where} "):
        check_own_folder(low, tmp_path / "top")


def test_the_folder_that_the_user_named_may_be_a_link_and_no_other(tmp_path):
    (tmp_path / "real" / "low").mkdir(parents=True)
    (tmp_path / "top").symlink_to("real")
    check_own_folder(tmp_path / "top" / "low", tmp_path / "top")
    (tmp_path / "real" / "linked").symlink_to("low")
    with pytest.raises(NotOwnError, match="linked"):
        check_own_folder(tmp_path / "top" / "linked", tmp_path / "top")


def test_a_shared_folder_above_is_no_reason_to_refuse(tmp_path):
    (tmp_path / "shared" / "mine").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o1777)
    check_own_folder(tmp_path / "shared" / "mine")
    with pytest.raises(NotOwnError, match="every user"):
        check_own_folder(tmp_path / "shared")


def test_a_group_of_the_users_own_may_write(file, monkeypatch):
    pwd, grp = pytest.importorskip("pwd"), pytest.importorskip("grp")
    user = pwd.struct_passwd(("ann", "x", os.geteuid(), 777, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
    for group, name, members, private in (
        (777, "ann", [], True), (777, "ann", ["ann"], True), (777, "ann", ["ann", "bob"], False),
        (777, "staff", [], False), (778, "ann", [], False), (0, "root", [], True),
    ):  # fmt: skip
        monkeypatch.setattr(grp, "getgrgid", lambda n: grp.struct_group((name, "x", n, members)))  # noqa: B023
        is_private.cache_clear()
        assert is_private(group) is private, (group, name, members)
    is_private.cache_clear()


def test_missing_files_and_folders_are_nobody_s(file):
    with pytest.raises(FileNotFoundError):
        open_own(file.with_name("none"))
    with pytest.raises(IsADirectoryError):
        open_own(file.parent)
    with pytest.raises(NotADirectoryError):
        check_own_folder(file)
    listening(file)
    with pytest.raises(OSError, match="No such device"):
        open_own(file)
    check_own_work(file.with_name("none"))


@pytest.mark.parametrize("spoil", WRITTEN)
def test_work_of_somebody_else_does_not_go_on(file, spoil):
    check_own_work(file)
    spoil(file)
    with pytest.raises(InputError, match=r"file: .*if you trust it, make it yours alone .*; else delete it"):
        check_own_work(file)
