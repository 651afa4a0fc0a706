"""What must not change a score: the order of ids, the scale of scores, block sizes, threads, layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.measures import TIE_POLICIES

from reference import MEASURES
from worlds import Small, smalls


def values(card):
    return [c.value for c in card]


def close(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second):
        assert (a is None) == (b is None)
        assert a is None or a == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("policy", TIE_POLICIES)
@settings(max_examples=40, deadline=None)
@given(small=smalls(max_images=6, max_captions=7), seed=st.integers(0, 2**32 - 1))
def test_permuting_items_with_their_ids(small: Small, policy: str, seed: int):
    rng = np.random.default_rng(seed)
    bench = small.benchmark
    rows, columns = rng.permutation(bench.images.size), rng.permutation(bench.captions.size)
    ids = {"images": bench.images[rows].tolist(), "captions": bench.captions[columns].tolist()}
    plain = karat.evaluate(karat.load_run(small.scores), bench, MEASURES, ties=policy)
    moved = karat.load_run(small.scores[rows][:, columns], ids=ids)
    close(values(plain), values(karat.evaluate(moved, bench, MEASURES, ties=policy)))


@settings(max_examples=40, deadline=None)
@given(small=smalls(max_images=6, max_captions=7))
def test_doubling_all_scores(small: Small):
    cards = [
        karat.evaluate(karat.load_run(s), small.benchmark, MEASURES) for s in (small.scores, 2 * small.scores)
    ]
    assert values(cards[0]) == values(cards[1])


@settings(max_examples=25, deadline=None)
@given(small=smalls(max_images=8, max_captions=9), block=st.integers(1, 9), threads=st.integers(1, 5))
def test_block_size_and_threads(small: Small, block: int, threads: int):
    run = karat.load_run(small.scores)
    plain = karat.evaluate(run, small.benchmark, MEASURES, ties="stable", compute=karat.Compute(threads=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.runs.devices.cpu.Processor.step", (block, 10 - block))
        again = karat.evaluate(
            run, small.benchmark, MEASURES, ties="stable", compute=karat.Compute(threads=threads)
        )
    assert values(plain) == values(again)


@settings(max_examples=25, deadline=None)
@given(small=smalls(max_images=6, max_captions=7))
def test_memory_layout_and_type(small: Small):
    plain = values(karat.evaluate(karat.load_run(small.scores), small.benchmark, MEASURES, ties="stable"))
    wide = np.zeros((len(small.scores), 2 * small.scores.shape[1]), np.float32)
    wide[:, ::2] = small.scores
    for table in (
        np.asfortranarray(small.scores),
        wide[:, ::2],
        small.scores.astype(np.float16),
        small.scores.astype(np.float64),
        small.scores.astype(">f4"),
        small.scores.astype(np.int64),
        small.scores.astype(np.uint8),
    ):
        assert (
            values(karat.evaluate(karat.load_run(table), small.benchmark, MEASURES, ties="stable")) == plain
        )
    turned = karat.load_run(np.ascontiguousarray(small.scores.T), transpose=True)
    assert values(karat.evaluate(turned, small.benchmark, MEASURES, ties="stable")) == plain
