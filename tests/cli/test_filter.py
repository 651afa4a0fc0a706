"""``karat captions filter`` as a user meets it."""

import json

import pytest


@pytest.fixture
def rated(tmp_path, monkeypatch):
    """Three images with two captions each; two people on some of the pairs, and a second table."""
    folder = tmp_path / "photos"
    folder.mkdir()
    texts = ["a black dog runs", "a dog", "two men on a bench", "men sit", "a red boat", "a boat at sea"]
    rows = ["image,caption"]
    for k, text in enumerate(texts):
        (folder / f"{k // 2}.jpg").touch()
        rows.append(f"{k // 2}.jpg,{text}")
    (folder / "captions.csv").write_text("\n".join(rows) + "\n")
    pairs = ["0.jpg,0.jpg#0,4,4", "0.jpg,1.jpg#0,1,1", "1.jpg,2.jpg#0,1,3", "2.jpg,2.jpg#1,3,4"]
    (tmp_path / "experts.csv").write_text("\n".join(["image,caption,ann,bob", *pairs]) + "\n")
    (tmp_path / "crowd.csv").write_text("image,caption,yes,no\n0.jpg,0.jpg#1,3,0\n0.jpg,2.jpg#1,0,3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_audit(both, rated):
    asked = (
        "captions",
        "filter",
        "photos",
        "--ratings",
        "experts.csv",
        "--from",
        "0.25,0.9",
        "--resamples",
        50,
    )
    found = both(*asked, "--json", "a.json")
    assert found.out.startswith("photos: 3 images by 6 captions, 18 pairs\n\nbleu-pre ≥ 0.25 drops 66.7%")
    assert "  Of 2 that experts rates 2.5 or more it drops 0.0% (no interval).\n" in found.out
    assert "  Of the dropped ones experts judged 2:\n    all said no to 50.0%" in found.out
    assert max(map(len, found.out.splitlines())) <= 80
    records = json.loads((rated / "a.json").read_text())
    assert {record["from"] for record in records} == {0.25, 0.9}


def test_several_tables_and_options(both, rated):
    options = ("--metric", "hodosh-bleu", "--relevant-from", 4, "--rated-captions", "--resamples", 20)
    out = both("captions", "filter", "photos", "--ratings", "experts.csv,crowd.csv", *options).out
    assert "3 images by 5 captions" in out  # nobody rated 1.jpg#1
    assert "hodosh-bleu ≥ 0.25 drops" in out
    assert "that experts rates 4 or more" in out
    assert "that crowd rates 0.5 or more" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["photos"], "Missing option '--ratings'"),
        (["photos", "--ratings", "none.csv"], "none.csv: there is no such file"),
        (["photos", "--ratings", "experts.csv", "--from", "low"], "--from is 'low'"),
        (["photos", "--ratings", "experts.csv", "--metric", "blue"], "unknown caption metric 'blue'"),
        (["coco", "--ratings", "experts.csv"], "coco has none of its pairs"),
        (["photos", "--ratings", "experts.csv", "--json", "no/a.json"], "there is no folder no"),
    ],
)
def test_mistakes(both, rated, arguments, message):
    assert message in both("captions", "filter", *arguments, code=2).err
