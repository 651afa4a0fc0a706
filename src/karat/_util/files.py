"""Files and folders that appear whole or not at all: everything that karat writes goes through here.

A file is written beside its target, brought to the disk, and then moved to its name. A folder that does not
exist is made the same way; into one that exists, finished files are moved, those that make it complete last.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from karat.errors import InputError, KaratError

LONGEST = 40
"""How much of a file's name its draft repeats: a name may be as long as the system allows."""
ROOM = 2**16
"""How many bytes are tried to find out whether a disk is full."""
WAITING = 16
"""How many files of a folder wait for the disk at a time."""
DRAFT = re.compile(r"\..*\.[0-9a-f]{8}\.part(\..*)?")
"""The names of drafts, which only an end without warning (a power failure) leaves behind."""
STREAM = re.compile(r"/dev/(?:std(?P<name>out|err)|fd/(?P<number>\d+))|/proc/self/fd/(?P<same>\d+)")
"""The names of streams that are open already; ``-`` is standard output too."""
FIXES = {
    errno.ENOSPC: "free some space, or choose another place",
    errno.EDQUOT: "free some space, or choose another place",
    errno.EFBIG: "free some space, or choose another place",
    errno.EROFS: "choose a place that you may write to",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""By the system's number of an error, what to do; anything else: choose another place."""

DRAFTS: set[Path] = set()
"""The drafts under way, for a program that is ended before it can remove them."""
MOVING = threading.Lock()
"""Held while several things are moved to their names, which nobody should end half-way."""
MOMENT = 5.0
"""Seconds that are waited for this."""
WRITTEN: deque[Path] = deque(maxlen=100)
"""What was written lately, as it was named; drafts and caches do not count."""


def discard_drafts(ending: bool = False) -> None:
    """Remove the drafts that are left; what is being moved to its name gets a moment to be finished.

    Parameters
    ----------
    ending
        The program ends at once: nothing is moved any more.
    """
    held = MOVING.acquire(timeout=MOMENT)
    for draft in list(DRAFTS):
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        DRAFTS.discard(draft)
    if held and not ending:
        MOVING.release()


def check_writable(path: Path | None) -> None:
    """Raise before the work starts when a file could not be written."""
    if path is None or stream_of(path) is not None:
        return
    check_place(path)
    target = real(path)
    if not target.exists() or target.is_file():
        check_room(target.parent, path)


def check_place(path: Path) -> None:
    """Raise unless a file of this name could be in its folder."""
    with write_errors(path):
        if path.is_dir():
            raise InputError("is a folder", where=path, fix="give the name of a file")
        if not real(path).parent.is_dir():
            raise InputError(f"there is no folder {path.parent}", where=path, fix="create it first")


def check_folder(folder: Path) -> None:
    """Raise before the work starts when a folder could not be written; it need not exist."""
    with write_errors(folder):
        # Folders below the nearest one that exists are made.
        above = next(place for place in (real(folder), *real(folder).parents) if place.exists())
        if not above.is_dir():
            same = above == real(folder)
            what = "is a file" if same else f"cannot create a folder there ({above} is a file)"
            raise InputError(what, where=folder, fix="give the name of a folder")
    check_room(above, folder)


def check_room(folder: Path, path: Path) -> None:
    """Raise unless files can be made in a folder; the error names `path`."""
    draft = draft_of(folder / "room")
    with write_errors(path):
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        draft.unlink()


def is_drafted(target: Path) -> bool:
    """Whether a file or folder is part of a draft, which is brought to the disk as a whole."""
    return any(DRAFT.fullmatch(part) for part in target.parts)


def is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing; what an end without warning left there does not count."""
    return all(DRAFT.fullmatch(path.name) for path in folder.iterdir())


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error for a file or folder that the system refuses to write.

    >>> print(cannot_write(Path("scores.csv"), OSError(errno.ENOSPC, "No space left on device")))
    scores.csv: cannot be written (No space left on device); free some space, or choose another place.
    """
    reason = error.strerror or str(error)
    fix = FIXES.get(error.errno or 0, "choose another place")
    where = "standard output" if stream_of(path) == 1 else path
    return InputError(f"cannot be written ({reason})", where=where, fix=fix)


def write_file(
    path: Path,
    write: Callable[[Path], object],
    *,
    private: bool = False,
    durable: bool = True,
    parents: bool = False,
) -> None:
    """Write a file whole or not at all, or raise an error that says why it cannot be written.

    Parameters
    ----------
    path
        Where the file goes.
    write
        Writes the file to the place that it is given: a draft, which is then moved to `path`.
    private, durable, parents
        See `replacing`.
    """
    with replacing(path, private=private, durable=durable, parents=parents) as draft:
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
    with replacing_folder(folder) as draft:
        write(draft)


def fill_folder(folder: Path, write: Callable[[Path], object], *, last: Sequence[str] = ()) -> None:
    """Write files into a folder, all or none, or raise an error that says why they cannot be written.

    Parameters
    ----------
    folder
        Where they go; it is made if need be. Files of the same names are replaced, others stay.
    write
        Writes everything into the folder that it is given: a draft, whose files are then moved.
    last
        The files that make the folder complete: old ones are removed first, new ones moved last.
    """
    with filling_folder(folder, last) as draft:
        write(draft)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise the error of `cannot_write` for what the system refuses inside the block."""
    try:
        yield
    except KaratError:
        raise  # some of them are errors of the system by kind
    except Exception as error:
        reason = system_error(error)
        if reason is None:
            raise
        raise cannot_write(path, reason) from None


def system_error(error: Exception) -> OSError | None:
    """Return what the system refused; None for any other error.

    Libraries in other languages wrap it: polars and safetensors end their message by its number.

    >>> system_error(ValueError("parquet: No space left on device (os error 28)"))
    OSError(28, 'No space left on device')
    """
    if (number := re.search(r"\(os error (\d+)\)", str(error))) is not None:
        return OSError(int(number[1]), os.strerror(int(number[1])))
    if isinstance(error, OSError):
        return error
    return None


@contextmanager
def replacing(
    path: Path, *, private: bool = False, durable: bool = True, parents: bool = False
) -> Iterator[Path]:
    """Yield the name of a draft beside `path`, which takes the place of `path` when the block ends well.

    A failure, a full disk or an interruption leaves what was there before, and no draft; what the system
    refuses is an `InputError` that names `path`. A file that was there keeps its mode. A link stays a link.
    What is not a regular file, such as a pipe, ``/dev/stdout`` or ``-``, gets the finished bytes.

    Parameters
    ----------
    path
        The file.
    private
        Only the user can read it, at every moment and whatever was there before.
    durable
        Wait until the file and its name are on the disk; a cache need not.
    parents
        Make the folders above it where they are missing.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     with replacing(path) as draft:
    ...         _ = draft.write_text("R@1")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, 'R@1')
    """
    target = real(path)
    durable = durable and not is_drafted(target)
    with write_errors(path):
        regular = target.is_file() or target.is_dir() or not target.exists()
    if stream_of(path) is not None or not regular:
        with passing(path) as draft:
            yield draft
        return
    with folders_above(target, path) if parents else contextlib.nullcontext():
        check_place(path)
        draft = draft_of(target)
        with write_errors(path), naming(draft, path), known_draft(draft):
            try:
                # Made here, so that its mode is that of any new file, whoever writes it.
                opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
                os.close(opened)
                mode = mode_of(draft if private or not target.exists() else target)
                with refused(draft):
                    yield draft
                if durable:
                    flush(draft)
                move(draft, target, mode)
                if durable:
                    WRITTEN.append(path)
            finally:
                draft.unlink(missing_ok=True)
        if durable:
            flush_names(target.parent)


@contextmanager
def replacing_all(*paths: Path) -> Iterator[list[Path]]:
    """Yield drafts of several files that belong together: none takes its place before all are on the disk."""
    with contextlib.ExitStack() as stack:
        drafts = [stack.enter_context(replacing(path)) for path in paths]
        yield drafts
        for path, draft in zip(paths, drafts):
            with write_errors(path):
                flush(draft)


@contextmanager
def passing(path: Path) -> Iterator[Path]:
    """Yield the name of a draft whose bytes go to what is not a regular file when the block ends well.

    Formats that need to jump back and forth can be written to a pipe this way.
    """
    number = stream_of(path)
    with write_errors(path), temporary_folder() as folder:
        draft = folder / f"draft{path.suffix}"
        draft.touch()
        with naming(draft, path):
            yield draft
        with draft.open("rb") as source:
            if number == 1 and hasattr(sys.stdout, "buffer"):
                # What was printed before comes first.
                sys.stdout.flush()
                shutil.copyfileobj(source, sys.stdout.buffer)
                sys.stdout.buffer.flush()
                return
            with open(path if number is None else os.dup(number), "wb") as target:
                shutil.copyfileobj(source, target)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder`, which takes the place of `folder` when the block ends well.

    What was there is moved, not removed, until the new one is in place, and comes back when that fails.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = Path(home) / "published"
    ...     with replacing_folder(folder) as draft:
    ...         _ = (draft / "card.md").write_text("a card")
    ...         before = folder.exists()
    ...     before, [path.name for path in folder.iterdir()]
    (False, ['card.md'])
    """
    target = real(folder)
    with drafted_folder(draft_of(target), folder) as draft:
        yield draft
        flush_all(draft, target)
        old = draft.with_name(f"{draft.name}.old")
        with MOVING:
            if target.exists():
                draft.chmod(mode_of(target))
                os.rename(target, old)
            try:
                os.rename(draft, target)
            except BaseException:
                if old.exists():
                    os.rename(old, target)
                raise
            if not is_drafted(target):
                WRITTEN.append(folder)
            DRAFTS.add(old)
        shutil.rmtree(old, ignore_errors=True)
        DRAFTS.discard(old)
        flush_names(target.parent)


