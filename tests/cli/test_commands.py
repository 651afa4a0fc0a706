"""The command line as a user meets it: tables, files, and one sentence with exit code 2 for a mistake."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import karat
from karat.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory, coco):
    """Embeddings of two generated systems and a truncated run, on disk."""
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(5)
    images = rng.standard_normal((5000, 16), dtype=np.float32)
    captions = images[coco.caption_image] + rng.standard_normal((25000, 16), dtype=np.float32)
    np.save(folder / "img.npy", images)
    np.save(folder / "txt.npy", captions)
    np.save(folder / "txt2.npy", captions + rng.standard_normal(captions.shape, dtype=np.float32))
    run = karat.load_run(images, captions).align(coco)
    lists = {}
    for direction in ("i2t", "t2i"):
        top = run.top(direction, 50)
        items = coco.items(direction)[top.item].reshape(-1, 50)
        lists[direction] = {str(q): row.tolist() for q, row in zip(coco.queries(direction).gallery, items)}
    (folder / "run.json").write_text(json.dumps(lists))
    return folder


def test_embeddings_lists_and_several_runs_in_one_table(command, folder, tmp_path):
    out = command(
        "evaluate", folder / "img.npy", folder / "txt.npy", folder / "run.json", folder / "txt2.npy",
        folder / "img.npy", "--name", "A,A50,B", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert out.splitlines()[0].split() == ["truth", "measure", "direction", "A", "A50", "B"]
    assert "Values in percent; unjudged pairs count as misses; ties are pessimistic." in out
    records = json.loads((tmp_path / "out.json").read_text())
    assert len(records) == 3 * 36
    value = {(r["run"], r["truth"], r["direction"], r["measure"]): r["value"] for r in records}
    for (name, truth, direction, measure), found in value.items():
        if name == "A50" and truth != "coco-1k":
            assert found == value["A", truth, direction, measure]
    assert value["A50", "coco-1k", "t2i", "R@10"] is None
    assert value["A", "coco-5k", "i2t", "R@1"] > value["B", "coco-5k", "i2t", "R@1"]


def test_a_matrix_and_an_ids_file_beside_it(command, folder, tmp_path, coco):
    command("benchmarks", "show", "coco", "--ids", tmp_path / "order.json")
    order = json.loads((tmp_path / "order.json").read_text())
    assert order["captions"] == coco.captions.gallery.tolist()
    scores = np.load(folder / "img.npy") @ np.load(folder / "txt.npy").T
    np.save(tmp_path / "plain.npy", scores)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(5000), rng.permutation(25000)
    np.save(tmp_path / "moved.npy", scores[rows][:, columns])
    ids = {"images": [order["images"][k] for k in rows], "captions": [order["captions"][k] for k in columns]}
    (tmp_path / "moved.ids.json").write_text(json.dumps(ids))
    command(
        "evaluate", tmp_path / "plain.npy", tmp_path / "moved.npy", "-m", "R@1,mAP@R", "--truth", "eccv",
        "--json", tmp_path / "out.json", "-o", tmp_path / "table.md", "--per-query", tmp_path / "q.parquet",
    )  # fmt: skip
    records = json.loads((tmp_path / "out.json").read_text())
    half = len(records) // 2
    assert [r["value"] for r in records[:half]] == [r["value"] for r in records[half:]]
    assert "| eccv | R@1 | image→text |" in (tmp_path / "table.md").read_text()
    assert (tmp_path / "q.parquet").stat().st_size > 1000
    (tmp_path / "moved.ids.json").write_text(json.dumps({"images": ids["images"]}))
    np.save(tmp_path / "moved.npy", scores[rows])
    command("evaluate", tmp_path / "moved.npy", "-m", "R@1", "--truth", "eccv", "--json", tmp_path / "o.json")
    again = json.loads((tmp_path / "o.json").read_text())
    assert [r["value"] for r in again] == [r["value"] for r in records if r["measure"] == "R@1"][:3]


def test_counts_and_measures_are_listed(command):
    listed = command("benchmarks")
    assert "coco" in listed
    assert "--set cxc_ratings=" in listed
    text = " ".join(command("benchmarks", "show", "coco").split())
    assert "coco: 5,000 images, 25,000 captions" in text
    assert "eccv images 1,261 22,550 0 2 1 captions 1,332 11,279 0 0" in text
    assert "cxc images 5,000 35,585 0 0 1 captions 24,972 35,585 0 0" in text
    measures = command("measures")
    for name in (
        "R@K",
        "Recall@K",
        "P@K",
        "RP",
        "mAP@R",
        "AP[@K]",
        "MRR[@K]",
        "nDCG[@K]",
        "MedR",
        "MeanR",
        "Judged@K",
        "RSUM",
    ):
        assert f"\n{name}  " in f"\n{measures}"
    assert "ECCV Caption eq. E.3" in measures


def test_a_folder_of_ones_own(command, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "config"))
    folder = tmp_path / "pets"
    folder.mkdir()
    for name in ("a.jpg", "b.jpg"):
        (folder / name).write_bytes(b"")
    (folder / "captions.csv").write_text(
        "image,caption\na.jpg,a cat\nb.jpg,a dog\nb.jpg,[bold]two[/bold] dogs\n"
    )
    assert "added; use it as --benchmark mine" in command("benchmarks", "add", folder, "--name", "mine")
    assert "mine  added: folder with folder=" in command("benchmarks")
    shown = command("benchmarks", "show", "mine", "--save", tmp_path / "saved")
    assert "pets: 2 images, 3 captions" in shown
    np.save(tmp_path / "s.npy", np.array([[0.9, 0.1, 0.3], [0.2, 0.8, 0.1]]))
    for bench in ("mine", tmp_path / "saved", folder):
        out = command("evaluate", tmp_path / "s.npy", "--benchmark", bench, "-m", "R@1")
        assert "original  R@1          100.00       66.67  83.33" in out
    assert "removed mine" in command("benchmarks", "remove", "mine")
    for words, message in (
        (["add"], "Missing argument 'FOLDER'"),
        (["remove"], "Missing argument 'NAME'"),
        (["remove", "mine"], "no benchmark 'mine' was added"),
        (["add", tmp_path / "none"], "there is no such folder"),
        (["show", "coco", "more"], "unexpected extra argument(s) (more)"),
        (["show", "--ids", tmp_path / "x.json"], "Missing argument 'NAME'"),
        (["show", "flickr8k"], "needs folder"),
        (["mine"], "did you mean `karat benchmarks show mine`?"),
    ):
        assert message in command("benchmarks", *words, code=2)


def test_help_and_version(command):
    assert "evaluate" in command("--help")
    assert command("--version") == f"karat {karat.__version__}\n"
    assert "pessimistic" in command("evaluate", "--help")


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    # Files with holes, whose numbers nothing reads.
    for name, shape in {"turned": (25000, 5000), "short": (4999, 25000)}.items():
        np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float16, shape)
    np.save(folder / "small.npy", np.zeros((5, 4), np.float32))
    np.save(folder / "flat.npy", np.zeros(10))
    np.save(folder / "text.npy", np.array([["a", "b"]]))
    np.save(folder / "objects.npy", np.array([[Explosive()]], dtype=object), allow_pickle=True)
    (folder / "empty.npy").write_bytes(b"")
    with open(folder / "turned.npy", "rb") as handle:
        (folder / "cut.npy").write_bytes(handle.read(5000))
    (folder / "run.txt").write_text("1 2 3")
    (folder / "bad.json").write_text("{not json")
    (folder / "list.json").write_text("[1, 2]")
    (folder / "none.json").write_text("{}")
    (folder / "odd.json").write_text('{"i2t": 5}')
    (folder / "nested.json").write_text('{"i2t": {"391895": [[1], [2, 3]]}}')
    (folder / "strange.json").write_text('{"i2t": {"391895": [770337]}, "name": "x"}')
    (folder / "huge.json").write_text('{"i2t": {"999999999999999999999999999999": [770337]}}')
    (folder / "one.json").write_text('{"i2t": {"391895": [770337]}}')
    (folder / "notes.npy").write_text("notes to myself")
    (folder / "ids.json").write_text('{"pictures": []}')
    np.save(folder / "img.npy", np.zeros((5000, 3), np.float32))
    np.save(folder / "txt.npy", np.zeros((25000, 4), np.float32))
    return folder


class Explosive:
    """Would leave a file behind if it were ever loaded."""

    def __reduce__(self):
        return (os.mkdir, ("exploded",))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.npy"], "nowhere.npy: there is no such file."),
        (["turned.npy"], "it is transposed: karat convert --transpose turns it"),
        (["short.npy"], "has 4,999 by 25,000 scores, but coco has 5,000 images by 25,000 captions"),
        (["small.npy"], "has 5 by 4 scores"),
        (["flat.npy"], "has 1 dimension "),
        (["text.npy"], "not numbers"),
        (["objects.npy"], "holds Python objects, which are never executed"),
        (["empty.npy"], "is not a complete npy file"),
        (["cut.npy"], "is not a complete npy file"),
        (["notes.npy"], "is not a complete npy file"),
        ([], "no run was given"),
        (["small.npy", "--threads", "0"], "--threads is a setting of this machine"),
        (["small.npy", "--foo"], "No such option"),
        (["."], "there is no such file"),
        (["odd.json"], "i2t is not a dictionary of ranked lists"),
        (["nested.json"], "ids are not a plain list"),
        (["strange.json"], "has the key 'name', which is not a direction"),
        (["huge.json"], "image id 999999999999999999999999999999 is not in the benchmark"),
        (["one.json", "--direction", "t2i"], "has rankings for i2t only"),
        (["small.npy", "--json", "."], "is a folder"),
        (["run.txt"], "has the extension '.txt'"),
        (["bad.json"], "is not json"),
        (["list.json"], "is a list, not a dictionary"),
        (["none.json"], "holds no ranking"),
        (["img.npy", "txt.npy"], "image embeddings have 3 dimensions, caption embeddings 4"),
        (["small.npy", "--name", "A,B"], "1 run but 2 names"),
        (["--name", "A", "--name", "B", "small.npy"], "1 run but 2 names"),
        (["--name=A,B", "small.npy"], "1 run but 2 names"),
        (["small.npy", "-b", "nowhere/"], "nowhere/: there is no such folder"),
        (["small.npy", "--benchmark", "cocoo"], "did you mean coco"),
        (["small.npy", "--ids", "ids.json"], "No such option: --ids"),
        (["small.npy", "--set", "x"], "'x' is not a setting"),
        (["small.npy", "--set", "x=1"], "has no option 'x'"),
        (["small.npy", "--json", "no/where.json"], "there is no folder"),
        (["small.npy", "-o", "table.xls"], "use one of .json"),
        (["img.npy", "img.npy"], "scores"),
    ],
)
def test_a_mistake_is_one_sentence(command, mistakes, monkeypatch, arguments, message):
    monkeypatch.chdir(mistakes)
    error = command("evaluate", *arguments, code=2)
    assert message in error
    assert error.startswith("karat: ")
    assert error.count("\n") == 1
    assert not (mistakes / "exploded").exists()


@pytest.fixture(scope="module")
def wrong_runs(tmp_path_factory, coco):
    """Complete runs with one mistake each."""
    folder = tmp_path_factory.mktemp("wrong")
    rng = np.random.default_rng(8)
    images = rng.standard_normal((5000, 8)).astype(np.float32)
    captions = images[coco.caption_image] + 0.5 * rng.standard_normal((25000, 8)).astype(np.float32)
    order = {"images": coco.images.gallery.tolist(), "captions": coco.captions.gallery.tolist()}

    def save(name, table, **ids):
        np.save(folder / f"{name}.npy", table)
        if ids:
            (folder / f"{name}.ids.json").write_text(json.dumps(ids))

    # Written in half the bytes where nothing is evaluated; two runs are one file.
    exact = images @ captions.T
    good = exact.astype(np.float16)
    save("twice", good, images=[order["images"][0], *order["images"][:-1]])
    os.link(folder / "twice.npy", folder / "unknown.npy")
    (folder / "unknown.ids.json").write_text(json.dumps({"images": [1, *order["images"][1:]]}))
    good[12, 345] = np.nan
    save("nan", good)
    # In half precision infinity means that a number was too large.
    good[12, 345] = np.inf
    save("overflow", good)
    save("distance", exact.max() - exact)
    save("shuffled", exact[rng.permutation(5000)])
    save("sorted", exact[np.argsort(order["images"])][:, np.argsort(order["captions"])])
    exact[12, 345] = np.inf
    save("inf", exact)
    np.save(folder / "half.npy", images.astype(np.float16))
    np.save(folder / "double.npy", captions.astype(np.float64))
    (folder / "empty.json").write_text(json.dumps({"i2t": {str(i): [] for i in order["images"]}}))
    (folder / "few.json").write_text(json.dumps({"i2t": {str(order["images"][0]): order["captions"][:50]}}))
    caption_ids = "".join(f"{k}\t{k}\tx .\tx\n" for k in range(1, 100))
    (folder / "other.tsv").write_text("caption_id\timage_id\tcaption_tokenised\tcaption_raw\n" + caption_ids)
    for name, size in (("zeros.npy", 1 << 29), ("zeros.json", 1 << 29), ("holes.npy", 2 << 30)):
        with open(folder / name, "wb") as handle:
            handle.truncate(size)
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nan.npy"], "nan.npy: row 12, column 345 is nan"),
        (["inf.npy"], "inf.npy: row 12, column 345 is inf"),
        (["overflow.npy"], "float16 holds numbers up to 65,504 only: save float32"),
        (["twice.npy"], "twice.ids.json: duplicate image id 391895, 2 times (rows 0 and 1)"),
        (["unknown.npy"], "unknown.ids.json: image id 1 is not in the benchmark"),
        (
            ["sorted.npy"],
            "at chance level, but with the images sorted by id as numbers and the captions sorted by id as",
        ),
        (["empty.json"], "nothing could be computed"),
        (["few.json", "--truth", "eccv"], "nothing could be computed"),
        (["distance.npy", "--set", "captions=other.tsv"], "caption id 1 is not in the benchmark"),
        (["zeros.npy"], "is not a complete npy file"),
        (["zeros.json"], "is not text"),
        (["holes.npy"], "has 2,147,483,648 bytes, of which nearly none were written"),
    ],
)
def test_a_wrong_run_is_one_sentence(command, wrong_runs, monkeypatch, arguments, message):
    monkeypatch.chdir(wrong_runs)
    error = command("evaluate", *arguments, "-m", "R@1", code=2)
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "warning"), [("distance", "these are distances"), ("shuffled", "at chance level")]
)
def test_what_is_suspicious_is_mentioned(capsys, monkeypatch, wrong_runs, command, name, warning):
    monkeypatch.chdir(wrong_runs)
    assert warning in command("inspect", f"{name}.npy")
    monkeypatch.setattr(sys, "argv", ["karat", "evaluate", f"{name}.npy", "-m", "R@1"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "R@1 on coco-5k (i2t) is at chance level" in capsys.readouterr().err


def test_tables_of_different_types_go_together(command, wrong_runs, monkeypatch):
    monkeypatch.chdir(wrong_runs)
    assert "coco-5k  R@1" in command("evaluate", "half.npy", "double.npy", "-m", "R@1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "R@0"], "k of R is 0"),
        (["-m", "RSUM", "--per-query", "q.csv"], "no column has values per query"),
        (["--truth", "eccv", "--json", "/dev/full"], "cannot be written"),
        (["-m", "Foo@1"], "unknown measure 'Foo'"),
        (["--truth", "cocoo"], "coco has no truth 'cocoo'"),
        (["--ties", "coin"], "ties is 'coin'; choose one of pessimistic, optimistic, expected, stable"),
        (["--unjudged", "maybe"], "unjudged is 'maybe'"),
        (["--direction", "up"], "unknown direction 'up'"),
        (["--similarity", "euclid"], "similarity is 'euclid'; choose one of dot, cosine"),
    ],
)
def test_a_wrong_option_is_one_sentence(command, folder, options, message):
    error = command("evaluate", folder / "img.npy", folder / "txt.npy", *options, code=2)
    lines = [line for line in error.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1
    assert message in lines[0]


def test_debug_shows_the_traceback_and_a_mistake_is_still_the_users(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["karat", "--debug", "evaluate", "nowhere.npy"])
    monkeypatch.setenv("KARAT_DEBUG", "")
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert error.endswith("nowhere.npy: there is no such file.\n")


def test_lengths_that_are_not_one_are_mentioned(command, capsys, folder, monkeypatch):
    arguments = [
        "evaluate",
        str(folder / "img.npy"),
        str(folder / "txt.npy"),
        "-m",
        "R@1",
        "--truth",
        "eccv",
    ]
    monkeypatch.setattr(sys, "argv", ["karat", *arguments])
    with pytest.raises(SystemExit):
        main()
    assert "--similarity cosine scales them" in capsys.readouterr().err
    command(*arguments, "--similarity", "cosine")


def test_the_module_runs_in_a_process_and_a_closed_pipe_is_no_error(folder):
    done = subprocess.run(
        f'"{sys.executable}" -m karat measures | head -1',
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("acc")
    assert done.stderr == ""


def test_pickle_is_the_danger_that_it_is_tested_for(tmp_path, monkeypatch):
    """The file in `mistakes` would act if anything unpickled it."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Explosive()))
    assert (tmp_path / "exploded").is_dir()
