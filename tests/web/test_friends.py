"""The page "Judge a benchmark with five annotators in ten minutes" does what it says."""

import re
import shlex
import subprocess

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from cli.conftest import both, command  # noqa: F401
from web.friends import NAMES, PAGE, commands_of_page, follow

HEADING, MINUTES, JOINING = "Four to eight minutes: answer", 8, 90
"""What the page promises, and how many seconds it takes to join and to read the guidelines."""


@pytest.fixture
def call(command, tmp_path, monkeypatch):  # noqa: F811
    """Return a function that runs a line of the page in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        words = shlex.split(line)
        if words[0] != "karat":
            subprocess.run(words, check=True)
            return ""
        # Nobody looks at the images.
        return command(*words[1:], *(["--no-images"] if words[1] == "world" else []))

    return run


def test_five_friends_finish_the_page(call):
    page = PAGE.read_text(encoding="utf-8")
    done = follow(call)
    printed = "".join(done.printed.values())
    shown = re.search(r"```\n(\d+ pairs to judge.*?)```", page, re.DOTALL)[1]
    assert shown in printed, "the page shows what the commands print"
    answers, seconds = re.search(r"([\d,]+) answers, .* at (\d+) seconds per answer", shown).groups()
    assert sum(done.answers.values()) == int(answers)
    # By the slowest estimate, that of the form, they finish in the minutes of the heading.
    assert f"## {HEADING}\n" in page
    assert JOINING + int(answers) * int(seconds) / len(NAMES) <= 60 * MINUTES
    pairs = shown.split()[0]
    assert f"{pairs} of {pairs} pooled" in printed, "every pair is judged, and no answer fails the gold check"
    assert f"{answers} of {answers}" in printed


def test_gold_lets_everybody_finish(call):
    """Whichever queries are drawn, the gold needs no more annotators than answer each task."""
    lines = commands_of_page()
    pool = next(line for line in lines if line.startswith("karat project pool"))
    for line in lines[: lines.index(pool)]:
        if not line.startswith("pip "):
            call(line)
    for seed in range(1, 4):
        call(f"{pool} --seed {seed} --force")
        assert "; 3 are enough in any order" in call("karat project tasks project.db")