@contextmanager
def filling_folder(folder: Path, last: Sequence[str] = ()) -> Iterator[Path]:
    """Yield an empty folder whose files go into `folder` when the block ends well; see `fill_folder`.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = Path(home) / "new" / "model"
    ...     with filling_folder(folder) as draft:
    ...         _ = (draft / "model.json").write_text("{}")
    ...         before = folder.exists()
    ...     before, [path.name for path in folder.iterdir()]
    (False, ['model.json'])
    """
    check_folder(folder)
    target = real(folder)
    if not target.exists():
        with folders_above(target, folder), replacing_folder(folder) as draft:
            yield draft
        return
    # Inside it: a mounted disk, or a folder of which only this one may be written, has no place beside it.
    with drafted_folder(draft_of(target / target.name), folder) as draft:
        yield draft
        flush_all(draft, target)
        finished = [(path, target / path.relative_to(draft)) for path in files_below(draft)]
        for _, place in finished:
            # Before anything is moved.
            if place.is_dir():
                raise InputError("is a folder", where=place, fix="move it away, or choose another place")
        modes = {place: mode_of(place if place.exists() else path) for path, place in finished}
        with MOVING:
            for name in last:
                (target / name).unlink(missing_ok=True)
            for path, place in sorted(finished, key=lambda pair: (pair[1].name in last, pair[1])):
                place.parent.mkdir(parents=True, exist_ok=True)
                move(path, place, modes[place])
        flush_names(target)
        if not is_drafted(target):
            WRITTEN.append(folder)


