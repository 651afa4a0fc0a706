"""Plain folders of images with captions, and what is refused."""

import json

import pytest

import karat


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    for name in ("b.jpg", "a.PNG", "deep/c.webp", "notes.md"):
        (folder / name).write_bytes(b"")
    return folder


def test_a_csv(pictures):
    (pictures / "captions.csv").write_text(
        'image,caption\nb.jpg,"a dog, running"\na.PNG,two cats\nb.jpg,a dog\n'
    )
    bench = karat.load_benchmark(pictures)
    assert bench.name == "pictures"
    assert bench.images.values.tolist() == ["a.PNG", "b.jpg", "deep/c.webp"]
    assert bench.captions.values.tolist() == ["b.jpg#0", "a.PNG#0", "b.jpg#1"]
    assert bench.texts == ["a dog, running", "two cats", "a dog"]
    assert bench.caption_image.tolist() == [1, 0, 1]
    assert bench.image_paths[2] == str(pictures / "deep" / "c.webp")
    assert bench.truth("original").queries["i2t"].tolist() == [0, 1]


def test_json_lines(pictures):
    lines = [
        {"image": "b.jpg", "captions": ["one", "two"]},
        {"image": "a.PNG", "caption": "three", "caption_id": 7},
    ]
    (pictures / "captions.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    bench = karat.load_benchmark("folder", folder=pictures)
    assert bench.captions.values.tolist() == ["b.jpg#0", "b.jpg#1", "7"]
    assert bench.texts == ["one", "two", "three"]


def test_a_text_file_per_image(pictures):
    (pictures / "b.txt").write_text("a dog\n\n a dog again \n", encoding="utf-8")
    (pictures / "deep" / "c.txt").write_text("a cat")
    bench = karat.load_benchmark(pictures)
    assert bench.texts == ["a dog", "a dog again", "a cat"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("captions.csv", "", "has no column 'image'"),
        ("captions.csv", "image,text\nb.jpg,x\n", "has no column 'caption'"),
        ("captions.csv", "image,caption\nb.jpg\n", "row 2 is not a caption"),
        ("captions.csv", "image,caption\nb.jpg,a,b\n", "row 2 is not a caption"),
        ("captions.csv", "image,caption\nz.jpg,a\n", "names the image 'z.jpg', which is not in the folder"),
        ("captions.csv", "image,caption\n../b.jpg,a\n", "not in the folder"),
        ("captions.csv", 'image,caption\nb.jpg,"a\n', "is not csv"),
        ("captions.csv", "image,caption,caption_id\nb.jpg,a,1\nb.jpg,b,1\n", "repeats the caption id 1"),
        ("captions.csv", "image,caption\n", "holds no caption"),
        ("captions.jsonl", "{\n", "row 1 is not a caption"),
        ("captions.jsonl", '{"image": "b.jpg"}\n', "row 1 is not a caption"),
        ("captions.jsonl", '{"image": "b.jpg", "caption": 5}\n', "is not text"),
        ("captions.jsonl", "[1]\n", "row 1 is not a caption"),
    ],
)
def test_wrong_folders(pictures, name, text, message):
    (pictures / name).write_text(text)
    with pytest.raises(karat.KaratError, match=message):
        karat.load_benchmark("folder", folder=pictures)


def test_two_tables_and_no_folder(pictures, tmp_path):
    for name in ("captions.csv", "captions.jsonl"):
        (pictures / name).write_text("")
    with pytest.raises(karat.KaratError, match="keep one of them"):
        karat.load_benchmark(pictures)
    with pytest.raises(karat.KaratError, match="there is no such folder"):
        karat.load_benchmark("folder", folder=tmp_path / "none")
    with pytest.raises(karat.KaratError, match="needs folder"):
        karat.load_benchmark("folder")
