"""``karat perturb`` as a user meets it."""

import json

import pytest

from karat.captions import read_queries


@pytest.fixture
def photos(tmp_path, monkeypatch):
    folder = tmp_path / "photos"
    folder.mkdir()
    rows = ["image,caption"]
    for k, text in enumerate(["a red bus on a street", "a bus", "two men on a bench", "men sit"]):
        (folder / f"{k // 2}.jpg").touch()
        rows.append(f"{k // 2}.jpg,{text}")
    (folder / "captions.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_queries_and_what_is_printed(both, photos):
    printed = both("perturb", "photos", "--kind", "colour", "-o", "q.tsv", "--json", "q.json").out
    assert printed.startswith("photos: colour, one of each caption's words that fit, seed 0\n")
    assert "captions            1   4  25.0\ncaption sets        1   2  50.0\n" in printed
    (query,) = read_queries("q.tsv")
    assert (query.caption, query.old) == ("0.jpg#0", "a red bus on a street")
    (record,) = json.loads((photos / "q.json").read_text())
    assert record["new"] == query.new
    both("perturb", "photos", "--kind", "colour(in)", "--words", "all", "--keep-unchanged", "-o", "r.tsv")
    assert len(read_queries("r.tsv")) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "colr"], "unknown perturbation 'colr'; did you mean colour?"),
        (["--kind", "colour", "--words", "some"], "words"),
        (["--kind", "colour", "-o", "q.txt"], "has the extension '.txt'"),
        ([], "--kind"),
    ],
)
def test_wrong_options(both, photos, arguments, message):
    assert message in both("perturb", "photos", *arguments, code=2).err
