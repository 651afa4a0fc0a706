"""``karat captions`` as a user meets it."""

import json

import numpy as np
import pytest

from karat.captions.metrics.cider import Cider

CAPTIONS = {
    "beach.jpg": ["two dogs run on the beach", "dogs on a sunny beach"],
    "street.jpg": ["a red bus on a busy street", "the bus stops, a man waits"],
    "park.jpg": ["a man runs in the park"],
}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    rows = [f'{image},"{text}"' for image, texts in CAPTIONS.items() for text in texts]
    (folder / "captions.csv").write_text("\n".join(["image,caption", *rows]) + "\n")
    for image in CAPTIONS:
        (folder / image).write_bytes(b"")
    return folder


def expected(leave_out: bool = False) -> np.ndarray:
    references = list(CAPTIONS.values())
    image = np.repeat(np.arange(3), [len(group) for group in references])
    number = np.array([0, 1, 0, 1, 0])
    own = (image, number) if leave_out else None
    return Cider().matrix(references, [text for group in references for text in group], own=own)


def test_all_pairs_become_a_run(command, photos, tmp_path):
    table = tmp_path / "N.npy"
    out = command("captions", "table", photos, "-m", "cider", "-o", table)
    assert "cider of 3 images by 5 captions" in out
    ids = json.loads((tmp_path / "N.ids.json").read_text())
    order = [list(CAPTIONS).index(image) for image in ids["images"]]
    columns = [
        [f"{i}#{k}" for i, group in CAPTIONS.items() for k in range(len(group))].index(c)
        for c in ids["captions"]
    ]
    np.testing.assert_array_equal(np.load(table), expected()[np.ix_(order, columns)])
    assert "100.00" in command("evaluate", table, "--benchmark", photos, "-m", "R@1")


def test_a_caption_left_out_scores_lower_with_its_own_image(command, photos, tmp_path):
    command("captions", "table", photos, "-m", "cider", "-o", tmp_path / "with.npy")
    command("captions", "table", photos, "-m", "cider", "-o", tmp_path / "without.npy", "--leave-out")
    kept, left = np.load(tmp_path / "with.npy"), np.load(tmp_path / "without.npy")
    assert (left <= kept).all()
    assert (left < kept).sum() == 5
    assert sorted(left.ravel()) == pytest.approx(sorted(expected(leave_out=True).ravel()))


def test_listed_pairs(command, photos, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("image,caption\nbeach.jpg,beach.jpg#0\nbeach.jpg,park.jpg#0\n")
    out = command("captions", "pairs", photos, pairs, "-m", "cider,rouge-l")
    assert out.splitlines()[0].split() == ["image", "caption", "cider", "rouge-l"]
    assert len(out.splitlines()) == 4
    command("captions", "pairs", photos, pairs, "-m", "cider,rouge-l", "-o", tmp_path / "scores.csv")
    head, first, second = (tmp_path / "scores.csv").read_text().splitlines()
    assert head == "image,caption,cider,rouge-l"
    assert float(first.split(",")[2]) == pytest.approx(expected()[0, 0])
    assert float(second.split(",")[2]) == pytest.approx(expected()[0, 4])


def test_one_image_and_its_captions(both, photos, tmp_path):
    references = tmp_path / "references.txt"
    references.write_text("two dogs run on the beach\n\ndogs on a sunny beach\n")
    names = ["bleu-1", "cider", "hodosh-rouge", "rouge-l"]
    found = both(
        "captions",
        "score",
        "--references",
        references,
        "--candidate",
        "two dogs run on the beach",
        "-m",
        ",".join(names),
    )
    rows = [line.split() for line in found.out.splitlines() if not line.startswith("note: ")]
    assert [row[0] for row in rows[2:]] == names
    assert rows[2][1:] == ["1.0000", "1"]
    assert rows[3][1] == "0.0000"
    assert "cider is 0" in found.err
    corpus = tmp_path / "corpus.npz"
    assert "3 images" in both("captions", "corpus", photos, "-o", corpus).out
    found = both(
        "captions", "score", "--references", references, "--candidate", "dogs run", "-m", "cider",
        "--corpus", corpus,
    )  # fmt: skip
    assert float(found.out.splitlines()[-1].split()[1]) > 1
    assert found.err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["table", "coco", "-m", "cider", "-o", "N.npy"],
            "coco comes without captions; name the file: --set captions=coco_karpathy_test_captions.tsv",
        ),
        (["table", "PHOTOS"], "Missing option '--output'"),
        (["table", "PHOTOS", "-m", "cider", "-o", "N.csv"], "use one of .npy"),
        (["table", "PHOTOS", "-m", "sider", "-o", "N.npy"], "did you mean cider"),
        (
            ["table", "PHOTOS", "-m", "cider", "--corpus", "none.npz", "-o", "N.npy"],
            "none.npz: there is no such file",
        ),
        (["pairs", "PHOTOS", "none.csv", "-m", "cider"], "none.csv"),
        (["score", "--candidate", "a dog"], "Missing option '--references'"),
        (["score", "--references", "none.txt", "--candidate", "a dog"], "none.txt: there is no such file"),
        (["score", "PHOTOS", "--references", "a.txt", "--candidate", "a dog"], "extra argument"),
        (["score", "--references", "a.txt", "--candidate", "a dog", "-o", "N.csv"], "No such option"),
        (["score", "--references", "empty.txt", "--candidate", "a dog"], "empty.txt: has no captions"),
        (["score", "--references", "some.bin", "--candidate", "a dog"], "some.bin: is not text"),
        (["corpus", "PHOTOS", "-o", "corpus.csv"], "use one of .npz"),
    ],
)
def test_mistakes_are_one_sentence(command, photos, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KARAT_DATA", raising=False)
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "some.bin").write_bytes(b"\0\1\2")
    arguments = [photos if word == "PHOTOS" else word for word in arguments]
    assert says in command("captions", *arguments, code=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty.txt", "photos", "some.bin"]


def test_a_pair_that_is_not_there_is_named(command, photos, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("image,caption\nbeach.jpg,moon.jpg#0\n")
    assert "moon.jpg#0" in command("captions", "pairs", photos, pairs, "-m", "cider", code=2)
