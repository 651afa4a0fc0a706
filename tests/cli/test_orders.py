"""Runs in another order, on another benchmark, or called by other names: what a user is told."""

import json

import numpy as np
import pytest

import karat

IMAGES, EACH = 120, 2


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A file like Karpathy's in a folder with a blank in its name, and runs in several orders."""
    home = tmp_path_factory.mktemp("my runs")
    rng = np.random.default_rng(3)
    numbers = rng.permutation(np.arange(50, 50 + IMAGES))
    images = [
        {
            "split": "test",
            "cocoid": int(number),
            "imgid": k,
            "filepath": "val2014",
            "filename": f"COCO_val2014_{number:012d}.jpg",
            "sentences": [
                {"sentid": int(10 * number + n), "raw": f"Caption {n} of {number}."} for n in range(EACH)
            ],
        }
        for k, number in enumerate(numbers)
    ]
    (home / "dataset_small.json").write_text(json.dumps({"images": images}))
    (home / "numbers.txt").write_text("\n".join(map(str, sorted(numbers))))
    (home / "files.txt").write_text("\n".join(f"COCO_val2014_{n:012d}.jpg" for n in sorted(numbers)))
    bare = sorted((str(n) for n in numbers), key=str)
    (home / "text.json").write_text(json.dumps(bare))
    scores = rng.normal(size=(IMAGES, IMAGES * EACH)).astype(np.float32)
    scores[np.repeat(np.arange(IMAGES), EACH), np.arange(IMAGES * EACH)] += 4
    np.save(home / "own.npy", scores)
    np.save(home / "sorted.npy", scores[np.argsort(numbers)])
    np.save(home / "text.npy", scores[np.argsort([str(n) for n in numbers])])
    np.save(home / "shuffled.npy", scores[rng.permutation(IMAGES)])
    np.save(home / "img.npy", rng.normal(size=(IMAGES, 8)))
    np.save(home / "wide.npy", rng.normal(size=(IMAGES * EACH, 16)))
    np.save(home / "flickr.npy", np.zeros((1000, 5000), np.float32))
    np.save(home / "flickr_img.npy", np.zeros((1000, 8), np.float32))
    np.save(home / "flickr_txt.npy", np.zeros((5000, 8), np.float32))
    return home


@pytest.fixture
def inside(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def r1(command, run, *ids):
    """Return R@1 of a run, written with other ids first where some are given."""
    if ids:
        command("convert", run, "named.npz", "-b", "dataset_small.json", *ids)
        run = "named.npz"
    command("evaluate", run, "-b", "dataset_small.json", "-m", "R@1", "--json", "out.json")
    with open("out.json") as file:
        return json.load(file)[0]["value"]


@pytest.mark.parametrize(
    ("name", "order"),
    [("sorted.npy", "the images sorted by id as numbers"), ("text.npy", "the images sorted by id as text")],
)
def test_the_likely_order_is_suggested_and_not_applied(command, inside, name, order):
    error = command("evaluate", name, "-b", "dataset_small.json", "-m", "R@1", code=2)
    seen = karat.inspect(name, benchmark=karat.load_benchmark("dataset_small.json"))
    assert seen.worst == "error"
    for said in (error, str(seen)):
        assert f"with {order} R@1 would be 9" in said
        assert "it is not applied" in said
        assert "--ids FILE" in said
        assert "one per line" in said


def test_a_run_in_no_likely_order_is_told_of_ids(both, inside):
    captured = both("evaluate", "shuffled.npy", "-b", "dataset_small.json", "-m", "R@1")
    first = next(line for line in captured.out.splitlines() if line.startswith("note: "))
    assert "is at chance level" in first
    assert "`karat benchmarks show dataset_small.json --ids ids.json` writes" in first
    assert (
        "in NAME.ids.json (karat convert --ids FILE writes it), or by ids= in Python: a list of ids" in first
    )
    assert "--ids FILE" in both("inspect", "shuffled.npy", "-b", "dataset_small.json").out


def test_every_form_of_an_ids_file(command, inside):
    own = r1(command, "own.npy")
    assert own > 0.8
    assert r1(command, "sorted.npy", "--ids", "numbers.txt") == own
    assert r1(command, "sorted.npy", "--ids", "files.txt") == own
    assert r1(command, "text.npy", "--ids", "text.json") == own
    numbers = (inside / "numbers.txt").read_text().split()
    np.save("numbers.npy", np.array(numbers, int))
    (inside / "table.csv").write_text(
        "n,image_id\n" + "".join(f"{k},{n}.jpg\n" for k, n in enumerate(numbers))
    )
    command("benchmarks", "show", "dataset_small.json", "--ids", "own.json")
    captions = json.loads((inside / "own.json").read_text())["captions"]
    (inside / "captions.txt").write_text("\n".join(map(str, captions)))
    rows = [f"{caption}\t{caption // 10}\ttext, with a comma" for caption in captions]
    (inside / "pairs.tsv").write_text("\n".join(["caption_id\timage_id\tcaption", *rows]))
    for ids in ("numbers.npy", "table.csv", "numbers.txt,captions.txt"):
        assert r1(command, "sorted.npy", "--ids", ids) == own
    assert r1(command, "own.npy", "--ids", "pairs.tsv") == own
    assert r1(command, "own.npy", "--ids", "own.json") == own


def test_a_list_that_does_not_fit_is_named(command, inside):
    (inside / "short.txt").write_text("50\n51\n")
    (inside / "rows.json").write_text('{"rows": [50, 51]}')
    (inside / "images.csv").write_text("image\n50\n")
    words = ("convert", "own.npy", "named.npz", "-b", "dataset_small.json", "--ids")
    assert "short.txt: lists 2 ids, but the table has 120 images and 240 captions" in command(
        *words, "short.txt", code=2
    )
    assert "names the images again" in command(*words, "images.csv,images.csv", code=2)
    assert "is not an ids file; give a list of ids" in command(*words, "rows.json", code=2)


def test_a_file_is_a_benchmark_as_a_folder_is(command, inside, monkeypatch, tmp_path):
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path))
    assert "120 images, 240 captions" in command("benchmarks", "show", "dataset_small.json")
    command("benchmarks", "add", "dataset_small.json", "--name", "small")
    assert "120 images" in command("benchmarks", "show", "small")
    assert "none.json: there is no such file" in command("benchmarks", "show", "none.json", code=2)
    assert "of files it knows aro-attribute" in command("benchmarks", "show", "text.json", code=2)


