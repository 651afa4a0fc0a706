"""Ratings in all their layouts, agreement within a table and between two."""

import re

import krippendorff
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

import karat
from karat.scores.agreement.rater_agreement import agree
from karat.scores.agreement.ratings import Ratings
from karat.scores.agreement.ratings_file import read_ratings
from karat.stats import Intervals, cut_texts

QUICK = Intervals(resamples=200)


@pytest.fixture
def table(rng):
    """Forty items rated 1 to 4 by three people, some of whom left some out."""
    truth = rng.integers(1, 5, 40)
    values = np.clip(truth[:, None] + rng.integers(-1, 2, (40, 3)), 1, 4).astype(float)
    values[3, 1] = values[7, 2] = np.nan
    images, captions = [f"i{k % 8}" for k in range(40)], [f"c{k}" for k in range(40)]
    return Ratings(images, captions, ("ann", "bob", "cid"), values, "people.csv")


def cell(value):
    return "" if np.isnan(value) else f"{value:g}"


def write_wide(path, table, sign=","):
    head = ["image", "caption", *table.raters]
    rows = [[i, c, *map(cell, row)] for (i, c), row in zip(table.pairs(), table.values)]
    path.write_text("\n".join(sign.join(row) for row in [head, *rows]) + "\n")
    return path


def write_long(path, table):
    rows = [
        f"{i},{c},{who},{value:g}"
        for (i, c), row in zip(table.pairs(), table.values)
        for who, value in zip(table.raters, row)
        if not np.isnan(value)
    ]
    path.write_text("\n".join(["image_id,caption_id,worker,score", *rows]) + "\n")
    return path


def test_wide_long_and_parquet_say_the_same(table, tmp_path):
    frame = {"image": table.image, "caption": table.caption}
    frame |= {who: table.values[:, k] for k, who in enumerate(table.raters)}
    pl.DataFrame(frame).write_parquet(tmp_path / "people.parquet")
    paths = [
        write_wide(tmp_path / "people.csv", table), write_wide(tmp_path / "people.tsv", table, "\t"),
        write_long(tmp_path / "long.csv", table), tmp_path / "people.parquet",
    ]  # fmt: skip
    for path in paths:
        read = read_ratings(path)
        assert read.pairs() == table.pairs()
        assert read.raters == table.raters
        assert read.persons
        assert np.array_equal(read.values, table.values, equal_nan=True)
    for path in (paths[0], paths[2]):
        assert read_ratings(path, ["cid", "ann"]).values.shape == (40, 2)


def test_flickr8k_files(tmp_path):
    expert, crowd = tmp_path / "ExpertAnnotations.txt", tmp_path / "CrowdFlowerAnnotations.txt"
    expert.write_text("".join(f"a.jpg\tb.jpg#{k}\t1\t{1 + k % 2}\t3\n" for k in range(30)))
    crowd.write_text("a.jpg\tb.jpg#0\t0.333333333333333\t1\t2\na.jpg\tb.jpg#1\t1\t4\t0\n")
    rated = read_ratings(expert)
    assert rated.values.shape == (30, 3)
    assert not rated.persons
    counted = read_ratings(crowd)
    assert counted.rating.tolist() == pytest.approx([1 / 3, 1])
    assert np.array_equal(counted.values, [[1, 0, 0, np.nan], [1, 1, 1, 1]], equal_nan=True)
    alone = agree(expert, intervals=QUICK)
    assert not alone.raters[0].kappas
    assert "no column is one rater's" in alone.notes[0]
    assert list(agree(expert, crowd, intervals=QUICK).raters[1].alpha) == ["nominal"]


def test_named_columns_are_persons_even_in_order(tmp_path, rng):
    """A strict and a lenient rater always differ the same way: a note, no verdict."""
    level = rng.integers(1, 4, 60)
    rows = "".join(f"{k},{k},{n},{n + 1}\n" for k, n in enumerate(level))
    path = tmp_path / "two.csv"
    path.write_text("image,caption,strict,lenient\n" + rows)
    found = agree(path, intervals=QUICK)
    (pair,) = found.raters[0].kappas
    assert pair.nominal.value == pytest.approx(cohen_kappa_score(level, level + 1), abs=1e-12)
    assert "2 raters" in str(found)
    assert any("the ratings rise from strict to lenient" in note for note in found.notes)
    path.write_text("image,caption,strict,lenient\n1,1,1,2\n2,2,2,3\n3,3,2,2\n")
    assert not agree(path, intervals=QUICK).notes


