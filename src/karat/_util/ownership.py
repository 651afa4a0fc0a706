"""Whose a file is: what was computed once is used later only where nobody else can have written it.

A cache, a checkpoint and compiled code are taken for what this user made. Who owns them, and who may write
them, says so without reading them, and says it of pickles too, which no digest inside them could protect.
"""

from __future__ import annotations

import errno
import os
import stat
import warnings
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from karat.errors import InputError, KaratWarning

OPENING = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""A link is not followed, and a pipe that nobody writes does not wait."""


class NotOwnError(OSError):
    """A file or folder that somebody else may have written.

    Parameters
    ----------
    path, why
        Which one, and as a predicate what is wrong with it.
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path, self.why = path, why


def writers(status: os.stat_result) -> str | None:
    """Return who else may have written a file or folder, as a predicate; None where nobody may.

    The superuser may write everything anyway. A group that is the user's alone is nobody else: on many
    systems every user has one, and every new file allows it to write.
    """
    if os.name != "posix":
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if status.st_mode & stat.S_IWOTH:
        return "can be changed by every user of this machine"
    if status.st_mode & stat.S_IWGRP and not is_private(status.st_gid):
        return "can be changed by all users of its group"
    return None


@lru_cache(maxsize=64)
def is_private(group: int) -> bool:
    """Return whether a group is the user's alone, or the superuser's."""
    import grp
    import pwd

    if group == 0:
        return True
    try:
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return group == os.geteuid() and not is_known(group)
    try:
        found = grp.getgrgid(group)
    except KeyError:
        return group == user.pw_gid == user.pw_uid
    return group == user.pw_gid and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


def is_known(group: int) -> bool:
    """Return whether a group has a name."""
    import grp

    try:
        grp.getgrgid(group)
    except KeyError:
        return False
    return True


def check_own_folder(folder: Path, above: Path | None = None) -> None:
    """Raise `NotOwnError` unless a folder, and every one between it and `above`, is the user's alone.

    One that does not exist raises `FileNotFoundError`. What lies above `above` need not be the user's: who
    puts another folder in its place owns that one.
    """
    top = folder if above is None else above
    for place in (top, *reversed([one for one in (folder, *folder.parents) if top in one.parents])):
        status = place.lstat()
        # The outermost may be a link: the user has named it.
        if place == top and stat.S_ISLNK(status.st_mode):
            status = place.stat()
        if not stat.S_ISDIR(status.st_mode):
            if stat.S_ISREG(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "is a file", str(place))
            raise NotOwnError(place, "is not a folder of its own")
        if (who := writers(status)) is not None:
            raise NotOwnError(place, who)


def open_own(path: Path) -> BinaryIO:
    """Open a plain file that only the user can have written; raise `NotOwnError` for any other.

    What is looked at is what was opened: nobody can put another file in its place in between.
    """
    try:
        number = os.open(path, OPENING)
    except OSError:
        if path.is_symlink():
            raise NotOwnError(path, "is a link") from None
        raise
    try:
        status = os.fstat(number)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
        if not stat.S_ISREG(status.st_mode):
            raise NotOwnError(path, "is not a plain file")
        if (who := writers(status)) is not None:
            raise NotOwnError(path, who)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def check_own_work(path: Path) -> None:
    """Raise where the file of a work that goes on may be somebody else's; one that is missing is nobody's.

    What is done already is not thrown away: the user decides.
    """
    try:
        open_own(path).close()
        check_own_folder(path.parent)
    except NotOwnError as error:
        fix = "if you trust it, make it yours alone (chown, chmod go-w); else delete it"
        what = error.why if error.path == path else f"{error.why}, and with it {path.name}"
        raise InputError(what, where=error.path, fix=fix) from None
    except OSError:
        pass  # who reads it says so


SAID: set[tuple[Path, str]] = set()
"""Of which folders it was said that something in them is not used, and why."""


def note_refused(error: NotOwnError, folder: Path, consequence: str) -> None:
    """Say in one line what is not used and what follows, once in a process for a folder and a reason."""
    if (folder, error.why) not in SAID:
        SAID.add((folder, error.why))
        warnings.warn(f"{error}: {consequence}", KaratWarning, stacklevel=3)
