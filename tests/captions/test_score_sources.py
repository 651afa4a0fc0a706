"""Scores by what names them: metrics, the original pairing, runs, tables."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import build
from karat.captions.score_sources import collect_scores
from karat.captions.similarity import pair_scores
from karat.scores import Ratings, locate


@pytest.fixture
def bench():
    texts = ["a dog", "a black dog", "men on a bench", "a man"]
    return build("made", ["x", "y"], list("1234"), list("xxyy"), texts, where="made", about="")


@pytest.fixture
def people():
    return Ratings(["x", "y", "y"], ["1", "1", "4"], ("mean",), np.array([[4.0], [1], [3]]), "people.csv")


def test_names_and_order(bench, people, tmp_path):
    table = tmp_path / "mine.parquet"
    pl.DataFrame({"Image": ["y", "x"], "Caption": ["4", "1"], "a": [0.5, 1.5]}).write_parquet(table)
    np.save(tmp_path / "run.npy", np.arange(8.0).reshape(2, 4))
    sources = [tmp_path / "run.npy", "original", table, "hodosh-bleu"]
    found = collect_scores(locate(people, bench), sources, bench)
    assert list(found) == ["run", "original", "mine", "hodosh-bleu"]
    assert found["run"].tolist() == [0, 4, 7]
    assert found["original"].tolist() == [1, 0, 1]
    assert found["mine"].tolist() == pytest.approx([1.5, np.nan, 0.5], nan_ok=True)
    assert found["hodosh-bleu"].tolist() == pair_scores(bench, "hodosh-bleu", [0, 1, 1], [0, 0, 3]).tolist()


def test_tables_of_one_name_are_told_apart(people, tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.csv").write_text("image,caption,score\nx,1,1\ny,4,2\n")
    found = collect_scores(locate(people, None), [tmp_path / "a" / "s.csv", tmp_path / "b" / "s.csv"])
    assert list(found) == ["s", f"{tmp_path / 'b' / 's'} score"]


def test_a_folder_called_like_a_metric(bench, people, tmp_path, monkeypatch):
    (tmp_path / "hodosh-bleu").mkdir()
    monkeypatch.chdir(tmp_path)
    assert list(collect_scores(locate(people, bench), ["hodosh-bleu"], bench)) == ["hodosh-bleu"]


def test_captions_of_unknown_images(bench, people):
    unknown = replace(bench, caption_image=None)
    located = locate(people, unknown)
    for source, message in (
        ("original", "made does not say for which images its captions were written"),
        ("hodosh-bleu", "made does not say which images its captions belong to"),
    ):
        with pytest.raises(karat.KaratError, match=message):
            collect_scores(located, [source], unknown)


def test_a_broken_table(bench, people, tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"nothing")
    with pytest.raises(karat.KaratError, match="is not a Parquet table"):
        collect_scores(locate(people, bench), [tmp_path / "t.parquet"], bench)