def test_continuous_ratings_have_alpha_but_no_kappa(rng):
    items = range(700)
    values = rng.normal(size=(700, 1)) + rng.normal(0, 0.3, (700, 2))
    found = agree(Ratings(items, items, ("a", "b"), values), intervals=QUICK)
    # By the formula of two raters without ties: the package would build a table of 11 GB.
    places = {"interval": values, "ordinal": values.ravel().argsort().argsort().reshape(values.shape)}
    for scale, at in places.items():
        spread = at.size * (at**2).sum() - at.sum() ** 2
        expected = 1 - (at.size - 1) * ((at[:, 0] - at[:, 1]) ** 2).sum() / spread
        assert found.raters[0].alpha[scale].value == pytest.approx(expected, abs=1e-12)
    assert found.raters[0].alpha["nominal"].value == pytest.approx(0, abs=1e-12)
    assert not found.raters[0].kappas
    assert found.notes[0].startswith("there are 1,400 different ratings: alpha holds, kappa of two raters")


def test_one_table(table, tmp_path):
    found = agree(table, intervals=QUICK)
    for scale, one in found.raters[0].alpha.items():
        expected = krippendorff.alpha(table.values.T, level_of_measurement=scale)
        assert one.value == pytest.approx(expected, abs=1e-12)
        assert one.low < one.value < one.high
    pair = found.raters[0].kappas[0]
    both = ~np.isnan(table.values[:, :2]).any(axis=1)
    ann, bob = table.values[both, 0], table.values[both, 1]
    for weights, one in ((None, pair.nominal), ("linear", pair.linear), ("quadratic", pair.quadratic)):
        assert one.value == pytest.approx(cohen_kappa_score(ann, bob, weights=weights), abs=1e-12)
    assert [(k.first, k.second) for k in found.raters[0].kappas] == [
        ("ann", "bob"), ("ann", "cid"), ("bob", "cid"),
    ]  # fmt: skip
    assert len(found.records()) == 3 + 9
    by_image = agree(table, resample="image", intervals=QUICK).raters[0].alpha["nominal"]
    assert (by_image.n, by_image.effective) == (40, 8)


def test_yes_no_and_undefined_numbers(tmp_path):
    path = tmp_path / "yes.csv"
    path.write_text("image,caption,a,b\n1,1,yes,Yes\n2,1,no,yes\n3,1,no,NO\n4,2,,no\n")
    found = agree(path, intervals=QUICK)
    assert list(found.raters[0].alpha) == ["nominal"]
    path.write_text("image,caption,a,b\n1,1,1,1\n2,1,1,1\n")
    text = str(agree(path, intervals=QUICK))
    assert "alpha, nominal  not defined" in text
    assert agree(path, intervals=QUICK).records()[0]["value"] is None


def test_many_raters(rng):
    values = rng.integers(0, 2, (30, 30)).astype(float)
    table = Ratings(range(30), range(30), tuple(f"w{k}" for k in range(30)), values)
    found = agree(table, intervals=Intervals(resamples=2))
    assert len(found.raters[0].kappas) == 200
    assert "kappa of the 200 pairs of raters with most items, of 435 pairs" in found.notes[0]
    assert len(found.raters[0].lay_out().rows) == 14


def test_two_tables(table, tmp_path):
    share = Ratings(
        table.image[:30], table.caption[:30], ("share",), (table.values[:30, :1] - 1) / 3, "crowd"
    )
    left = agree(table, share, intervals=QUICK)
    assert left.thresholds.kappa[0, 0].n == 30
    as_no = agree(table, share, missing="no", intervals=QUICK)
    assert as_no.thresholds.kappa[0, 0].n == 40
    said = np.r_[share.rating >= 1 / 3 - 1e-9, np.zeros(10, bool)]
    mean = np.nanmean(table.values, axis=1)
    chosen = agree(table, share, missing="no", first_from=[3, 2], second_from=[0.333], intervals=QUICK)
    assert chosen.thresholds.first_from.tolist() == [2, 3]
    assert chosen.thresholds.kappa[1, 0].value == pytest.approx(cohen_kappa_score(mean >= 3, said), abs=1e-12)
    assert "10 pairs of people are not in crowd and count as no there" in as_no.notes
    assert "10 pairs of people are not in crowd and are left out" in left.notes
    records = chosen.records()
    assert sum(record.get("best", False) for record in records) == 1
    assert "* best: kappa" in str(chosen)
    clustered = agree(table, share, resample="image", intervals=QUICK)
    assert clustered.thresholds.kappa[0, 0].effective == 8


