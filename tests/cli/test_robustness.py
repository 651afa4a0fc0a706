"""``karat robustness`` as a user meets it."""

import json

import numpy as np
import pytest

import karat
from karat.captions import read_queries
from karat.world import make_world, simulate_reader


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A world, a run on its captions, and on captions with other colours and other articles."""
    folder = tmp_path_factory.mktemp("robustness")
    world = make_world(images=40, captions=2, seed=1)
    world.save(folder / "my", pictures=False)
    bench = karat.load_benchmark(folder / "my")
    np.save(folder / "before.npy", simulate_reader(world).scores)
    for kind in ("colour", "article"):
        perturbed = karat.perturb(bench, kind)
        perturbed.save(folder / f"{kind}.tsv")
        scores = simulate_reader(world, [query.new for query in perturbed.queries]).scores
        np.save(folder / f"after-{kind}.npy", scores)
    vectors = np.random.default_rng(0).normal(size=(40 + 80 + len(read_queries(folder / "colour.tsv")), 6))
    for name, part in zip(("images", "captions", "changed"), np.split(vectors, [40, 120])):
        np.save(folder / f"{name}.npy", part.astype(np.float32))
    return folder


@pytest.fixture(autouse=True)
def there(made, monkeypatch):
    monkeypatch.chdir(made)


COLOUR = ("after-colour.npy", "-b", "my", "--queries", "colour.tsv", "--resamples", 50)


def test_what_is_printed_and_written(both, tmp_path):
    printed = both("robustness", "before.npy", *COLOUR, "--json", tmp_path / "r.json", "-m", "R@1,MRR").out
    robust = karat.robustness(
        "before.npy", "after-colour.npy", "my", "colour.tsv", ["R@1", "MRR"], resamples=50
    )
    assert printed == f"{robust}\n"
    assert printed.startswith("Does it notice colour? ")
    records = json.loads((tmp_path / "r.json").read_text())
    assert records == json.loads(robust.to_json())
    assert {"kind", "per", "number", "value", "low", "high", "before", "after"} <= set(records[0])
    for kind in ("html", "csv"):
        both("robustness", "before.npy", *COLOUR, "-m", "R@1", "-o", tmp_path / f"r.{kind}")
        assert "colour" in (tmp_path / f"r.{kind}").read_text()


def test_several_kinds_and_one_unit(both):
    printed = both(
        "robustness", "before.npy", "after-colour.npy", "after-article.npy", "-b", "my", "--queries",
        "colour.tsv", "--queries", "article.tsv", "--per", "caption", "-m", "R@1", "--resamples", 50,
    ).out  # fmt: skip
    assert "article (control)" in printed
    assert "points more often than for controls" in printed
    assert "set" not in printed


def test_embeddings_of_the_queries_are_enough(both):
    options = ("-b", "my", "--queries", "colour.tsv", "-m", "R@1", "--resamples", 50)
    alone = both("robustness", "images.npy", "captions.npy", "changed.npy", *options)
    pair = both("robustness", "images.npy", "captions.npy", "images.npy", "changed.npy", *options)
    assert alone.out == pair.out
    assert "cosine" in alone.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["before.npy", "-b", "my", "--queries", "colour.tsv"], "0 files after before.npy, but 1 file"),
        (["before.npy", *COLOUR, "--transpose"], "--transpose"),
        (["before.npy", *COLOUR, "--per", "word"], "per is 'word'"),
        (["before.npy", *COLOUR[:-3], "article.tsv"], "give a row for each of the"),
        (["before.npy", *COLOUR, "-o", "r.txt"], "has the extension '.txt'"),
        (["before.npy", *COLOUR[:3]], "--queries"),
        (["before.npy", *COLOUR[:3], "--queries", "nowhere.tsv"], "nowhere.tsv"),
    ],
)
def test_wrong_input_is_one_sentence(both, arguments, message):
    assert message in both("robustness", *arguments, code=2).err
