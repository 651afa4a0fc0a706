"""``karat agree`` and ``karat captions agree`` as a user meets it."""

import json

import numpy as np
import pytest


@pytest.fixture
def files(tmp_path, rng):
    """Three experts and the crowd's counts on 60 common pairs, and 20 that only the experts saw."""
    truth = rng.integers(1, 5, 80)
    expert, crowd = ["image,caption,ann,bob,cid"], ["image,caption,yes,no"]
    for k, level in enumerate(truth):
        said = [min(4, max(1, level + step)) for step in rng.integers(-1, 2, 3)]
        expert.append(f"i{k % 10},c{k},{said[0]},{said[1]},{said[2]}")
        yes = rng.binomial(3, (level - 1) / 3)
        if k < 60:
            crowd.append(f"i{k % 10},c{k},{yes},{3 - yes}")
    for name, rows in (("expert.csv", expert), ("crowd.csv", crowd)):
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    return tmp_path / "expert.csv", tmp_path / "crowd.csv"


def test_one_table(both, files):
    out = both("agree", files[0], "--resamples", 200).out
    assert out.startswith("expert: 80 items, 3 raters, 240 ratings from 1 to 4\n")
    assert "alpha, ordinal" in out
    assert "ann and cid" in out
    assert max(map(len, out.splitlines())) <= 80


def test_two_tables(both, files, tmp_path):
    found = both("agree", *files, "--json", tmp_path / "a.json")
    assert "kappa over 60 items: expert down, crowd across" in found.out
    assert "* best: kappa" in found.out
    assert max(map(len, found.out.splitlines())) <= 80
    assert "note: 20 pairs of expert are not in crowd and are left out" in found.err
    records = json.loads((tmp_path / "a.json").read_text())
    assert {record["statistic"] for record in records} == {"alpha", "kappa"}
    assert sum(record.get("best", False) for record in records) == 1


def thresholds(out, title):
    """Return the head and the rows of the table of thresholds."""
    (table,) = [part.splitlines() for part in out.split("\n\n") if part.startswith(title)]
    return table[1], table[3:]


def test_options(both, files):
    arguments = ("--resamples", 50, "--first-from", "3,4", "--second-from", "0.66", "--no-intervals")
    head, rows = thresholds(both("agree", *files, "--missing", "no", *arguments).out, "kappa over 80 items")
    assert head.split() == ["≥", "0.66"]
    assert [row.split()[0] for row in rows] == ["3", "4"]
    assert not any("–" in row for row in rows)
    shown = both("agree", *files, "--intervals", "--resamples", 50, "--resample", "image").out
    assert "–" in thresholds(shown, "kappa over ")[1][-1]
    assert (
        "ann and bob"
        in both("agree", files[0], "--rater", "ann,bob", "--resamples", 50, "--interval-method", "bca").out
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}", "none.csv"], "none.csv: there is no such file"),
        (["{0}", "{1}", "{1}"], "3 tables; give one or two"),
        (["{0}", "{1}", "--first-from", "good"], "--first-from is 'good'"),
        (["{0}", "{1}", "--missing", "yes"], "missing is 'yes'"),
        (["{0}", "{1}", "--rater", "ann"], "rater with two tables"),
        (["{0}", "--rater", "eve"], "has no column 'eve'"),
        (["{0}", "--rater", "ann"], "has one rater only"),
        (["{0}", "--resample", "word"], "resample is 'word'"),
        (["{0}", "--json", "nowhere/t.json"], "there is no folder nowhere"),
        (["{0}", "--seed", "-1"], "Invalid value for '--seed'"),
        (["{0}", "--resamples", "0"], "Invalid value for '--resamples'"),
        (["{0}", "--level", "95"], "level is 95"),
    ],
)
def test_mistakes(both, files, arguments, message):
    assert message in both("agree", *(a.format(*files) for a in arguments), code=2).err


def test_continuous_ratings(both, tmp_path, rng):
    rows = [f"i{k},c{k},{a},{b}" for k, (a, b) in enumerate(rng.normal(size=(600, 2)))]
    path = tmp_path / "fine.csv"
    path.write_text("\n".join(["image,caption,a,b", *rows]) + "\n")
    found = both("agree", path, "--resamples", 20)
    assert "alpha, interval" in found.out
    assert "note: there are 1,200 different ratings" in found.err


def test_tables_of_one_name(both, files, tmp_path, monkeypatch):
    for folder, file in zip("ab", files):
        (tmp_path / folder).mkdir()
        file.rename(tmp_path / folder / "r.csv")
    monkeypatch.chdir(tmp_path)
    out = both("agree", "a/r.csv", "b/r.csv", "--resamples", 20)
    assert "a/r down, b/r across" in out.out
    assert "note: 20 pairs of a/r are not in b/r and are left out" in out.err