def test_a_blank_is_never_a_no(tmp_path):
    """Six pairs: one blank with the experts; the crowd lacks one and left another blank."""
    expert, crowd = tmp_path / "ex.csv", tmp_path / "cr.csv"
    expert.write_text("image,caption,ann\n1,1,1\n2,2,4\n3,3,\n4,4,3\n5,5,2\n6,6,4\n")
    crowd.write_text("image,caption,share\n1,1,0\n2,2,\n3,3,0.5\n4,4,1\n5,5,0.2\n")
    as_no = agree(expert, crowd, missing="no", first_from=[3], second_from=[1], intervals=QUICK)
    # Pairs 1, 4 and 5 have both ratings; pair 6 counts as no.
    assert as_no.thresholds.kappa[0, 0].n == 4
    expected = cohen_kappa_score([0, 1, 0, 1], [0, 1, 0, 0])
    assert as_no.thresholds.kappa[0, 0].value == pytest.approx(expected, abs=1e-12)
    assert as_no.notes == (
        "1 pair of ex is not in cr and counts as no there",
        "1 pair has no rating in ex and is left out",
        "1 pair has no rating in cr and is left out",
    )
    left = agree(expert, crowd, intervals=QUICK)
    assert left.thresholds.kappa[0, 0].n == 3
    assert left.notes == ("1 pair of ex is not in cr and is left out", *as_no.notes[1:])
    # What nobody has answered is a blank, too, and pairs of the crowd alone are counted by themselves.
    crowd.write_text("image,caption,yes,no\n1,1,0,3\n2,2,0,0\n4,4,3,0\n5,5,,\n7,7,1,2\n8,8,3,0\n")
    counted = agree(expert, crowd, missing="no", first_from=[3], second_from=[1], intervals=QUICK)
    assert counted.thresholds.kappa[0, 0].n == 3
    assert counted.notes == (
        "1 pair of ex is not in cr and counts as no there",
        "1 pair has no rating in ex and is left out",
        "2 pairs have no rating in cr and are left out",
        "2 pairs of cr are not in ex and are left out",
    )


def test_a_published_file_with_a_blank(tmp_path):
    crowd = tmp_path / "CrowdFlowerAnnotations.txt"
    crowd.write_text("a.jpg\tb.jpg#0\t1\t3\t0\na.jpg\tb.jpg#1\t\t0\t0\n")
    assert np.array_equal(read_ratings(crowd).rating, [1, np.nan], equal_nan=True)