@contextmanager
def scratch_file(target: Path) -> Iterator[Path]:
    """Yield the name of a file beside `target` that may be needed while it is made; errors name `target`."""
    draft = draft_of(real(target))
    with known_draft(draft):
        try:
            with naming(draft, target):
                yield draft
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder of the system's for the time of the block."""
    folder = Path(tempfile.mkdtemp(prefix="karat-"))
    with known_draft(folder):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def known_draft(draft: Path) -> Iterator[None]:
    """Note a draft for as long as the block goes on, and after it where something is left of it."""
    DRAFTS.add(draft)
    try:
        yield
    finally:
        if not draft.exists():
            DRAFTS.discard(draft)


@contextmanager
def drafted_folder(draft: Path, folder: Path) -> Iterator[Path]:
    """Make a draft for the time of the block; errors name `folder`."""
    with write_errors(folder), naming(draft, folder), known_draft(draft):
        try:
            draft.mkdir()
            with refused(draft / "room"):
                yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def folders_above(target: Path, path: Path) -> Iterator[None]:
    """Make the folders above a file or folder, and remove them again when the block fails."""
    made = [place for place in target.parents if not place.exists()]
    try:
        with write_errors(path):
            target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for place in made:
            with contextlib.suppress(OSError):
                place.rmdir()
        raise


