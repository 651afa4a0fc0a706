"""What a command prints when nobody reads it or it cannot be printed, and what a signal leaves behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from karat.cli.main import main


@pytest.fixture
def printing(monkeypatch, capfd):
    """Call a command whose standard output is an open file; return its exit code and what it said."""

    def call(number, *words):
        with os.fdopen(number, "w") as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            monkeypatch.setattr(sys, "argv", ["karat", *words])
            with pytest.raises(SystemExit) as stop:
                main()
            assert sys.stdout is stream
            monkeypatch.undo()
        return stop.value.code, capfd.readouterr().err

    return call


def unread():
    """Return the number of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


PRINTED = [("measures",), ("benchmarks",), ("--version",), ("--help",), ("captions", "--help")]


@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_a_reader_that_has_seen_enough_is_no_error(printing, words):
    assert printing(unread(), *words) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_what_cannot_be_printed_is_one_sentence(printing, words):
    code, said = printing(os.open("/dev/full", os.O_WRONLY), *words)
    assert code == 2
    assert said == (
        "karat: standard output: cannot be written (No space left on device); "
        "free some space, or choose another place.\n"
    )


def test_files_are_written_though_nobody_reads(printing, tmp_path):
    words = ["world", "make", "-o", str(tmp_path / "w"), "--images", "3", "--captions", "2", "--systems"]
    assert printing(unread(), *words)[0] == 0
    runs = sorted(map(str, (tmp_path / "w" / "runs").iterdir()))[:2]
    project = tmp_path / "p.db"
    words = [
        "project",
        "pool",
        *runs,
        "-b",
        str(tmp_path / "w"),
        "-o",
        str(project),
        "--gold",
        "0",
        "--top",
        "1",
    ]
    assert printing(unread(), *words)[0] == 0
    assert project.stat().st_size


def test_standard_output_is_written_where_it_leads(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "board.csv").write_text("system,R@1,RP\na,1,2\nb,2,3\nc,3,1\nd,4,4\n")
    # A file, which must not be replaced under the feet of whoever redirected the output.
    with (tmp_path / "out.txt").open("w") as stream:
        for place in ("-", "/dev/stdout"):
            kept = os.dup(1)
            os.dup2(stream.fileno(), 1)
            try:
                command("board", "correlate", tmp_path / "board.csv", "--json", place, "-q")
            finally:
                os.dup2(kept, 1)
                os.close(kept)
    text = (tmp_path / "out.txt").read_text()
    assert text.count('"second": "RP"') == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.csv", "out.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_world_that_was_interrupted_can_be_made_again(command, tmp_path, number):
    folder = tmp_path / "w"
    folder.mkdir()
    words = ["world", "make", "-o", str(folder), "--images"]
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *words, "600"],
        stderr=subprocess.PIPE,
        # Shells let what they start in the background ignore Ctrl+C, and its children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(folder.rglob("*.png")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.communicate()[1] == b""
    assert process.returncode == 128 + number
    assert list(folder.iterdir()) == []
    # What a power failure would leave does not block it either.
    (folder / ".w.0123abcd.part" / "images").mkdir(parents=True)
    command(*words, 2)
    assert (folder / "world.json").is_file()
