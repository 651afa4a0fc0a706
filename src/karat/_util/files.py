"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.errors import InputError, KaratError

LONGEST = 40
"""How much of a file's name its draft repeats: a name may be as long as the system allows."""


def check_writable(path: Path | None) -> None:
    """Raise before the work starts when a result could not be written."""
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder", where=path, fix="give the name of a file")
    if not real(path).parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", where=path, fix="create it first")


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error for a file or folder that the system refuses to write."""
    reason = error.strerror or str(error)
    return InputError(f"cannot be written ({reason})", where=path, fix="choose another place")


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all, or raise an error that says why it cannot be written.

    Parameters
    ----------
    path
        Where the file goes.
    write
        Writes the file to the place that it is given: a draft, which is then moved to `path`.
    """
    with write_errors(path), replacing(path) as draft:
        write(draft)


def write_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Write a folder whole or not at all, or raise an error that says why it cannot be written.

    Parameters
    ----------
    folder
        Where it goes; a folder that is there is replaced, with all that it holds.
    write
        Writes everything into the folder that it is given: a draft, which is then moved to `folder`.
    """
    with write_errors(folder), replacing_folder(folder) as draft:
        write(draft)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise the error of `cannot_write` for what the system refuses inside the block."""
    try:
        yield
    except KaratError:
        raise  # some of them are errors of the system by kind
    except OSError as error:
        raise cannot_write(path, error) from None


@contextmanager
def replacing(path: Path, *, private: bool = False, durable: bool = False) -> Iterator[Path]:
    """Yield the name of a draft beside `path`, which takes the place of `path` when the block ends well.

    A failure, a full disk or an interruption leaves what was there before. The mode of a file that was there
    is kept. A device such as ``/dev/stdout`` is written directly; a link stays a link.

    Parameters
    ----------
    path
        The file.
    private
        Only the user can read it, at every moment and whatever was there before.
    durable
        Wait until the file and its name are on the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     with replacing(path) as draft:
    ...         _ = draft.write_text("R@1")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, 'R@1')
    """
    check_writable(path)
    target = real(path)
    if target.exists() and not target.is_file():
        yield path
        return
    draft = draft_of(target)
    try:
        if private:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        if target.exists() and not private:
            draft.chmod(target.stat().st_mode & 0o777)
        if durable:
            flush(draft)
        os.replace(draft, target)
        if durable:
            flush(target.parent)
    except KaratError as error:
        name_target(error, draft, path)
        raise
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder`, which takes the place of `folder` when the block ends well.

    What was there is moved, not removed, until the new one is in place, and comes back when that fails.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = Path(home) / "published"
    ...     with replacing_folder(folder) as draft:
    ...         _ = (draft / "card.md").write_text("a card")
    ...         before = folder.exists()
    ...     before, [path.name for path in folder.iterdir()]
    (False, ['card.md'])
    """
    target = real(folder)
    draft = draft_of(target)
    old = draft.with_name(f"{draft.name}.old")
    try:
        draft.mkdir()
        yield draft
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(draft, target)
        except OSError:
            if old.exists():
                os.rename(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except KaratError as error:
        name_target(error, draft, folder)
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def real(path: Path) -> Path:
    """Return the target of links; unlike `Path.resolve` it returns one where they form a cycle."""
    return Path(os.path.realpath(path))


def draft_of(target: Path) -> Path:
    """Return a hidden name beside a file or folder that no other writer uses."""
    # It keeps the extension: some writers choose the format by it, others append it.
    return target.with_name(f".{target.stem[:LONGEST]}.{secrets.token_hex(4)}.part{target.suffix}")


def name_target(error: KaratError, draft: Path, target: Path) -> None:
    """Make an error about the draft name the target: the draft is gone when the message is read."""
    error.args = (str(error).replace(str(draft), str(target)), *error.args[1:])
    if error.where is not None:
        error.where = error.where.replace(str(draft), str(target))


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
