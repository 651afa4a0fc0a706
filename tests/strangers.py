"""What strangers do to files of a cache: after each of these, nobody can tell who wrote what is in them."""

import os
import socket

import pytest

UNIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")


def give_away(path):
    """Make another user the owner, as if they had put their file there."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser gives files away")
    os.chown(path, 54321, -1)


def open_to_all(path):
    """Let every user of the machine write it."""
    path.chmod(path.stat().st_mode | 0o022)


def open_to_a_group(path):
    """Let a group write it that is not the user's alone."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser chooses any group")
    os.chown(path, -1, 54321)
    path.chmod(path.stat().st_mode | 0o020)


def link(path):
    """Put a link to a file elsewhere in its place."""
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def pipe(path):
    """Put a pipe in its place that nobody writes into: who opens it waits."""
    path.unlink()
    os.mkfifo(path)


def listening(path):
    """Put a socket in its place."""
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


WRITTEN = [give_away, open_to_all, open_to_a_group]
"""What is done to a file or a folder."""
SPOILT = [*WRITTEN, link, pipe]
"""What is done to a file."""
