"""What `karat inspect` sees: orientation, order, sign, ties, repeated rows, numbers that are none."""

import sys

import numpy as np
import pytest

from karat.cli.main import main
from karat.runs import Loading
from karat.scores.inspection import inspect as inspect_run
from karat.world import make_world, save_world


@pytest.fixture(scope="module")
def tables(coco):
    rng = np.random.default_rng(2)
    images = rng.standard_normal((5000, 32)).astype(np.float32)
    captions = images[coco.caption_image] + 0.7 * rng.standard_normal((25000, 32)).astype(np.float32)
    return images, captions


@pytest.fixture(scope="module")
def scores(tables):
    return tables[0] @ tables[1].T


def texts(found, level=None):
    return " | ".join(f.text for f in found.findings if level in (None, f.level))


def test_a_good_table(scores, coco):
    found = inspect_run(scores, benchmark=coco)
    assert found.worst == "fact"
    assert "score table of 5,000 by 25,000, float32" in texts(found)
    assert "logits or products" in texts(found)
    assert "R@1 on coco-5k: i2t 9" in texts(found)


def test_transposed(scores, coco):
    found = inspect_run(scores.T, benchmark=coco)
    assert (
        "is transposed: coco has 5,000 images by 25,000 captions; karat convert --transpose turns it"
        in texts(found, "warning")
    )
    assert "R@1 on coco-5k: i2t 9" in texts(found)


def test_distances(scores, coco):
    found = inspect_run(scores.max() - scores, benchmark=coco)
    assert "never negative, so perhaps distances" in texts(found)
    assert "these are distances; save their negative" in texts(found, "warning")


def test_rows_in_another_order(tables, scores, coco):
    captions = np.argsort(coco.captions.gallery)
    found = inspect_run(scores[:, captions], benchmark=coco)
    assert "R@1 is at chance level" in texts(found, "warning")
    assert "with the captions sorted by id as numbers R@1 would be" in texts(found, "error")
    images = np.argsort(coco.images.gallery)
    found = inspect_run(tables[0][images], tables[1][captions], benchmark=coco)
    assert "the images sorted by id as numbers and the captions sorted by" in texts(found, "error")
    ids = {"captions": coco.captions.gallery[captions].tolist()}
    assert inspect_run(scores[:, captions], benchmark=coco, loading=Loading(ids=ids)).worst == "fact"


def test_what_is_no_number(scores, coco):
    wrong = scores.copy()
    wrong[17, 4] = np.nan
    wrong[18] = np.inf
    found = inspect_run(wrong, benchmark=coco)
    assert "25,001 scores are not numbers, first nan in row 17, column 4" in texts(found, "error")


def test_ties_and_repeated_rows(scores, coco):
    rough = np.round(scores).astype(np.int16)
    rough[5] = rough[9]
    found = inspect_run(rough, benchmark=coco)
    assert "1 row of images repeat an earlier one" in texts(found, "warning")
    assert "of neighbouring scores in a row are equal" in texts(found, "warning")


def test_all_the_same():
    bench = make_world(images=20, captions=2, seed=1).benchmark()
    found = inspect_run(np.zeros((20, 40), np.float16), benchmark=bench)
    assert "all scores are the same" in texts(found, "warning")


def test_embeddings(tables, coco):
    images, captions = tables
    captions = captions.copy()
    captions[7] = captions[3]
    captions[8] = 0
    found = inspect_run(images, captions, benchmark=coco)
    assert "embeddings of 32 dimensions" in texts(found)
    assert "1 caption vector repeat" in texts(found, "warning")
    assert "zero, first row 8" in texts(found, "warning")
    assert "--similarity cosine scales them" in texts(found, "warning")


def test_lists_and_what_cannot_be_loaded(coco, tmp_path):
    lists = {
        "i2t": {
            int(i): coco.captions.gallery[5 * k : 5 * k + 5].tolist()
            for k, i in enumerate(coco.images.gallery)
        }
    }
    found = inspect_run(lists, benchmark=coco)
    assert "i2t: 5,000 ranked lists of 5 to 5 items" in texts(found)
    assert "has no t2i rankings" in texts(found, "warning")
    assert "i2t 100.00%" in texts(found)
    assert inspect_run(tmp_path / "no.npy", benchmark=coco).worst == "error"
    assert "has 3 by 4 scores" in texts(inspect_run(np.zeros((3, 4)), benchmark=coco), "error")


@pytest.mark.parametrize(("shape", "code"), [((20, 40), 0), ((19, 40), 2)])
def test_the_command(tmp_path, monkeypatch, capsys, shape, code):
    save_world(make_world(images=20, captions=2, seed=1), tmp_path / "world")
    np.save(tmp_path / "s.npy", np.ones(shape, np.int8))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["karat", "inspect", "s.npy", "-b", "world"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == code
    assert ("! all scores are the same" if code == 0 else "✗ ") in capsys.readouterr().out
