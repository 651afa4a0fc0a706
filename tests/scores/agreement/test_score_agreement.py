"""Any score of pairs against people's ratings."""

import json
import re

import numpy as np
import pytest
from scipy import stats

import karat
from karat.runs import EmbeddingRun, MatrixRun, RankingsRun
from karat.scores.agreement.pair_scores import locate, run_scores, table_scores
from karat.scores.agreement.ratings import Ratings
from karat.scores.agreement.ratings_file import read_ratings
from karat.scores.agreement.score_agreement import ALL, NOT_ORIGINAL, score_agreement
from karat.stats import Intervals
from karat.stats.kappa import cohen_kappa

from made import make_benchmark

FEW = Intervals(resamples=60)


@pytest.fixture
def people(rng):
    """Two raters of 90 pairs of 30 images; nobody rated the last."""
    values = rng.integers(1, 5, (90, 2)).astype(float)
    values[:30] = 4
    values[-1] = np.nan
    images = [f"i{k % 30}" for k in range(90)]
    return Ratings(images, [f"c{k}" for k in range(90)], ("ann", "bob"), values, "people.csv")


@pytest.fixture
def score(people, rng):
    return np.nan_to_num(people.rating, nan=2.0) + rng.normal(0, 1, 90)


ORIGINAL = np.arange(90) < 30


def test_correlations_are_scipys_in_every_group(people, score):
    found = score_agreement(people, {"mine": score}, original=ORIGINAL, intervals=FEW)
    rated = ~np.isnan(people.rating)
    for group, inside in ((ALL, rated), (NOT_ORIGINAL, rated & ~ORIGINAL)):
        row = found.row("mine", group)
        x, y = people.rating[inside], score[inside]
        assert row.pearson.value == pytest.approx(stats.pearsonr(x, y)[0])
        assert row.spearman.value == pytest.approx(stats.spearmanr(x, y)[0])
        assert row.tau.value == pytest.approx(stats.kendalltau(x, y)[0])
        assert row.tau.n == inside.sum()
    assert found.notes == ("1 pair without a rating left out",)


def test_kappa_is_that_of_the_cut_sides(people, score):
    options = {"first_from": [2, 3.5], "second_from": [1.5, 2.5, 3], "intervals": FEW}
    row = score_agreement(people, {"mine": score}, **options).row("mine")
    rated = ~np.isnan(people.rating)
    for a, cut in enumerate([2, 3.5]):
        for b, other in enumerate([1.5, 2.5, 3]):
            plain = cohen_kappa(people.rating[rated] >= cut, score[rated] >= other, resamples=1)
            assert row.thresholds.kappa[a, b].value == pytest.approx(plain.value)
    assert row.best_kappa.value == max(one.value for one in row.thresholds.kappa.ravel())


def test_a_missing_score_is_left_out_for_that_score_alone(people, score):
    some = np.where(np.arange(90) % 3 == 0, np.nan, score)  # 30, all of them rated
    found = score_agreement(people, {"all": score, "some": some}, intervals=FEW)
    assert found.row("all").tau.n == 89
    assert found.row("some").tau.n == 59
    assert "some has no score of 30 pairs, left out there" in found.notes


def test_a_score_that_says_nothing(people):
    found = score_agreement(people, {"flat": np.ones(90), "own": ORIGINAL}, original=ORIGINAL, intervals=FEW)
    assert np.isnan(found.row("flat").pearson.value)
    assert found.row("flat").best_kappa is None
    assert found.row("own").pearson.value > 0.5
    assert np.isnan(found.row("own", NOT_ORIGINAL).tau.value)
    assert "not defined" in str(found)
    assert all(record["value"] is None for record in found.records() if record["score"] == "flat")


def test_groups_that_add_nothing_are_not_shown(people, score):
    for flags in (np.zeros(90, bool), np.ones(90, bool), None):
        found = score_agreement(people, {"mine": score}, original=flags, intervals=FEW)
        assert {row.pairs for row in found.rows} == {ALL}


def test_text_and_json(people, score):
    found = score_agreement(people, {"mine": score, "own": ORIGINAL}, original=ORIGINAL, intervals=FEW)
    text = str(found)
    assert text.startswith("people: 90 items, 2 raters, 178 ratings from 1 to 4\n")
    assert "all 89 pairs" in text
    assert "59 pairs that are not the benchmark's original ones" in text
    assert max(map(len, text.splitlines())) <= 80
    assert repr(found) == "ScoreAgreement(mine, own against people)"
    records = json.loads(found.to_json())
    assert {record["statistic"] for record in records} == {"pearson", "spearman", "tau", "kappa"}
    assert {record["pairs"] for record in records} == {ALL, NOT_ORIGINAL}
    assert sum(record.get("best", False) for record in records) == 3


def test_whole_images_can_be_drawn(people, score):
    found = score_agreement(people, {"mine": score}, resample="image", intervals=FEW)
    assert found.row("mine").tau.effective == 30
    assert found.how.endswith("60 resamples of images.")


