"""TREC qrels: grades, ids that nobody ranks, and what is refused."""

import numpy as np
import pytest

import karat


def test_qrels(tmp_path):
    (tmp_path / "q.txt").write_text("q1 0 d1 2\nq1 0 d9 1\nq1 0 d2 0\nq2 0 d3 -1\n\nq2 0 d1 1\n")
    (tmp_path / "items.txt").write_text("d1\nd2\nd3\nd4\n")
    bench = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", items=tmp_path / "items.txt")
    assert bench.captions.gallery.tolist() == ["d1", "d2", "d3", "d4"]
    assert bench.captions.extra.tolist() == ["d9"]
    row = bench.summary()[0]["i2t"]
    assert row == {"queries": 2, "positives": 3, "negatives": 2, "off_gallery": 1}
    assert sorted(bench.truth("qrels").judgments.pairs().grade) == [0, 0, 0.5, 0.5, 1]
    card = karat.evaluate(np.array([[4.0, 3, 2, 1], [1, 2, 3, 4]]), bench, ["R@1", "AP"], direction=["i2t"])
    assert card.value("R@1", direction="i2t") == 0.5
    turned = karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="t2i")
    assert turned.images.gallery.tolist() == ["d1", "d9", "d2", "d3"]
    for text, message in (
        ("", "holds no judgment"),
        ("q1 0 d1\n", "row 1 is 'q1 0 d1'"),
        ("q1 0 d1 high\n", "row 1 is"),
        ("q1 0 d1 1\nq1 0 d1 0\n", "repeats the pair"),
    ):
        (tmp_path / "q.txt").write_text(text)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("trec", qrels=tmp_path / "q.txt")
    with pytest.raises(karat.KaratError, match="direction is 'up'"):
        karat.load_benchmark("trec", qrels=tmp_path / "q.txt", direction="up")