def test_tables_of_one_name_are_told_apart(table, tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        write_wide(tmp_path / folder / "r.csv", table)
    found = agree(tmp_path / "a" / "r.csv", tmp_path / "b" / "r.csv", intervals=QUICK)
    names = str(tmp_path / "a" / "r"), str(tmp_path / "b" / "r")
    assert (found.thresholds.first, found.thresholds.second) == names
    assert tuple(one.name for one in found.raters) == names
    assert {record["table"] for record in found.records() if "table" in record} == set(names)
    twice = agree(table, table, intervals=QUICK)
    assert repr(twice) == "Agreement(of people (1) and people (2))"


def test_thresholds_are_shown_with_digits_that_tell_them_apart(rng):
    items = range(60)
    sides = [
        Ratings(items, items, ("score",), rng.integers(0, 4, (60, 1)) / scale, name)
        for scale, name in ((1e3, "milli"), (1e7, "tiny"))
    ]
    found = agree(*sides, intervals=QUICK)
    layout = found.thresholds.lay_out()
    assert [row[0] for row in layout.rows] == ["0.001", "0.002", "0.003"]
    assert [cell.strip() for cell in layout.head[1:]] == ["0.0000001", "0.0000002", "0.0000003"]
    said = found.best_in_words()
    assert re.search(r"milli from 0\.00[123], tiny from 0\.000000[123]$", said, re.MULTILINE)
    assert "chosen and measured on the same items" in said
    # Thresholds closer than a hair still part the ratings as they should.
    for (row, column), one in np.ndenumerate(found.thresholds.kappa):
        a, b = (side.rating * scale > at + 0.5 for side, scale, at in zip(sides, (1e3, 1e7), (row, column)))
        assert one.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    assert cut_texts([8 / 3, 1234567.891]) == ["2.66", "1234567.89"]


def test_a_fine_scale_is_cut_into_nine(rng):
    items = [str(k) for k in range(300)]
    fine = Ratings(items, items, ("score",), rng.random((300, 1)), "fine")
    coarse = Ratings(items, items, ("answer",), fine.values.round(), "coarse")
    found = agree(fine, coarse, intervals=QUICK)
    assert found.thresholds.kappa.shape == (9, 1)
    assert "9 of 299 thresholds of fine; --first-from names others" in found.notes


WIDE = "image,caption,a,b\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (WIDE, "has no rows below its header"),
        ("picture,caption,a,b\n1,1,1,1\n", "has no column 'image'"),
        ("image,a,b\n1,1,1\n", "has no column 'caption'"),
        ("image,caption\n1,1\n", "has no column of numbers beside image and caption"),
        ("image,caption,a\n1,1,1\n2,1,2\n", "has one rater only"),
        ("image,caption,rater,rating\n1,1,x,1\n2,1,x,2\n", "has one rater only"),
        (WIDE + "1,1,1,2\n2,1,good,2\n3,1,1,1\n", "row 3, column 'a' is 'good', not a number"),
        (WIDE + "1,1,1,2\n1,1,2,2\n", "row 3 repeats the pair 1 with 1 of row 2"),
        (
            "image,caption,rater,rating\n1,1,x,1\n1,1,x,2\n",
            "row 3 repeats the rating of 1 with 1 by x of row 2",
        ),
        ("image,caption,rater\n1,1,x\n", "has a column of raters but no column 'rating'"),
        ("image,caption,yes,no\n1,1,1.5,2\n", "row 2, column 'yes' is 1.5, not a number of answers"),
        (WIDE + ",1,1,1\n", "row 2 has no image"),
        ("image,caption,yes,no\n1,1,,2\n", "row 2, column 'yes' is empty, not a number of answers"),
    ],
)
def test_mistakes_in_a_table(tmp_path, text, message):
    path = tmp_path / "some.csv"
    path.write_text(text)
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        agree(path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.fix


def test_an_unknown_rater(table, tmp_path):
    with pytest.raises(karat.KaratError) as caught:
        read_ratings(write_long(tmp_path / "long.csv", table), ["zed"])
    assert str(caught.value).endswith("has no rater 'zed'; its raters are ann, bob, cid.")


def test_mistakes_between_tables(table):
    blank = Ratings(table.image, table.caption, ("a",), np.full((40, 1), np.nan), "blank.csv")
    other = Ratings(["x"], ["y"], ("a",), np.ones((1, 1)), "other.csv")
    same = Ratings(table.image, table.caption, ("a",), np.ones((40, 1)), "same.csv")
    for arguments, options, message in (
        ((table, other), {}, "people and other have no pair in common"),
        ((table, blank), {}, "people and blank have no pair in common that has a rating in both"),
        ((table, same), {}, "same.csv: every rating is 1"),
        (
            (table, table),
            {"first_from": [9]},
            "the threshold 9 separates nothing; its values lie between 1 and 4",
        ),
        ((table, table), {"missing": "yes"}, "missing is 'yes'; choose one of left_out, no"),
        ((table,), {"resample": "word"}, "resample is 'word'"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            agree(*arguments, **options)


def test_the_best_thresholds_are_too_good(rng):
    """Of noise the best of many kappas is above 0, and elsewhere it is 0; half of the items find that out."""
    items = range(120)
    sides = [Ratings(items, items, ("score",), rng.integers(0, 10, (120, 1)), name) for name in ("a", "b")]
    table = agree(*sides, intervals=Intervals(resamples=1000)).thresholds
    assert table.kappa.size == 81
    best = table.kappa[table.best].value
    assert best > 0.1
    assert abs(table.elsewhere) < best / 2
    assert [record["elsewhere"] for record in table.records() if record["best"]] == [table.elsewhere]