def test_a_row_that_is_not_there(people, score):
    found = score_agreement(people, {"mine": score}, intervals=FEW)
    with pytest.raises(karat.KaratError, match="unknown score and pairs 'yours, all'; known: mine, all"):
        found.row("yours")


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({}, {}, "there is no score"),
        ({"mine": [1, 2]}, {}, "mine has scores of the shape (2,); give one per rated pair, 90"),
        ({"mine": np.full(90, np.inf)}, {}, "mine has an infinite score (pair 0)"),
        ({"mine": np.full(90, np.nan)}, {}, "mine scores no pair that has a rating"),
        ({"mine": np.arange(90)}, {"original": np.ones(90)}, "original holds float64"),
        ({"mine": np.arange(90)}, {"second_from": [99]}, "mine: the threshold 99 separates nothing"),
        ({"mine": np.arange(90)}, {"first_from": [1]}, "people.csv: the threshold 1 separates nothing"),
        ({"mine": np.arange(90)}, {"resample": "word"}, "resample is 'word'"),
    ],
)
def test_mistakes(people, scores, options, message):
    with pytest.raises(karat.KaratError, match=re.escape(message)):
        score_agreement(people, scores, **options)


def test_where_pairs_stand(rng):
    bench = make_benchmark(6, 2)
    ids = [str(one) for one in bench.images.gallery], [str(one) for one in bench.captions.gallery]
    rated = Ratings([ids[0][2], "x", ids[0][1]], [ids[1][4], ids[1][0], ids[1][0]], ("m",), np.ones((3, 1)))
    found = locate(rated, bench)
    assert found.image.tolist() == [2, 1]
    assert found.caption.tolist() == [4, 0]
    assert found.original.tolist() == [bench.caption_image[4] == 2, bench.caption_image[0] == 1]
    assert len(found.ratings) == 2
    assert found.notes == (f"1 pair of ratings is not in {bench.name} and is left out",)
    with pytest.raises(karat.KaratError, match=f"{bench.name} has none of its pairs; name them as"):
        locate(Ratings(["x"], ["y"], ("m",), np.ones((1, 1))), bench)
    assert locate(rated, None).ratings is rated


def test_scores_of_runs(rng):
    bench = make_benchmark(6, 2)
    scores = rng.normal(size=(6, 12))
    image, caption = rng.integers(0, 6, 40), rng.integers(0, 12, 40)
    shuffled = {"images": bench.images.gallery[::-1], "captions": bench.captions.gallery[::-1]}
    for run in (
        MatrixRun(scores),
        MatrixRun(np.asfortranarray(scores)),
        MatrixRun(scores[::-1, ::-1], ids=shuffled),
        EmbeddingRun(scores, np.eye(12)),
    ):
        assert run_scores(run.align(bench), image, caption) == pytest.approx(scores[image, caption])
    scores[3, 7] = np.nan
    with pytest.raises(
        karat.KaratError, match="the score of image 3 with caption 1007 is nan; give finite numbers"
    ):
        run_scores(MatrixRun(scores).align(bench), np.array([3]), np.array([7]))
    lists = RankingsRun({"i2t": {bench.images[0]: [bench.captions[0]]}}).align(bench)
    with pytest.raises(karat.KaratError, match="ranked lists do not score every pair"):
        run_scores(lists, image, caption)


def test_scores_of_tables():
    rated = Ratings(["a", "b", "c"], ["1", "2", "3"], ("m",), np.ones((3, 1)), "people.csv")
    table = Ratings(["c", "a"], ["3", "1"], ("x", "y"), np.array([[0.3, 3.0], [0.1, np.nan]]), "t.csv")
    found = table_scores(rated, table)
    assert found["x"].tolist() == pytest.approx([0.1, np.nan, 0.3], nan_ok=True)
    assert found["y"].tolist() == pytest.approx([np.nan, np.nan, 3.0], nan_ok=True)
    with pytest.raises(karat.KaratError, match=r"t\.csv: scores no pair of people\.csv"):
        table_scores(Ratings(["x"], ["1"], ("m",), np.ones((1, 1)), "people.csv"), table)


def test_crisscrossed_captions_are_read_as_published(tmp_path, data):
    found = read_ratings(data / "cxc" / "sits_test.csv")
    assert found.about == "44,833 items, 44,833 ratings from 0 to 5"
    assert found.pairs()[0] == ("365325", "732091")
    assert found.rating[0] == 2.2
    raw = tmp_path / "raw.csv"
    row = "COCO_val2014:sentid:7,COCO_val2014_000000000009.jpg"
    raw.write_text(f"caption,image,score\n{row},3\n{row},4\n")
    assert read_ratings(raw).rating.tolist() == [3.5]
    raw.write_text(f"caption,image,score\n{row},good\n")
    with pytest.raises(karat.KaratError, match="row 2 has no readable score"):
        read_ratings(raw)


def test_where_the_originals_of_cxc_are(data, coco):
    found = locate(read_ratings(data / "cxc" / "sits_test.csv"), coco)
    assert found.original.sum() == 25_000
    assert not found.notes
