"""Truths that a machine made from captions: what they say, and that everybody is told."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.captions.machine_truths import add_machine_truth, machine_truth, name_of, parse_name
from karat.captions.similarity import all_pairs
from karat.errors import InputError
from karat.reports import write_report
from karat.world import make_world, simulate


@pytest.fixture(scope="module")
def world():
    return make_world(40, seed=7)


@pytest.fixture(scope="module")
def bench(world):
    return world.benchmark()


def test_grades_are_phi_over_that_of_own_captions(bench):
    phi = all_pairs(bench, "cider")
    top = np.median(phi[bench.caption_image, np.arange(bench.captions.size)])
    assert top > 1.5
    truth = machine_truth(bench, "cider", 1.5)
    pairs = truth.judgments.pairs()
    found = np.zeros_like(phi)
    found[pairs.image, pairs.caption] = pairs.grade
    np.testing.assert_allclose(found, np.where(phi >= 1.5, np.minimum(1, phi / top), 0), atol=1e-6)


def test_every_measure_can_read_it(world, bench):
    made, _ = add_machine_truth(bench, "machine(cider>=1.5)")
    ideal = karat.load_run(all_pairs(bench, "cider"))
    run = simulate(world, 2.0, seed=1)
    measures = ["nDCG@10", "RP(rel=0.01)", "mAP(rel=0.01)@R", "RP", "R@5"]
    best = karat.evaluate(ideal, made, measures, truth="machine(cider>=1.5)")
    other = karat.evaluate(run, made, measures, truth="machine(cider>=1.5)")
    for name in measures[:3]:
        assert best.value(name) == pytest.approx(1)
        assert 0 < other.value(name) < 0.9
    assert "made by a machine" in " ".join(other.notes)


def test_it_is_marked_everywhere(world, bench, tmp_path):
    made, _ = add_machine_truth(bench, "machine(hodosh-bleu>=0.8)")
    karat.save_benchmark(made, tmp_path / "saved")
    again = karat.load_benchmark(tmp_path / "saved")
    truth = again.truth("machine(hodosh-bleu>=0.8)")
    assert truth.machine
    assert truth.about.startswith("made by a machine")
    assert not again.truth("original").machine
    card = karat.evaluate([simulate(world, 2.0, seed=1)], again, ["R@1"], truth=list(again.truths))
    assert "machine(hodosh-bleu" in str(card)
    page = write_report(card, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "made by a machine: no person judged them" in page
    # Labels of people speak first, however complete a machine's are.
    assert "Nothing: by the labels “complete”" in page


def test_wrong_input_says_so(bench):
    with pytest.raises(InputError, match="up to 10"):
        machine_truth(bench, "cider", 11)
    with pytest.raises(InputError, match="above 0"):
        machine_truth(bench, "cider", 0)
    with pytest.raises(InputError, match="no pair reaches cider 9"):
        machine_truth(bench, "cider", 9.9)
    with pytest.raises(InputError, match="from 2 to 10"):
        machine_truth(bench, "cider", 2, top=1)
    with pytest.raises(InputError, match="not a machine-made truth"):
        parse_name("machine(cider)")
    with pytest.raises(InputError, match="caption metric 'cidre'"):
        parse_name("machine(cidre>=1)")
    with pytest.raises(InputError, match="no captions"):
        machine_truth(replace(bench, texts=None), "cider", 1)
    with pytest.raises(InputError, match="200 by 40; give 40 by 200, images by captions"):
        machine_truth(bench, "cider", 1, similarity=all_pairs(bench, "cider").T)
    with pytest.raises(InputError, match=r"call it machine\(own\)"):
        replace(bench.truth("original"), name="own", machine=True)


@pytest.mark.parametrize("least", ["0.00001", "0.1234567", "1", "2.5"])
def test_names_keep_every_digit(bench, least):
    name = f"machine(cider>={least})"
    assert name_of(*parse_name(name)) == name
    assert machine_truth(bench, *parse_name(name)).name == name


def test_a_similarity_may_be_a_list(bench):
    table = all_pairs(bench, "cider")
    ours, same = (machine_truth(bench, "cider", 1, similarity=one) for one in (table, table.tolist()))
    assert len(ours.judgments.pairs().grade) == len(same.judgments.pairs().grade)