def test_tables_of_different_things(both, files, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("image,caption,yes,no\nx,y,1,2\n")
    assert "expert and other have no pair in common" in both("agree", files[0], other, code=2).err


@pytest.fixture
def rated(tmp_path, rng):
    """A folder of six images with three captions each, and people's ratings of 60 pairs."""
    folder = tmp_path / "photos"
    folder.mkdir()
    words = ["dog", "cat", "man", "ball", "beach", "bench", "red", "blue"]
    rows, texts = ["image,caption"], []
    for k in range(18):
        (folder / f"{k // 3}.jpg").touch()
        texts.append(f"a {words[k // 3]} and a {words[rng.integers(8)]}")
        rows.append(f"{k // 3}.jpg,{texts[-1]}")
    (folder / "captions.csv").write_text("\n".join(rows) + "\n")
    people, table = ["image,caption,ann,bob"], ["image,caption,mine,noise"]
    for number in rng.choice(6 * 18, 60, replace=False):
        image, k = divmod(int(number), 18)
        good = words[image] in texts[k]
        said = np.clip(rng.integers(1, 4, 2) + 2 * good, 1, 5)
        pair = f"{image}.jpg,{k // 3}.jpg#{k % 3}"
        people.append(f"{pair},{said[0]},{said[1]}")
        table.append(f"{pair},{good + rng.normal(0, 0.3):.4f},{rng.normal():.4f}")
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n")
    (tmp_path / "scores.csv").write_text("\n".join(table) + "\n")
    np.save(tmp_path / "run.npy", rng.normal(size=(6, 18)).astype(np.float32))
    for name, rows in (("images", 6), ("captions", 18)):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(rows, 4)).astype(np.float32))
    return tmp_path


def test_scores_of_every_kind(both, rated):
    files = [rated / name for name in ("run.npy", "images.npy", "captions.npy", "scores.csv")]
    scores = ",".join(["hodosh-bleu", "original", *map(str, files)])
    asked = ("--score", scores, "-b", rated / "photos", "--resamples", 100)
    found = both("captions", "agree", rated / "people.csv", *asked, "--json", rated / "a.json")
    assert found.out.startswith("people: 60 items, 2 raters, 120 ratings from 1 to 5\n\nall 60 pairs\n")
    assert "pairs that are not the benchmark's original ones" in found.out
    assert found.err == ""
    records = json.loads((rated / "a.json").read_text())
    value = {record["score"]: record["value"] for record in records
             if record["statistic"] == "pearson" and record["pairs"] == "all"}  # fmt: skip
    assert list(value) == ["hodosh-bleu", "original", "run", "images", "mine", "noise"]
    assert value["mine"] > 0.4 > value["noise"]


def test_a_table_of_scores_needs_no_benchmark(both, rated):
    out = both(
        "captions", "agree", rated / "people.csv", "--score", rated / "scores.csv", "--resamples", 50
    ).out
    assert "all 60 pairs" in out
    assert "original" not in out
    both("captions", "agree", rated / "scores.csv", "--score", rated / "people.csv", "--resamples", 50)


def test_a_caption_can_be_left_out_of_its_own_references(both, rated):
    asked = (
        "captions",
        "agree",
        rated / "people.csv",
        "--score",
        "hodosh-bleu",
        "-b",
        rated / "photos",
        "--resamples",
        20,
    )
    assert both(*asked).out != both(*asked, "--leave-out").out


def test_one_score_shows_all_thresholds(both, rated):
    asked = ("--score", "hodosh-rouge", "-b", rated / "photos", "--resamples", 50, "--score-from", "0.2,0.4")
    out = both(
        "captions", "agree", rated / "people.csv", *asked, "--rating-from", "3,4", "--resample", "image"
    ).out
    assert "kappa, all pairs: people down, hodosh-rouge across" in out
    assert "elsewhere: less what choosing adds" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "50 resamples of images" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--score", "cidr", "-b", "photos"], "unknown score 'cidr'; did you mean cider"),
        (["--score", "hodosh-bleu"], "hodosh-bleu needs a benchmark; name it with --benchmark"),
        (["--score", "run.npy"], "run.npy needs a benchmark"),
        (["--score", "nowhere.npy", "-b", "photos"], "nowhere.npy: there is no such file"),
        (["--score", "original,original", "-b", "photos"], "duplicate score 'original'"),
        (["--score", "images.npy", "-b", "photos"], "images.npy"),
        (["--score", "cider", "-b", "coco"], "coco has none of its pairs; name them as the benchmark does"),
        (["-b", "photos"], "Missing option '--score'"),
        (
            ["--score", "original", "-b", "photos", "--score-from", "7"],
            "original: the threshold 7 separates nothing",
        ),
    ],
)
def test_mistakes_with_scores(both, rated, monkeypatch, arguments, message):
    monkeypatch.chdir(rated)
    assert message in both("captions", "agree", "people.csv", *arguments, code=2).err


def test_a_run_is_no_table_of_ratings(both, rated, monkeypatch):
    monkeypatch.chdir(rated)
    err = both("captions", "agree", "run.npy", "--score", "original", "-b", "photos", code=2).err
    assert "run.npy: has the extension" in err


def test_crisscrossed_captions_as_published(both, tmp_path):
    rows = [
        "caption,image,agg_score,sampling_method",
        "COCO_val2014:sentid:770337,COCO_val2014_000000391895.jpg,4.97,c2i_original",
        "COCO_val2014:sentid:771687,COCO_val2014_000000391895.jpg,4.4,c2i_original",
        "COCO_val2014:sentid:772707,COCO_val2014_000000391895.jpg,1.5,c2i_intrasim",
        "COCO_val2014:sentid:770337,COCO_val2014_000000060623.jpg,0.2,c2i_intrasim",
        "COCO_val2014:sentid:1,COCO_val2014_000000060623.jpg,0.2,c2i_intrasim",
    ]
    (tmp_path / "sits.csv").write_text("\n".join(rows) + "\n")
    found = both(
        "captions", "agree", tmp_path / "sits.csv", "--score", "original", "-b", "coco", "--resamples", 20
    )
    assert "sits: 4 items, 4 ratings from 0.2 to 4.97" in found.out
    assert "note: 1 pair of sits is not in coco and is left out" in found.err
