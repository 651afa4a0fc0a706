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
    assert process.communicate()[1] == NOTHING.encode()
    assert process.returncode == 128 + number
    assert list(folder.iterdir()) == []
    # What a power failure would leave does not block it either.
    (folder / ".w.0123abcd.part" / "images").mkdir(parents=True)
    command(*words, 2)
    assert (folder / "world.json").is_file()


STOPPED = """
import sys, threading, time
import karat._util.files as files
from karat.cli.main import program

def ready():
    print("ready", flush=True)

{patch}
sys.argv = ["karat", *sys.argv[1:]]
program()
"""
WRITING = """
def slow(path, flush=files.flush):
    ready()
    time.sleep(30)

files.flush = slow
"""
STUCK = """
# Threads that are waited for, as those that score are: no exception ends them.
from concurrent.futures import ThreadPoolExecutor
def slow(path, flush=files.flush):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 30)
        ready()
files.flush = slow
"""
DEAF = """
# Compiled code that does not look up, so that no handler of Python's is called.
import ctypes
def slow(path, flush=files.flush):
    ready()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        ctypes.CDLL(None).sleep(30)
files.flush = slow
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def stopped(number, folder, patch, *words, again=False):
    """Call a command, send a signal when it is ready; return what it said and how long it took to end."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED.format(patch=patch), *map(str, words)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for line in process.stdout:
        if "ready" in line:
            break
    time.sleep(0.1)
    begin = time.monotonic()
    process.send_signal(number)
    if again:
        time.sleep(0.1)
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number, said
    return said, time.monotonic() - begin


@pytest.fixture
def made_files(command, tmp_path):
    """A folder with a small world and the scores of one system."""
    command("world", "make", "-o", tmp_path / "my", "--images", 16, "--captions", 2, "--systems")
    (tmp_path / "my" / "runs" / "seer.npy").rename(tmp_path / "a.npy")
    return tmp_path


NOTHING = "karat: stopped; nothing was written; the same command starts again\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(
    ("patch", "number"),
    [(WRITING, SIGNALS[0]), (WRITING, SIGNALS[1]), (STUCK, SIGNALS[0]), (DEAF, SIGNALS[1])],
    ids=["writing-2", "writing-15", "stuck-2", "deaf-15"],
)
def test_a_command_that_is_stopped_ends_soon_and_leaves_nothing(tmp_path, number, patch):
    words = ["world", "make", "--images", "3", "--captions", "2"]
    said, took = stopped(number, tmp_path, patch, *words, "-o", "w")
    assert said == NOTHING
    assert took < 10  # 1.2 s where nothing else runs
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", SIGNALS[:1])
def test_what_was_there_stays_and_what_was_finished_is_named(made_files, number):
    second = WRITING.replace("ready()", "if path.suffix != '.csv': return flush(path)\n    ready()")
    words = ["evaluate", "a.npy", "-b", "my", "-m", "R@1", "--json", "x.json", "-o", "x.csv"]
    (made_files / "x.csv").write_text("old")
    before = sorted(path.name for path in made_files.iterdir())
    said, _ = stopped(number, made_files, second, *words)
    assert said == ("karat: stopped; x.json is written, and nothing else; the same command starts again\n")
    assert (made_files / "x.csv").read_text() == "old"
    assert sorted(path.name for path in made_files.iterdir()) == sorted([*before, "x.json"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_second_signal_ends_it_at_once(tmp_path):
    words = ["world", "make", "--images", "3", "--captions", "2", "-o", "w"]
    said, took = stopped(signal.SIGINT, tmp_path, STUCK, *words, again=True)
    assert said == NOTHING
    assert took < 10
    assert list(tmp_path.iterdir()) == []


MODEL = """
class Slow:
    fingerprint = "v1"

    def encode_texts(self, texts):
        return [[float(len(text)), 1.0] for text in texts]

    encode_images = encode_texts

model = Slow()
"""
ENCODING = """
from karat.models import encoder, encoding
encoder.PART, encoding.ROWS = 4, 8
rows = encoder.Encoder._rows
def slow(self, encode, items, kind, calls=[]):
    calls.append(1)
    if len(calls) == 4:
        ready()
        time.sleep(30)
    return rows(self, encode, items, kind)
encoder.Encoder._rows = slow
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_vectors_that_were_encoded_are_said_to_be_kept(made_files, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(made_files / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(made_files), os.environ.get("PYTHONPATH", "")]))
    (made_files / "slow.py").write_text(MODEL)
    said, _ = stopped(signal.SIGTERM, made_files, ENCODING, "encode", "slow:model", "-b", "my", "-o", "run")
    assert said == (
        "karat: stopped with what is finished kept in run, 4 new vectors kept in the cache; "
        "the same command goes on from there\n"
    )
    assert (made_files / "run" / "images-00000.safetensors").is_file()
    assert not list(made_files.rglob(".*.part*"))
