"""A cache is read while its inputs stay the same, and a damaged one costs time and nothing else."""

import io
import os
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from karat._util import cached
from karat.errors import KaratWarning
from strangers import SPOILT, UNIX, WRITTEN


@pytest.fixture
def parse(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.txt"
    source.write_text("1 2 3")
    calls = []

    def numbers():
        calls.append(1)
        return {"numbers": np.array(source.read_text().split(), int)}

    def load():
        return cached("numbers", [source], numbers)["numbers"].tolist(), len(calls)

    load.source, load.file = source, tmp_path / "cache" / "numbers.npz"
    return load


def test_it_is_parsed_once(parse):
    assert parse() == ([1, 2, 3], 1)
    assert parse() == ([1, 2, 3], 1)
    assert list(parse.file.parent.iterdir()) == [parse.file]
    parse.source.write_text("4 5 6 7")
    assert parse() == ([4, 5, 6, 7], 2)


def test_a_damaged_one_is_written_again(parse):
    parse()
    parse.file.write_bytes(b"broken")
    assert parse() == ([1, 2, 3], 2)
    assert parse() == ([1, 2, 3], 2)


def test_a_place_that_cannot_be_written_costs_only_time(parse):
    parse.file.mkdir(parents=True)
    assert parse() == ([1, 2, 3], 1)
    assert parse() == ([1, 2, 3], 2)
    parse.file.rmdir()
    parse.file.parent.rmdir()
    parse.file.parent.write_text("a file where the folder should be")
    assert parse() == ([1, 2, 3], 3)


@UNIX
@pytest.mark.parametrize("spoil", SPOILT)
def test_an_entry_that_others_may_have_written_is_noted_and_made_again(parse, spoil):
    parse()
    np.savez(parse.file, **{**np.load(parse.file), "numbers": np.array([666])})
    assert parse() == ([666], 1)
    spoil(parse.file)
    with pytest.warns(KaratWarning, match=r"numbers.npz .*: it is not used, and made again") as said:
        assert parse() == ([1, 2, 3], 2)
    assert len(said) == 1
    assert parse() == ([1, 2, 3], 2)
    assert parse.file.is_file()
    assert not parse.file.is_symlink()
    assert parse.file.stat().st_mode & 0o777 == 0o600


@UNIX
@pytest.mark.parametrize("spoil", WRITTEN)
def test_a_folder_that_others_can_write_is_no_cache(parse, spoil):
    parse()
    np.savez(parse.file, **{**np.load(parse.file), "numbers": np.array([666])})
    spoil(parse.file.parent)
    before = parse.file.read_bytes()
    with pytest.warns(KaratWarning, match=r"cache .*; remove it, or name a folder .* in KARAT_CACHE") as said:
        assert parse() == ([1, 2, 3], 2)
    assert len(said) == 1
    # Said once, not for each entry; nothing is written, not even through a link that awaits it.
    assert parse() == ([1, 2, 3], 3)
    assert parse.file.read_bytes() == before


@UNIX
def test_what_is_cached_is_the_user_s_alone_whatever_the_mask(parse):
    before = os.umask(0)
    try:
        parse()
    finally:
        os.umask(before)
    assert parse.file.parent.stat().st_mode & 0o777 == 0o700
    assert parse() == ([1, 2, 3], 1)


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(-1,)", "('a',)"])
def test_an_entry_that_claims_to_be_huge_is_made_again(parse, shape):
    parse()
    stored = dict(np.load(parse.file))
    with zipfile.ZipFile(parse.file, "w") as archive:
        for name, array in stored.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array)
            head = data.getvalue()
            if name == "numbers":
                text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117)
                head = head[:8] + len(text + b"\n").to_bytes(2, "little") + text + b"\n"
            archive.writestr(f"{name}.npy", head)
    assert parse() == ([1, 2, 3], 2)


WRITER = """
import sys, time
from pathlib import Path
import numpy as np
from karat._util import cached

source, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for k in range(int(sys.argv[3])):
    # Every number of an entry is the same: a torn one would show.
    found = cached(f"{name}-{k % 3}", [source], lambda: {"numbers": np.full(200_000, k % 3)})["numbers"]
    assert (found == k % 3).all() and found.shape == (200_000,), found
    if k % 4 == 0:
        Path(sys.argv[4], f"{name}-{k % 3}.npz").unlink(missing_ok=True)
print("done", flush=True)
"""


def test_writers_at_the_same_time_and_killed_ones_leave_no_torn_entry(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "cache"
    source.write_text("1")
    environment = {**os.environ, "KARAT_CACHE": str(folder)}

    def start(name, rounds):
        words = [sys.executable, "-c", WRITER, str(source), name, str(rounds), str(folder)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    # The same entry, and entries of their own; half of them are killed on the way.
    lasting = [start("same" if k % 2 else f"own{k}", 60) for k in range(4)]
    killed = [start("same" if k % 2 else f"own{k}", 100_000) for k in range(4)]
    for k, process in enumerate(killed):
        process.stdout.readline()
        time.sleep(0.05 * k)
        process.kill()
        process.communicate()
    for process in lasting:
        said, wrong = process.communicate(timeout=120)
        assert said.endswith(b"done\n"), wrong
    again = start("same", 6)
    assert again.communicate(timeout=60)[0].endswith(b"done\n")
