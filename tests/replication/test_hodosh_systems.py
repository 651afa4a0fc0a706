"""The parts of the replication of Hodosh's systems, on tiny data; the full run takes too long for a test."""

import importlib
import io
import json
import os
import subprocess
import sys
import tarfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from karat.baselines import KCCAPath
from karat.baselines.images import ImageFeatures
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import MissingDataError

FOLDER = Path(__file__).parents[2] / "replications"
PARTS = ("contrasts", "inputs", "scores", "selection", "store", "systems", "tables", "words")


@pytest.fixture(scope="module")
def parts():
    """The modules of the replication by name."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(f"_hodosh_{name}") for name in PARTS}
    finally:
        sys.path.remove(str(FOLDER))
        for name in [one for one in sys.modules if one == "_paper" or one.startswith("_hodosh_")]:
            sys.modules.pop(name)


def bench(number: int) -> Benchmark:
    own = Judgments(range(number), range(number), sources=[Provenance("original")])
    truth = Truth("original", own, {"i2t": np.arange(number), "t2i": np.arange(number)})
    return Benchmark(
        "tiny", Ids(range(number), kind="image"), Ids(range(number), kind="caption"), {"original": truth}
    )


def test_every_row_of_tables_11_and_12_is_computed_or_needs_the_corpus(parts):
    rows = {row for row, _ in parts["contrasts"].published()}
    systems = set(parts["systems"].SYSTEMS)
    assert systems <= rows
    assert len(rows) == 30
    assert all("BNC" in row for row in rows - systems)
    assert not any("BNC" in row for row in systems)


def test_every_system_names_a_text_kernel(parts):
    from karat.baselines.text import text_kernel

    for system in parts["systems"].SYSTEMS.values():
        assert system.text in ("F1", "F1-idf") or text_kernel(system.text)
        assert system.image in parts["inputs"].KERNELS


def test_tables_3_to_6_repeat_tables_11_and_12(parts):
    """The text at hand was typed from print: each number stands there twice, but for totals."""
    contrasts, harness = parts["contrasts"], sys.modules["_paper"]
    printed = contrasts.published()
    for line in harness.read_table("hodosh_3_to_6"):
        column = contrasts.full(line["table"], line["column"])
        if line["table"] == "6":
            added = contrasts.ADDED[line["column"].split()[0]]
            row = contrasts.trigram(contrasts.DISTRIBUTIONS[line["row"]], added)
        else:
            row = contrasts.NAMES.get(line["row"], line["row"])
        if line["column"] == "Total":
            both = [printed[row, f"{task} R-precision"] for task in ("Annotation", "Search")]
            assert float(line["paper"]) == pytest.approx(np.mean(both), abs=0.051)
        elif line["paper"]:
            assert float(line["paper"]) == printed[row, column], line


def test_superscripts_of_table_6_compare_with_the_system_without_the_feature(parts):
    found = {(one.first, one.column): one for one in parts["contrasts"].superscripted()}
    aligned = found["TRI5_A", "Annotation R-precision"]
    assert (aligned.second, aligned.level) == ("TRI5", 0.01)
    both = found["TRI5^{√idf}_{D_{ic}}", "Search R-precision"]
    assert (both.second, both.level) == ("TRI5^{√idf}", 0.01)
    again = found["TRI5^{√idf}_A", "Annotation R-precision"]
    assert (again.second, again.level) == ("TRI5^{√idf}", 0.1)
    assert found["TRI5_{A,D_{BNC+ic}}", "Search R-precision"].second == "TRI5_A"


class Told:
    """Scores that are made up: the first system is `by` better than the second."""

    def __init__(self, tested, by):
        self.tested_type, self.by = tested, by

    def tested(self, first, second, column):
        return None if "BNC" in first else self.tested_type(self.by, 0.003, "made up")


@pytest.mark.parametrize(("by", "said", "same"), [(-2.0, "same sign", 1), (2.0, "OTHER SIGN", 0)])
def test_a_contrast_says_whether_signs_agree(parts, by, said, same):
    contrasts = parts["contrasts"]
    one = contrasts.Contrast("3", "BoW5", contrasts.TRI5SEM, "Search R@10", 0.01, "***")
    two = one._replace(level=0.05)
    three = one._replace(first="TRI5_{D_{BNC}}")
    records = contrasts.contrast_records([one, two, three], Told(parts["scores"].Tested, by))
    assert [r["paper"] for r in records[:2]] == [-6.5, -6.5]  # 23.6 less 30.1
    assert [r["ours"] for r in records] == [by, by, None, same]
    assert said in records[0]["note"]
    assert "ours ***, p = 0.003" in records[0]["note"]
    assert "British National Corpus" in records[2]["note"]
    assert records[-1]["paper"] == 1  # only those at 1% that can be computed are counted


def test_values_are_tested_as_the_paper_does(parts, rng):
    difference_of = parts["scores"].difference_of
    hits = np.repeat([1.0, 0.0], [30, 70])
    better = difference_of(hits, np.zeros(100), "Search R@1")
    assert better.difference == pytest.approx(0.3)
    assert better.test.startswith("McNemar")
    assert difference_of(hits, np.zeros(100), "Search R-precision").test == "randomisation"
    ranks = np.arange(1.0, 101.0)
    slower = difference_of(ranks + 40, ranks, "Search Median r")
    assert slower.difference == 40
    assert slower.p < 0.01
    # A mean would go the other way: one far item does not move a median.
    outlier = np.where(ranks == 100, 1e6, ranks - 1)
    assert difference_of(outlier, ranks, "Search Median r").difference == -1


def test_dev_chooses_and_test_has_no_say(parts, rng, monkeypatch):
    """Settings follow the dev split: with other test rows they stay."""
    selection = parts["selection"]
    monkeypatch.setattr(selection, "NUMBERS", [1, 2, 3, 4, 5, 6])
    shared = rng.normal(size=(120, 6))
    x, y = (shared + 0.3 * rng.normal(size=shared.shape) for _ in range(2))
    train, dev, test = slice(0, 80), slice(80, 100), slice(100, 120)
    path = KCCAPath(selection.KAPPAS, 6).fit(x[train] @ x[train].T, y[train] @ y[train].T)
    images, texts = (
        {"dev": z[dev] @ z[train].T, "test": z[test] @ z[train].T} for z in (x, y)
    )  # fmt: skip
    found = selection.selected(path, images, texts, bench(20), bench(20))
    shuffled = {**texts, "test": texts["test"][rng.permutation(20)]}
    again = selection.selected(path, images, shuffled, bench(20), bench(20))
    for direction in ("i2t", "t2i"):
        assert found[f"settings_{direction}"].shape == (15, 2)
        np.testing.assert_array_equal(found[f"settings_{direction}"], again[f"settings_{direction}"])
        # Scores are places counted down: each row is a permutation, and most own items come first.
        np.testing.assert_array_equal(np.sort(-found[direction], axis=1), np.tile(np.arange(20), (20, 1)))
        assert (found[direction].diagonal() == 0).mean() > 0.5
        assert (again[direction].diagonal() == 0).mean() < 0.5


def cosines(parts, table, rows, rank):
    """Return the scores of new items against themselves after a kernel was cut to a rank."""
    side, new = parts["systems"].shortened(table, {"new": rows}, rank)
    path = KCCAPath((0.5,)).fit(table.astype(np.float32), side)
    ((_, _, found),) = path.scores(rows.astype(np.float32), new["new"], [4])
    return found, new["new"]


def test_text_kernels_are_cut_short(parts, rng):
    """At full rank nothing changes; at a lower one the kernel is that of fewer features."""
    x = rng.normal(size=(50, 5))
    table, rows = x[:40] @ x[:40].T, x[40:] @ x[:40].T
    whole, features = cosines(parts, table, rows, 5)
    ((_, _, wanted),) = KCCAPath((0.5,)).fit(table, table).scores(rows, rows, [4])
    assert features.shape == (10, 5)
    np.testing.assert_allclose(whole, wanted, atol=1e-3)
    assert cosines(parts, table, rows, 3)[1].shape == (10, 3)


def test_a_kernel_that_is_not_semidefinite_goes_by_its_eigenvectors(parts, rng, capsys):
    x = rng.normal(size=(50, 5))
    signs = np.array([1.0, 1.0, 1.0, 1.0, -0.6])
    table, rows = (x[:40] * signs) @ x[:40].T, (x[40:] * signs) @ x[:40].T
    shift = 1.0 - table.diagonal().min()  # partial Gram-Schmidt asks for a diagonal that is not negative
    table[np.diag_indices(40)] += shift
    assert np.linalg.eigvalsh(table)[0] < 0
    _, new = cosines(parts, table, rows, 30)
    assert "not semidefinite" in capsys.readouterr().err
    assert new.shape == (10, 40)


def test_places_invert_rankings(parts):
    order = np.array([2, 0, 1, 0, 1, 2, 1, 2, 0])
    found = parts["selection"].places(order, bench(3), "i2t")
    np.testing.assert_array_equal(found, [[1, 2, 0], [0, 1, 2], [2, 0, 1]])


def archive(path, files):
    with tarfile.open(path, "w") as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("c.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)


def test_unpacking_stays_in_its_folder(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    archive(tmp_path / "a.tar", {"./a.jpg": b"a", "../../b.jpg": b"b", "other.jpg": b"no"})
    folder = parts["store"].unpacked(tmp_path / "a.tar", ["a.jpg", "b.jpg"], "key")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.jpg": b"a", "b.jpg": b"b"}
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "a.tar"}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_missing_picture_or_a_link_is_refused_and_leaves_nothing(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    archive(tmp_path / "a.tar", {"a.jpg": b"a"})
    with pytest.raises(MissingDataError, match=r"lacks 1 images, such as c\.jpg"):
        parts["store"].unpacked(tmp_path / "a.tar", ["a.jpg", "c.jpg"], "key")
    assert not [*(tmp_path / "cache" / "hodosh").iterdir()]


def test_a_stage_is_computed_once_per_setting(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    made = []

    def make():
        made.append(1)
        return {"x": np.arange(3)}

    for decides in (["a", 1], ["a", 1], ["a", 2]):
        np.testing.assert_array_equal(parts["store"].kept("stage", decides, make)["x"], np.arange(3))
    assert len(made) == 2


NAMES, VERBS = ("dog", "boy", "girl", "man"), ("runs", "jumps", "sits")
COLOURS = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (30, 40, 200), "white": (240, 240, 240)}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder like Flickr8k's: pictures of one colour with stripes, captions that name it."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("data") / "flickr8k"
    folder.mkdir()
    tokens, pictures, splits = [], {}, {"train": 48, "dev": 12, "test": 12}
    for split, number in splits.items():
        names = [f"{split}{k}.jpg" for k in range(number)]
        (folder / f"Flickr_8k.{split}Images.txt").write_text("\n".join(names) + "\n")
        for name in names:
            colour, noun, verb = rng.choice([*COLOURS]), rng.integers(len(NAMES)), rng.choice(VERBS)
            pixels = np.tile(np.array(COLOURS[colour], np.uint8), (24, 32, 1))
            pixels[:: 2 + noun] //= 2
            content = io.BytesIO()
            Image.fromarray(pixels).save(content, "PNG")
            pictures[name] = content.getvalue()
            tokens += [
                f"{name}#{k}\tA {colour} {NAMES[noun]} {verb} {where} ."
                for k, where in enumerate(["here", "on grass", "in the sea", "near a tree", "with a ball"])
            ]
    for file in ("Flickr8k.token.txt", "Flickr8k.lemma.token.txt"):
        (folder / file).write_text("\n".join(tokens) + "\n")
    judged = [(f"test{k}.jpg", f"test{k + 1}.jpg#2") for k in range(11)]
    (folder / "ExpertAnnotations.txt").write_text("".join(f"{a}\t{b}\t1\t2\t3\n" for a, b in judged))
    lines = [f"{a}\t{b}\t{k % 2}\t{3 * (k % 2)}\t{3 - 3 * (k % 2)}\n" for k, (a, b) in enumerate(judged)]
    (folder / "CrowdFlowerAnnotations.txt").write_text("".join(lines))
    archive(folder / "images-256.tar", pictures)
    return folder.parent


def test_every_table_from_pixels_and_captions(parts, tiny, monkeypatch, capsys):
    """All systems, on a world so small that colours decide; a second time everything is in the cache."""
    small = {"side": 32, "points": 16, "colour_words": 6, "texture_words": 6, "sift_words": 6}
    monkeypatch.setenv("KARAT_CACHE", str(tiny / "cache"))
    monkeypatch.setattr(parts["inputs"], "ImageFeatures", partial(ImageFeatures, **small))
    monkeypatch.setattr(parts["selection"], "NUMBERS", [2, 4, 8, 16])
    tables = parts["tables"]
    records = [*tables.all_models("11", tiny), *tables.all_models("12", tiny), *tables.ablation(tiny)]
    records += [one for name in ("3", "4", "5") for one in tables.main_models(name, tiny)]
    records += [one for name in ("4.3.1", "4.3.3", "4.3.4") for one in tables.of_text(name, tiny)]
    found = {(r["table"], r["row"], r["column"]): r for r in records}
    assert len(found) == len(records)
    for record in records:
        assert (record["ours"] is None) == ("British" in record["note"] and "in place" not in record["note"])
    for row, system in parts["systems"].SYSTEMS.items():
        assert 1 <= found["11", row, "Annotation Median r"]["ours"] <= 12
        # Chance is 5 of 12; each picture's colour, noun and verb are one of 48.
        assert system.nearest or found["11", row, "Search R@5"]["ours"] > 60, row
        assert found["12", row, "Search S@10"]["ours"] >= found["11", row, "Search R@10"]["ours"]
        assert 0 < found["12", row, "Search Judged@10"]["ours"] < 100
    shown = found["3", "NN", "Search R@5"]
    assert shown["ours"] == found["11", "NN5_{F1}^{idf}", "Search R@5"]["ours"]
    assert (shown["paper"], found["3", "TRI5SEM", "Search R@5"]["ours"]) == (4.7, None)
    total = found["5", "BoW5", "Total"]["ours"]
    both = [found["12", "BoW5", f"{task} R-precision"]["ours"] for task in ("Annotation", "Search")]
    assert total == pytest.approx(np.mean(both))
    difference = found["3", f"BoW1 − {parts['scores'].TRI5SEM}", "Search R@5"]["ours"]
    best = found["11", parts["systems"].BEST, "Search R@5"]["ours"]
    assert difference == pytest.approx(found["11", "BoW1", "Search R@5"]["ours"] - best)
    assert "kcca-BoW5-histogram: done" in capsys.readouterr().err
    tables.scores.cache_clear()
    tables.flickr.cache_clear()
    assert tables.all_models("11", tiny) == records[: 8 * 30]
    assert "done" not in capsys.readouterr().err


def test_the_authors_words(parts, data):
    """On real data: as many words as the paper counts, within what other lemmas and tags explain."""
    flickr = parts["inputs"].Flickr8k(data / "flickr8k")
    learned = parts["words"].Learned(*parts["words"].authors_words(flickr))
    counts = learned.counts()
    paper = {("3.5.3", "words"): 1928, ("3.5.4", "nouns"): 1180, ("3.5.4", "verbs"): 143}
    for key, number in paper.items():
        assert counts[key] == pytest.approx(number, rel=0.02)
    assert counts["3.5.4", "both"] == pytest.approx(11, abs=2)
    figure = [r for r in parts["words"].neighbours(learned, learned) if r["column"] == "neighbours in common"]
    assert [r["ours"] for r in figure if "BNC" not in r["row"]] == [4, 5, 3, 5, 5, 3]


def test_the_cache_is_where_the_option_says(tmp_path):
    """Without data, so quick: the option is taken off the command line and the rest goes on."""
    env = {key: value for key, value in os.environ.items() if key != "KARAT_DATA"}
    out = tmp_path / "3.json"
    command = [sys.executable, FOLDER / "hodosh.py", "--cache", tmp_path, "--table", "3", "--json", out]
    subprocess.run(command, check=True, env=env)
    records = json.loads(out.read_text(encoding="utf-8"))
    assert {r["table"] for r in records} == {"3"}
    assert all(r["ours"] is None and "needs flickr8k/" in r["note"] for r in records)
    values = [r for r in records if "−" not in r["row"]]
    assert len(values) == 48
    assert len(records) - len(values) == 39  # all numbers but TRI5's R@1 for annotation are starred
