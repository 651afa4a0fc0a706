"""Benchmarks of choices in their files' own formats."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import BenchmarkSummary, save_benchmark
from tests import choice_files


def test_winoground(tmp_path):
    file = choice_files.winoground(tmp_path)
    bench = karat.load_benchmark("winoground", file=file)
    assert repr(karat.load_benchmark(file)) == repr(bench)
    assert bench.choices.shape == (12, 2, 2)
    assert (bench.choices.correct == np.eye(2, dtype=bool)).all()
    assert bench.images.values[:2].tolist() == ["ex_0_img_0", "ex_0_img_1"]
    assert bench.choices.names("num_main_preds") == ["num_main_preds=1", "num_main_preds=2"]
    # An empty tag is no group.
    assert bench.choices.names("secondary_tag") == ["secondary_tag=Series"]
    assert bench.choices.members("collapsed_tag=Relation").tolist() == [1, 4, 7, 10]
    assert not bench.choices.share_images
    assert "12 examples by 2 images by 2 captions" in str(BenchmarkSummary(bench))


def test_winoground_below_karat_data(tmp_path, monkeypatch):
    (tmp_path / "winoground").mkdir()
    choice_files.winoground(tmp_path / "winoground")
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    assert len(karat.load_benchmark("winoground").choices) == 12
    with pytest.raises(karat.KaratError, match=r"sugarcrepe comes without its files.*--set folder=FOLDER"):
        karat.load_benchmark("sugarcrepe")


@pytest.mark.parametrize("plus", [False, True])
def test_sugarcrepe(tmp_path, plus):
    folder = choice_files.sugarcrepe(tmp_path / "data", plus=plus)
    bench = karat.load_benchmark(folder)
    assert bench.name == ("sugarcrepe++" if plus else "sugarcrepe")
    assert bench.choices.shape == (12, 1, 3 if plus else 2)
    assert bench.choices.correct[0, 0].tolist() == [True] * (1 + plus) + [False]
    # Each image has two examples of either kind.
    assert bench.images.size == 3
    assert bench.choices.share_images
    assert np.bincount(bench.choices.clusters)[np.unique(bench.choices.clusters)].tolist() == [4, 4, 4]
    assert bench.texts[1 + plus].startswith("a red ")
    grades = bench.truths["all"].judgments.pairs().grade
    assert (len(grades), grades.sum()) == (bench.captions.size, 12 * (1 + plus))


def test_sugarcrepe_says_what_is_wrong(tmp_path):
    folder = choice_files.sugarcrepe(tmp_path / "data")
    with pytest.raises(karat.KaratError, match=r"swap_obj.json|replace_att.json.*has no key 'caption2'"):
        karat.load_benchmark("sugarcrepe++", folder=folder)
    (folder / "swap_obj.json").write_text('"text"')
    with pytest.raises(karat.KaratError, match="is not a json object or list of examples"):
        karat.load_benchmark(folder)
    with pytest.raises(karat.KaratError, match="holds none of add_att"):
        karat.load_benchmark("sugarcrepe", folder=tmp_path)


def test_valse_counts_what_annotators_confirmed(tmp_path):
    folder = choice_files.valse(tmp_path / "data")
    bench = karat.load_benchmark(folder)
    assert len(bench.choices) == 8
    assert "existence/existence_2" not in bench.choices.examples
    assert bench.choices.names("instrument") == ["instrument=existence", "instrument=plurals"]
    assert bench.choices.names("phenomenon") == ["phenomenon=existence", "phenomenon=plurals"]
    assert len(karat.load_benchmark("valse", folder=folder, votes=0).choices) == 12


def test_cola(tmp_path):
    file = choice_files.cola(tmp_path)
    bench = karat.load_benchmark(file)
    assert (bench.name, bench.choices.shape) == ("cola", (5, 2, 2))
    assert bench.images.values[:2].tolist() == ["0.jpg", "1.jpg"]
    file.write_text('[["a.jpg", "a cup"]]')
    with pytest.raises(karat.KaratError, match=r"entry 0 is not \[image 1, caption 1, image 2, caption 2\]"):
        karat.load_benchmark("cola", file=file)


def test_aro(tmp_path):
    bench = karat.load_benchmark(choice_files.aro(tmp_path, {"on": 3, "below": 2}))
    # Boxes of one photo are different images and one cluster.
    assert bench.choices.clusters.tolist() == [0, 1, 2, 0, 1]
    assert bench.images.size == 5
    assert (bench.name, bench.choices.shape) == ("aro-relation", (5, 1, 2))
    assert bench.images.values[0] == "0.jpg@2,2,30.5,40"
    assert bench.choices.names("relation") == ["relation=below", "relation=on"]
    file = tmp_path / "visual_genome_attribution.json"
    rows = json.loads((tmp_path / "visual_genome_relation.json").read_text())
    file.write_text(json.dumps([row | {"attributes": ["red", "old"], "relation_name": ""} for row in rows]))
    bench = karat.load_benchmark("aro-attribute", file=file)
    assert bench.choices.names("attribute") == ["attribute=red_old"]
    assert bench.choices.leave_out[0] == 25


def test_aro_orders_may_have_different_numbers_of_captions(tmp_path):
    file = tmp_path / "order.json"
    options = ["a cup on a mat", "a mat on a cup", "cup a mat on a"]
    rows = [
        {"image": "a.jpg", "caption_options": options},
        {"image": "b.jpg", "caption_options": options[:2]},
    ]
    file.write_text(json.dumps(rows))
    bench = karat.load_benchmark(file)
    assert bench.choices.known[:, 0].tolist() == [[True] * 3, [True, True, False]]
    file.write_text(json.dumps([{"image": "a.jpg", "caption_options": ["alone"]}]))
    with pytest.raises(karat.KaratError, match="entry 0 has no list of captions"):
        karat.load_benchmark("aro-order", file=file)


def test_examples_that_share_an_image_by_others_are_one_cluster():
    from karat.benchmarks import ChoiceExample, build_choices

    rows = [("a", ["1", "2"]), ("b", ["5", "6"]), ("c", ["3", "4"]), ("d", ["4", "1"])]
    examples = [ChoiceExample(name, images, ["x", "y"], [(0, 0), (1, 1)]) for name, images in rows]
    bench = build_choices("made", examples, where="made", about="")
    assert bench.choices.clusters.tolist() == [0, 1, 0, 0]
    with pytest.raises(karat.KaratError, match="unknown truth 'tag=x'"):
        bench.choices.members("tag=x")
    with pytest.raises(karat.KaratError, match="duplicate example id a"):
        build_choices("made", examples[:1] * 2, where="made", about="")
    with pytest.raises(karat.KaratError, match="holds no example"):
        build_choices("made", [], where="made", about="")


def test_choices_are_not_saved_in_karats_format(tmp_path):
    bench = karat.load_benchmark(choice_files.cola(tmp_path))
    with pytest.raises(karat.KaratError, match="is a benchmark of choices, which karat's own format"):
        save_benchmark(bench, tmp_path / "saved")
