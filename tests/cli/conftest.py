"""Calling commands as a user does."""

import sys

import pytest

from karat.cli.main import main


@pytest.fixture
def both(capsys, monkeypatch):
    """Call a command in this process and return what it printed on both streams; errors are one line."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["karat", *map(str, arguments)])
        monkeypatch.delenv("KARAT_DEBUG", raising=False)
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert (stop.value.code or 0) == code, captured.err
        if code == 2:
            # Notes may stand before it.
            *notes, last = captured.err.splitlines()
            assert last.startswith("karat: ")
            assert all(note.startswith("note: ") for note in notes), captured.err
        return captured

    return call


@pytest.fixture
def command(both):
    """Call a command and return what it printed; its error when it should fail."""

    def call(*arguments, code=0):
        captured = both(*arguments, code=code)
        return captured.out if code == 0 else captured.err

    return call
