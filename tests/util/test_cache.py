"""A cache is read while its inputs stay the same, and a damaged one costs time and nothing else."""

import numpy as np
import pytest

from karat._util import cached


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