@contextmanager
def naming(draft: Path, target: Path) -> Iterator[None]:
    """Make an error about the draft name the target: the draft is gone when the message is read."""
    try:
        yield
    except KaratError as error:
        error.args = (str(error).replace(str(draft), str(target)), *error.args[1:])
        if error.where is not None:
            error.where = error.where.replace(str(draft), str(target))
        raise


@contextmanager
def refused(draft: Path) -> Iterator[None]:
    """Raise what the system refuses where a library hides it: some only say that a file is incomplete."""
    try:
        yield
    except KaratError:
        raise
    except Exception as error:
        if system_error(error) is None:
            with draft.open("ab") as file:
                file.write(bytes(ROOM))
        raise


def stream_of(path: Path) -> int | None:
    """Return the number of the open stream that a path names; None for any other path.

    >>> stream_of(Path("-")), stream_of(Path("/dev/stderr")), stream_of(Path("out.csv"))
    (1, 2, None)
    """
    if str(path) == "-":
        return 1
    match = STREAM.fullmatch(str(path))
    if match is None:
        return None
    return {"out": 1, "err": 2}[match["name"]] if match["name"] else int(match["number"] or match["same"])


def real(path: Path) -> Path:
    """Return the target of links; unlike `Path.resolve` it returns one where they form a cycle."""
    return Path(os.path.realpath(path))


def draft_of(target: Path) -> Path:
    """Return a hidden name beside a file or folder that no other writer uses."""
    # It keeps the extension: some writers choose the format by it, others append it.
    return target.with_name(f".{target.stem[:LONGEST]}.{secrets.token_hex(4)}.part{target.suffix}")


def mode_of(path: Path) -> int:
    """Return who may read and write a file."""
    return path.stat().st_mode & 0o777


def move(draft: Path, target: Path, mode: int) -> None:
    """Give a finished draft its mode and its name."""
    if mode_of(draft) != mode:
        draft.chmod(mode)
    os.replace(draft, target)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield every file of a folder and of those in it."""
    return (path for path in folder.rglob("*") if not path.is_dir())


def flush(path: Path) -> None:
    """Wait until a file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    # Some file systems refuse it; the files are in place by then.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def flush_all(folder: Path, target: Path) -> None:
    """Wait until everything in the draft of a folder is on the disk."""
    if is_drafted(target):
        return
    # A disk serves requests that wait together in one go: a thousand pictures take 0.3 s instead of 3 s.
    with ThreadPoolExecutor(WAITING) as pool:
        for _ in pool.map(flush, files_below(folder)):
            pass
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        flush_names(path)


def is_database(place: str | Path) -> bool:
    """Return whether a place is a database: an address, or a file that is, or is named like, one of SQLite.

    >>> is_database("project.db"), is_database("approved.csv"), is_database("postgresql://host/name")
    (True, False, True)
    """
    path = Path(place)
    if "://" in str(place) or path.suffix == ".db":
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(15) == b"SQLite format 3"
