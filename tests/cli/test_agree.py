"""``karat agree`` as a user meets it."""

import json

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


def test_options(both, files):
    arguments = ("--resamples", 50, "--first-from", 3, 4, "--second-from", "0.66", "--no-intervals")
    out = both("agree", *files, "--missing", "no", *arguments).out
    assert "kappa over 80 items" in out
    head, _, *rows = out.splitlines()[-9:-5]
    assert head.split() == ["≥", "0.66"]
    assert [row.split()[0] for row in rows] == ["3", "4"]
    assert not any("–" in row for row in rows)
    shown = both("agree", *files, "--intervals", "--resamples", 50, "--resample", "image").out
    assert "–" in shown.splitlines()[-6]
    assert "ann and bob" in both("agree", files[0], "--raters", "ann", "bob", "--resamples", 50, "--bca").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}", "none.csv"], "none.csv: there is no such file"),
        (["{0}", "{1}", "{1}"], "3 tables; give one or two"),
        (["{0}", "{1}", "--first-from", "good"], "--first-from is 'good'"),
        (["{0}", "{1}", "--missing", "yes"], "missing is 'yes'"),
        (["{0}", "{1}", "--raters", "ann"], "--raters with two tables"),
        (["{0}", "--raters", "eve"], "has no column 'eve'"),
        (["{0}", "--raters", "ann"], "has one rater only"),
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
