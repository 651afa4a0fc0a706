"""How a pool was sampled, from files to truths and back."""

import numpy as np
import pytest

import karat
from karat.benchmarks import (
    Judgments,
    PoolDesign,
    Provenance,
    Truth,
    read_benchmark,
    save_benchmark,
    write_qrels,
)
from karat.errors import InputError, KaratError

STRATA = "q1 0 a 1 2\nq1 0 b 2 -1\nq1 0 c 2 0\nq2 0 a 1 1\n"
LEGAL = "q1 0 a 2 1\nq1 0 b -1 0.25\nq1 0 c 0 0.5\nq2 0 a 1 1e-2\n"
MILLION = "q1 a 2 1 1.0\nq1 b -1 0 0.25\nq1 c 0 2 0.5\nq2 a 1 1 0.01\n"


def load(path, text, **settings):
    path.write_text(text)
    return karat.load_benchmark("trec", qrels=path, **settings)


@pytest.mark.parametrize(
    ("text", "by", "values"),
    [
        (STRATA, "stratum", [1, 2, 2, 1]),
        ("q1 0 a 2 1\nq1 0 b -1 2\nq1 0 c 0 2\nq2 0 a 1 1\n", "stratum", [1, 2, 2, 1]),
        (LEGAL, "inclusion", [1, 0.25, 0.5, 0.01]),
        (MILLION, "inclusion", [1, 0.25, 0.5, 0.01]),
        ("# a comment\n\n" + STRATA.replace(" 0 ", " Q0 ", 1), "stratum", [1, 2, 2, 1]),
    ],
)
@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_qrels_with_a_fifth_column(tmp_path, text, by, values, direction):
    truth = load(tmp_path / "q.txt", text, direction=direction).truth("qrels")
    rows = truth.pool(direction)
    assert {name: column.tolist() for name, column in rows.sampled.items()} == {by: values}
    np.testing.assert_array_equal(rows.grade, [1, np.nan, 0, 0.5])
    # The sample is of the queries of one direction; the pairs have none.
    other = Truth("other", truth.judgments, {"t2i" if direction == "i2t" else "i2t": np.arange(1)})
    assert other.pool("t2i" if direction == "i2t" else "i2t").sampled == {}
    assert f"sampled by {by}" in repr(truth)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a 1\nq 0 b 2 -1\n", "row 2 is 'q 0 b 2 -1', where the rows before it are `query 0 item relev"),
        (
            STRATA + "q2 0 b 1 0.5\n",
            r"row 5 .* are `query 0 item stratum relevance`; write `query 0 item str",
        ),
        (LEGAL + "q2 b 1 0 0.5\n", "row 5 .* are `query 0 item relevance probability`"),
        (MILLION + "q2 0 b 0 0.5\n", "row 5 .* are `query item relevance method probability`"),
        ("q 0 a 1 0.0\n", "row 1 is 'q 0 a 1 0.0'; write `query 0 item relevance` or `query 0 item stratum"),
        ("q a 1 0 1.5\n", "row 1 is 'q a 1 0 1.5'"),
        (STRATA + "q2 0 b -1 2\n", "row 5 is 'q2 0 b -1 2', where"),
    ],
)
def test_mixtures_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path / "q.txt", text)


@pytest.mark.parametrize("text", [STRATA, LEGAL])
@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_written_and_saved_as_read(tmp_path, text, direction):
    bench = load(tmp_path / "q.txt", text, direction=direction)
    written = write_qrels(bench, bench.truth("qrels"), tmp_path)[direction]
    lines = written.read_text().splitlines()
    # Judged pairs first; the highest relevance is 2.
    assert sorted(line.split()[:3] for line in lines) == sorted(
        line.split()[:3] for line in text.splitlines()
    )
    assert lines[-1].split()[2] == "b"
    save_benchmark(bench, tmp_path / "saved")
    for again in (
        load(written, written.read_text(), direction=direction),
        read_benchmark(tmp_path / "saved"),
    ):
        assert str(by_id(again, direction)) == str(by_id(bench, direction))


def by_id(bench, direction):
    """Return grade and design of each pair of the pool by its ids."""
    rows = bench.truth("qrels").pool(direction)
    columns = [rows.grade, *rows.sampled.values()]
    ids = zip(bench.queries(direction)[rows.query_of_row], bench.items(direction)[rows.item])
    return dict(sorted((tuple(map(str, pair)), [float(c[k]) for c in columns]) for k, pair in enumerate(ids)))


def test_a_damaged_design_is_named(tmp_path):
    save_benchmark(load(tmp_path / "q.txt", STRATA), tmp_path / "saved")
    (tmp_path / "saved" / "design-0.parquet").unlink()
    with pytest.raises(KaratError, match=r"design-0\.parquet: there is no such file"):
        read_benchmark(tmp_path / "saved")


def judgments(image, caption, design):
    return Judgments(image, caption, sources=[Provenance("people")], design=design)


def test_merging():
    """Pairs keep their design; the same pair must have the same value; a pair without a rating is pooled."""
    first = PoolDesign("i2t", "stratum", [0, 0], [1, 0], [2, 1])
    plain = Judgments([3], [3], sources=[Provenance("others")])
    table = judgments([0], [0], first)
    assert [column.tolist() for column in table.pooled] == [[0], [1]]
    assert plain.merge(table).design is first
    assert table.merge(plain).design is first
    more = judgments([0], [2], PoolDesign("i2t", "stratum", [0, 0], [2, 1], [3, 2]))
    merged = table.merge(Judgments([0], [2], sources=[Provenance("more")], design=more.design))
    assert merged.design.caption.tolist() == [0, 1, 2]
    assert merged.design.value.tolist() == [1, 2, 3]
    assert merged.remap("people", karat.benchmarks.RELEVANT).design is merged.design
    for other, message in (
        (
            PoolDesign("t2i", "stratum", [0], [1], [2]),
            "sampled by stratum for i2t, the other by stratum for t2i",
        ),
        (PoolDesign("i2t", "inclusion", [0], [1], [0.5]), "the other by inclusion"),
        (PoolDesign("i2t", "stratum", [0], [1], [5]), "has the stratum 2 in one pool and 5 in the other"),
    ):
        with pytest.raises(InputError, match=message):
            table.merge(judgments([7], [7], other))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("i2t", "inclusion", [0], [0], [0.0]), "a inclusion of the design is 0; give probabilities above 0"),
        (("i2t", "inclusion", [0], [0], [np.nan]), "is nan"),
        (("i2t", "stratum", [0], [0], [1.5]), "a stratum of the design is 1.5; give whole numbers"),
        (("i2t", "stratum", [0, 0], [0, 0], [1, 1]), "pair .image 0, caption 0. twice"),
        (("i2t", "stratum", [0], [0, 1], [1]), "1 images, 2 captions and 1 values"),
        (("i2t", "grade", [0], [0], [1]), "by is 'grade'"),
        (("both", "stratum", [0], [0], [1]), "unknown direction 'both'"),
    ],
)
def test_wrong_designs_are_sentences(arguments, message):
    with pytest.raises(InputError, match=message):
        PoolDesign(*arguments)
