"""Files and folders appear whole or not at all, whatever goes wrong while they are written."""

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from karat._util import check_writable, replacing, replacing_folder, write_errors, write_file, write_folder
from karat.errors import InputError, MissingDataError

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def half(error):
    """Return a writer that fails after half of the file."""

    def write(draft):
        draft.write_text("half")
        raise error

    return write


def text(content):
    return lambda draft: draft.write_text(content)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("old")
    return path


def test_a_file_appears_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "scores.json"
    with replacing(path) as draft:
        draft.write_text("whole")
        assert draft.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "error",
    [ValueError("a bug"), KeyboardInterrupt(), SystemExit(), FULL],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path, error, exists):
    path = tmp_path / "scores.json"
    if exists:
        path.write_text("old")
    with pytest.raises(type(error)), replacing(path) as draft:
        half(error)(draft)
    assert [file.read_text() for file in tmp_path.iterdir()] == (["old"] if exists else [])


def test_a_full_disk_is_one_sentence(old):
    with pytest.raises(InputError, match=r"scores.json: cannot be written \(No space left on device\)"):
        write_file(old, half(FULL))
    assert old.read_text() == "old"
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_device_is_one_sentence():
    with pytest.raises(InputError, match=r"/dev/full: cannot be written \(No space left on device\)"):
        write_file(Path("/dev/full"), text("scores"))
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_karats_own_errors_pass_through(old):
    # It is an error of the system by kind: a FileNotFoundError.
    with pytest.raises(MissingDataError, match="no images"):
        write_file(old, half(MissingDataError("there are no images")))
    with pytest.raises(MissingDataError, match="no images"), write_errors(old):
        raise MissingDataError("there are no images")


def test_an_error_about_the_draft_names_the_target(tmp_path):
    def refuse(draft):
        raise InputError("holds one direction", where=draft, fix="choose one")

    for write in (write_file, write_folder):
        with pytest.raises(InputError) as raised:
            write(tmp_path / "run.trec", refuse)
        assert str(raised.value) == f"{tmp_path / 'run.trec'}: holds one direction; choose one."
        assert raised.value.where == str(tmp_path / "run.trec")


def test_a_file_that_cannot_be_moved_leaves_the_old_one(old, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
        write_file(old, text("new"))
    assert [file.read_text() for file in old.parent.iterdir()] == ["old"]


@pytest.mark.skipif(sys.platform != "linux", reason="root may write everywhere but in /sys")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    tmp_path.chmod(0o555)
    folder = Path("/sys") if os.geteuid() == 0 else tmp_path
    try:
        with pytest.raises(InputError, match=r"scores\.json: cannot be written"):
            write_file(folder / "scores.json", text("new"))
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("write", [replacing, lambda path: write_file(path, text("new")), check_writable])
def test_a_place_that_is_none_is_one_sentence(tmp_path, write):
    def call(path):
        done = write(path)
        if done is not None:
            with done:
                pass

    with pytest.raises(InputError, match="is a folder; give the name of a file"):
        call(tmp_path)
    with pytest.raises(InputError, match=r"there is no folder .*none; create it first"):
        call(tmp_path / "none" / "scores.json")


def test_a_link_keeps_leading_where_it_leads(old):
    link = old.with_name("latest.json")
    link.symlink_to(old.name)
    write_file(link, text("new"))
    assert link.is_symlink()
    assert old.read_text() == "new"
    # One that leads to no file yet makes it; one that leads to itself is replaced.
    fresh, circle = old.with_name("fresh.json"), old.with_name("circle.json")
    fresh.symlink_to("made.json")
    circle.symlink_to(circle.name)
    for path in (fresh, circle):
        write_file(path, text("new"))
        assert path.read_text() == "new"
    assert old.with_name("made.json").is_file()


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="a device")
def test_a_device_is_written_directly(tmp_path):
    with replacing(Path("/dev/null")) as draft:
        assert draft == Path("/dev/null")
        draft.write_text("scores")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    link = tmp_path / "nowhere"
    link.symlink_to("/dev/null")
    write_file(link, text("scores"))
    assert link.is_symlink()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_the_mode_of_a_file_is_kept(old):
    old.chmod(0o640)
    write_file(old, text("new"))
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert old.read_text() == "new"


def test_a_private_file_is_never_readable_by_others(old):
    old.chmod(0o644)
    with replacing(old, private=True, durable=True) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_text("secret")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert old.read_text() == "secret"


def test_writers_choose_the_format_by_the_extension(tmp_path):
    import numpy as np

    # It appends .npz where the name has none.
    write_file(tmp_path / "table.npz", lambda draft: np.savez(draft, a=np.arange(3)))
    assert [path.name for path in tmp_path.iterdir()] == ["table.npz"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / f"{'n' * 250}.csv"
    write_file(path, text("long"))
    assert path.read_text() == "long"


def test_two_writers_do_not_meet(old):
    with replacing(old) as first, replacing(old) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    # The one that ends last.
    assert old.read_text() == "first"


def card(content):
    return lambda draft: (draft / "card.md").write_text(content)


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published.v1"
    write_folder(folder, card("old"))
    (folder / "more").mkdir()
    return folder


def test_a_folder_is_replaced_with_all_that_it_holds(published):
    write_folder(published, card("new"))
    assert [file.read_text() for file in published.iterdir()] == ["new"]
    assert list(published.parent.iterdir()) == [published]


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), KeyboardInterrupt(), FULL], ids=lambda e: type(e).__name__
)
def test_a_failure_leaves_the_folder_that_was_there(published, error):
    with pytest.raises(type(error)), replacing_folder(published) as draft:
        half(error)(draft / "card.md")
    assert (published / "card.md").read_text() == "old"
    assert (published / "more").is_dir()
    assert list(published.parent.iterdir()) == [published]


def test_a_folder_that_cannot_be_moved_comes_back(published, monkeypatch):
    rename = os.rename

    def refuse_drafts(source, target):
        if Path(source).suffix != ".old" and Path(target) == published:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse_drafts)
    with pytest.raises(InputError, match=r"published.v1: cannot be written \(Invalid cross-device link\)"):
        write_folder(published, card("new"))
    assert (published / "card.md").read_text() == "old"
    assert list(published.parent.iterdir()) == [published]


def test_a_folder_needs_a_place(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(tmp_path / "none" / "published", card("new"))
