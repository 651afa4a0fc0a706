"""What the search for slices finds of planted weaknesses, and how often nothing where there is none."""

from functools import cache

import pytest

from statistical.planted import TRUTHS, search_worlds, shown

WORLDS = 100


@cache
def counts():
    found = search_worlds(WORLDS)
    print(f"\n{shown(found, WORLDS)}")
    return found


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("planted", "fewest"),
    [
        *((f"blind to {aspect}", 95) for aspect in ("colour", "number", "size")),
        *((f"weak at {aspect}, against another", 95) for aspect in ("colour", "number", "size")),
        ("blind to colour and number", 90),
        ("the same, against another", 90),
        ("weak at red dogs", 80),
    ],
)
def test_planted_weaknesses_are_found(planted, fewest):
    assert min(counts()[planted, truth] for truth in TRUTHS) >= fewest


@pytest.mark.statistical
def test_nothing_is_found_where_nothing_is_planted():
    quiet = [("nothing, against another", truth) for truth in TRUTHS]
    quiet += [("nothing, and nothing found", truth) for truth in TRUTHS]
    quiet += [("nothing, every caption as hard", "original")]
    assert min(counts()[key] for key in quiet) >= 90
