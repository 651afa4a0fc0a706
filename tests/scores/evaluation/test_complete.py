"""A complete truth: what is not listed is judged not relevant, not unjudged."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import karat
from karat.benchmarks import read_benchmark, save_benchmark
from karat.measures import READINGS

from worlds import Small, build, smalls

MEASURES = ["R@1", "P@2", "RP", "mAP@R", "AP", "MRR", "nDCG", "MedR", "Judged@2", "bpref"]


def with_truths(small: Small, **truths) -> karat.Benchmark:
    return replace(small.benchmark, truths={**small.benchmark.truths, **truths})


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=40, deadline=None)
@given(small=smalls())
def test_complete_equals_everything_listed(small: Small, reading: str):
    n_captions = small.scores.shape[1]
    # Beyond the gallery nothing can be judged not relevant: only positives stay there.
    filled = [
        [grade or (0.0 if c < n_captions else None) for c, grade in enumerate(row)] for row in small.grades
    ]
    listed = build(filled, n_captions, small.scores, halves=False).benchmark
    short = with_truths(small, whole=replace(small.benchmark.truth("whole"), complete=True))
    run = karat.load_run(small.scores)
    ours, theirs = (
        karat.evaluate(run, bench, MEASURES, truth="whole", unjudged=reading) for bench in (short, listed)
    )
    for a, b in zip(ours, theirs):
        assert a.value == pytest.approx(b.value, nan_ok=True)
        if reading == "bounds":
            assert a.lower_bound == pytest.approx(b.lower_bound)
            assert a.upper_bound == pytest.approx(b.upper_bound)
    assert ours.value("Judged@2", direction="i2t") == 1
    assert not any("nothing is judged not relevant" in note for note in ours.notes)
    rows = [next(r for r in bench.summary() if r["truth"] == "whole") for bench in (short, listed)]
    assert rows[0]["i2t"]["negatives"] == rows[1]["i2t"]["negatives"]


def test_saved_folders_keep_it(tmp_path):
    small = build([[1.0, None], [None, 1.0]], 2, np.eye(2, dtype=np.float32), halves=False)
    bench = with_truths(small, all=replace(small.benchmark.truth("whole"), name="all", complete=True))
    save_benchmark(bench, tmp_path / "saved")
    again = read_benchmark(tmp_path / "saved")
    assert again.truth("all").complete
    assert not again.truth("whole").complete
