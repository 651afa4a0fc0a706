"""Every command of README and docs does what it did when it was recorded."""

from __future__ import annotations

import pytest

from net.commands import AGAIN, Runner, check, commands, documented, pages, recorded, table
from net.folders import data_folder


@pytest.fixture(scope="session")
def runner(tmp_path_factory):
    """One set of prepared folders for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    # With pytest-xdist each process has a folder of its own, in one that they share.
    shared = base.parent if base.name.startswith("popen-") else base
    made = Runner(shared / "commands")
    yield made
    made.close()


@pytest.mark.parametrize("page", list(commands()))
def test_commands_do_what_was_recorded(page, runner):
    found, _ = check(page, runner)
    assert not found, "\n\n".join(["", *found, AGAIN.format(page=page)])


def test_commands_that_need_real_data_are_among_them():
    asked = [one.text for some in commands().values() for one in some if one.needs_data]
    assert asked
    if data_folder() is None:
        pytest.skip(f"{len(asked)} commands need real data, set KARAT_DATA: {'; '.join(asked)}")


def test_every_documented_command_is_recorded():
    # Further options are no page's: commands.toml has them, and what they do is checked without a record.
    known = {one["command"] for page in commands() for one in recorded(page)}
    missing = [f"{page}: {command}" for command, page in documented().items() if command not in known]
    assert not missing, "\n".join(
        ["not recorded:", *missing, "record them: python tests/net/commands.py --record PAGE"]
    )


def test_what_is_said_about_commands_is_about_documented_ones():
    """Otherwise a command whose page was changed runs as it stands there, and fails."""
    said = {name for part in ("instead", "not_run", "coco") for name in table()[part]}
    run = {command.text for some in commands().values() for command in some}
    assert sorted(said - run) == []
    text = "\n".join(pages().values())
    assert [name for name in table()["mentions"] if name not in text] == []