def test_the_command_in_a_message_is_quoted(command, home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    place = home / "dataset_small.json"
    np.save("odd.npy", np.zeros((3, 3)))
    assert f"`karat benchmarks show '{place}' --ids ids.json`" in command(
        "evaluate", "odd.npy", "-b", place, code=2
    )


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["img.npy", "wide.npy"], "image embeddings have 8 dimensions, caption embeddings 16: they are of"),
        (["flickr.npy"], "as many as flickr30k and flickr8k and karpathy have: name its benchmark with -b"),
        (
            ["flickr_img.npy", "flickr_txt.npy"],
            "has 1,000 image embeddings, but karpathy has 120 images; as many",
        ),
    ],
)
def test_another_benchmark_and_other_widths_are_named(command, inside, files, says):
    assert says in command("evaluate", *files, "-b", "dataset_small.json", code=2)


def test_a_measure_without_its_sign(command, inside):
    words = ("evaluate", "own.npy", "-b", "dataset_small.json", "-m")
    for typed, meant in (
        ("R1", "R@1"),
        ("Recall10", "Recall@10"),
        ("nDCG10", "nDCG@10"),
        ("mrr-10", "MRR@10"),
    ):
        assert f"unknown measure {typed!r}; did you mean {meant}?" in command(*words, typed, code=2)


def test_a_missing_package_is_named_before_the_work(command, inside, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "plotly" else find(name, *a)
    )
    monkeypatch.setattr("karat.scores.evaluation.evaluation.load_runs", lambda *a, **k: pytest.fail("worked"))
    for verb in ("evaluate", "compare", "report"):
        said = command(verb, "own.npy", "own.npy", "-b", "dataset_small.json", "-o", "page.html", code=2)
        assert "the package plotly is not installed; pip install plotly" in said


def test_wordnet_is_missed_before_the_work(command, inside, monkeypatch, tmp_path):
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path))
    monkeypatch.setattr("karat.scores.evaluation.evaluation.load_runs", lambda *a, **k: pytest.fail("worked"))
    words = ("evaluate", "own.npy", "-b", "dataset_small.json", "-m", "NCS(spice)@10")
    assert "WordNet" in command(*words, code=2)


def test_a_file_in_latin_1_is_named_with_the_way_out(command, inside, tmp_path):
    path = tmp_path / "my captions.tsv"
    path.write_bytes("image\tsent\tcaption_raw\na.jpg\t0\tone café\n".encode("latin-1"))
    said = command("benchmarks", "show", path, code=2)
    assert "line 2 is not UTF-8 but probably Latin-1 (it would read 'a.jpg\\t0\\tone café')" in said
    assert f"`iconv -f LATIN1 -t UTF-8 '{path}' > '{tmp_path / 'my captions.utf8.tsv'}'`" in said
    for name in ("run.json", "run.csv", "lists.tsv"):
        (tmp_path / name).write_bytes("query,item,score\na,café,1\n".encode("latin-1"))
        assert "is not UTF-8 but probably Latin-1" in command(
            "evaluate", tmp_path / name, "-b", "dataset_small.json", code=2
        )
