"""Calling commands as a user does."""

import sys

import pytest

from karat.cli.main import main


def run(*arguments, capsys=None, monkeypatch=None, code=0):
    """Call the command in this process and return what it printed."""
    monkeypatch.setattr(sys, "argv", ["karat", *map(str, arguments)])
    monkeypatch.delenv("KARAT_DEBUG", raising=False)
    with pytest.raises(SystemExit) as stop:
        main()
    captured = capsys.readouterr()
    assert (stop.value.code or 0) == code, captured.err
    return captured.out if code == 0 else captured.err


@pytest.fixture
def command(capsys, monkeypatch):
    return lambda *arguments, code=0: run(*arguments, capsys=capsys, monkeypatch=monkeypatch, code=code)
