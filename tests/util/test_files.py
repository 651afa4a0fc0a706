"""Files and folders appear whole or not at all, whatever goes wrong while they are written."""

import errno
import io
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from karat._util import (
    check_folder,
    check_writable,
    fill_folder,
    is_empty,
    replacing,
    replacing_all,
    replacing_folder,
    scratch_file,
    write_errors,
    write_file,
    write_folder,
)
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
    with pytest.raises(InputError if error is FULL else type(error)), replacing(path) as draft:
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


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "free some space, or choose another place"),
        (errno.EROFS, "choose a place that you may write to"),
        (errno.EACCES, "choose a place that you may write to"),
        (errno.ENAMETOOLONG, "choose a shorter name"),
        (errno.EIO, "choose another place"),
    ],
)
def test_the_sentence_says_what_to_do(old, number, fix):
    # Libraries in Rust wrap the system's error; Python's own is the same sentence.
    for error in (OSError(number, os.strerror(number)), ValueError(f"parquet: oh (os error {number})")):
        with pytest.raises(InputError) as raised:
            write_file(old, half(error))
        assert str(raised.value) == f"{old}: cannot be written ({os.strerror(number)}); {fix}."


def test_a_library_that_hides_the_full_disk(old):
    """Polars, with no room for the end of a file, says: Invalid thrift: transport error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, hard))
    try:
        with pytest.raises(InputError, match="cannot be written"):
            write_file(old, half(RuntimeError("transport error")))
        with pytest.raises(InputError, match="cannot be written"):
            fill_folder(old.parent, lambda draft: half(RuntimeError("transport error"))(draft / "a"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(RuntimeError, match="a bug"):
        write_file(old, half(RuntimeError("a bug")))
    assert [file.read_text() for file in old.parent.iterdir()] == ["old"]


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
    write_file(Path("/dev/null"), text("scores"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    link = tmp_path / "nowhere"
    link.symlink_to("/dev/null")
    write_file(link, text("scores"))
    assert link.is_symlink()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_gets_the_finished_bytes(tmp_path):
    import numpy as np

    pipe = tmp_path / "table.npz"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        # A format that jumps back to its beginning, which a pipe cannot.
        write_file(pipe, lambda draft: np.savez(draft, a=np.arange(3)))
        data = reader.communicate()[0]
    assert np.load(io.BytesIO(data))["a"].tolist() == [0, 1, 2]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_new_file_has_the_mode_of_its_neighbours(tmp_path):
    def private(draft):
        """As safetensors does."""
        draft.unlink()
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600))

    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new.safetensors", private)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.safetensors").stat().st_mode) == 0o640


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
    with pytest.raises(InputError if error is FULL else type(error)), replacing_folder(published) as draft:
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


def test_files_that_belong_together_appear_together(old):
    second = old.with_name("scores.ids.json")
    with replacing_all(old, second) as drafts:
        for draft in drafts:
            draft.write_text("new")
    assert old.read_text() == second.read_text() == "new"

    def newer():
        with replacing_all(old, second) as drafts:
            drafts[0].write_text("newer")
            half(FULL)(drafts[1])

    with pytest.raises(InputError, match=r"scores\.ids\.json: cannot be written"):
        newer()
    assert [file.read_text() for file in old.parent.iterdir()] == ["new", "new"]


def test_folders_above_are_made_and_removed_again(tmp_path):
    path = tmp_path / "karat" / "user" / "benchmarks.json"
    with pytest.raises(InputError, match="cannot be written"):
        write_file(path, half(FULL), parents=True)
    with pytest.raises(InputError, match="cannot be written"):
        fill_folder(path.parent, lambda draft: half(FULL)(draft / "a"))
    assert list(tmp_path.iterdir()) == []
    write_file(path, text("{}"), parents=True)
    assert path.read_text() == "{}"


def test_a_folder_is_filled(tmp_path):
    folder = tmp_path / "model"
    fill_folder(folder, card("first"))
    (folder / "mine.txt").write_text("mine")
    (folder / "card.md").chmod(0o600)

    def two(draft):
        (draft / "card.md").write_text("second")
        (draft / "deep").mkdir()
        (draft / "deep" / "card.md").write_text("deep")

    fill_folder(folder, two, last=["card.md"])
    texts = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}
    assert texts == {"card.md": "second", "deep/card.md": "deep", "mine.txt": "mine"}
    assert stat.S_IMODE((folder / "card.md").stat().st_mode) == 0o600
    for error in (KeyboardInterrupt(), FULL):
        with pytest.raises(InputError if error is FULL else KeyboardInterrupt):
            fill_folder(folder, lambda draft, error=error: half(error)(draft / "card.md"), last=["card.md"])
    assert texts == {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}


def test_a_folder_that_cannot_be_filled_is_one_sentence(old):
    with pytest.raises(InputError, match="is a file; give the name of a folder"):
        fill_folder(old, card("new"))
    for call in (check_folder, lambda folder: fill_folder(folder, card("new"))):
        with pytest.raises(InputError, match=r"cannot create a folder there \(.*scores.json is a file\)"):
            call(old / "below")
    assert old.read_text() == "old"


def test_what_a_power_failure_left_does_not_count(tmp_path):
    (tmp_path / ".model.0123abcd.part").mkdir()
    assert is_empty(tmp_path)
    (tmp_path / ".config").mkdir()
    assert not is_empty(tmp_path)


def test_a_scratch_file_is_removed(old):
    with pytest.raises(InputError) as raised, scratch_file(old) as scratch, write_errors(scratch):
        half(FULL)(scratch)
    assert str(raised.value).startswith(f"{old}: cannot be written")
    assert list(old.parent.iterdir()) == [old]
