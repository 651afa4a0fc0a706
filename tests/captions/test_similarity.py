"""Measures of meaning on the known-truth world, from its captions alone."""

import numpy as np
import pytest

import karat
from karat.captions import similarity as similarity_module
from karat.captions.similarity import all_pairs
from karat.errors import InputError, KaratWarning
from karat.scores.semantic_curve import semantic_curves, semantic_recall_curve
from karat.world import make_world, simulate
from strangers import SPOILT, UNIX

STRENGTHS = (0, 1, 2, 3, 4.5, 7)
PHI = ("cider", "spice", "hodosh-rouge")


@pytest.fixture(scope="module")
def world():
    return make_world(150, captions=4, seed=2)


@pytest.fixture(scope="module")
def bench(world):
    return world.benchmark()


@pytest.mark.parametrize("phi", PHI)
def test_scores_rise_with_strength(world, bench, phi):
    runs = [simulate(world, s, seed=4, name=str(s)) for s in STRENGTHS]
    names = [f"NCS({phi})@10", f"NCS({phi}, gt=no)@10", f"SR({phi}, m=10)@10", f"NSUM({phi})"]
    card = karat.evaluate(runs, bench, names, truth="original")
    for name in names:
        values = [card.value(name, run=str(s)) for s in STRENGTHS]
        assert values == sorted(values)
        assert values[-1] > values[0] + 0.15


@pytest.mark.parametrize("phi", PHI)
def test_the_ideal_run_scores_one(bench, phi):
    ideal = karat.load_run(all_pairs(bench, phi))
    card = karat.evaluate(
        ideal, bench, [f"NCS({phi})@1", f"NCS({phi}, gt=no)@7", f"NSUM({phi})"], truth="original"
    )
    for column in card:
        assert column.value == pytest.approx(6 if "NSUM" in str(column.measure) else 1)


@pytest.mark.parametrize("phi", PHI)
def test_similarity_follows_the_complete_truth(world, bench, phi):
    table = all_pairs(bench, phi)
    assert np.isfinite(table).all()
    assert np.corrcoef(table.ravel(), np.asarray(world.shares()).ravel())[0, 1] > 0.5


def test_hit_rate_rises_with_m_and_semantic_recall_does_not_follow(world, bench):
    card = semantic_recall_curve(
        [simulate(world, 3.0, seed=1)], bench, "cider", at=5, m=(1, 3, 10, 30), truth="original"
    )
    curves = {(c.direction, c.any): c for c in semantic_curves(card)}
    assert len(curves) == 6
    for direction in ("i2t", "t2i", "mean"):
        hits = curves[direction, True]
        assert hits.m == (1, 3, 10, 30)
        assert list(hits.values) == sorted(hits.values)
        assert curves[direction, False].values[-1] < hits.values[-1] / 2


def test_large_tables_stay_in_the_cache_folder(bench, monkeypatch):
    plain = all_pairs(bench, "cider")
    monkeypatch.setattr(similarity_module, "LARGE", 1000)
    kept = similarity_module.kept(bench, metric="cider")
    assert isinstance(kept, np.memmap)
    np.testing.assert_array_equal(kept, plain)
    # Found again, not computed again.
    monkeypatch.setattr(similarity_module, "all_pairs", None)
    np.testing.assert_array_equal(similarity_module.kept(bench, metric="cider"), plain)


def test_a_cache_that_cannot_be_written_says_so(bench, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(similarity_module, "LARGE", 1000)
    with pytest.raises(
        InputError, match=r"cannot be created .*; name a folder of yours with room in KARAT_CACHE"
    ):
        similarity_module.kept(bench, metric="cider")


@UNIX
@pytest.mark.parametrize("spoil", SPOILT)
def test_a_large_table_that_others_may_have_written_is_made_again(bench, monkeypatch, tmp_path, spoil):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(similarity_module, "LARGE", 1000)
    plain = np.array(similarity_module.kept(bench, metric="hodosh-bleu"))
    (path,) = (tmp_path / "cache" / "similarities").iterdir()
    np.save(path, np.zeros_like(plain))
    spoil(path)
    with pytest.warns(KaratWarning, match="it is not used, and made again"):
        found = similarity_module.kept(bench, metric="hodosh-bleu")
    np.testing.assert_array_equal(found, plain)
    assert isinstance(found, np.memmap)
    assert not path.is_symlink()


def test_a_large_table_of_another_shape_is_made_again(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(similarity_module, "LARGE", 1000)
    plain = np.array(similarity_module.kept(bench, metric="hodosh-bleu"))
    (path,) = (tmp_path / "cache" / "similarities").iterdir()
    for damaged in (plain[:2], plain.astype(np.float64)):
        np.save(path, damaged)
        np.testing.assert_array_equal(similarity_module.kept(bench, metric="hodosh-bleu"), plain)
