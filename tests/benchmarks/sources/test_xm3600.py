"""Crossmodal-3600 by language."""

import json

import pytest

import karat


def row(key, **languages):
    spoken = {
        name: {"caption": texts, "caption/tokenized": texts, "caption/tokenized/lowercase": texts}
        for name, texts in languages.items()
    }
    return json.dumps({"image/key": key, "image/locale": "cs", **spoken}, ensure_ascii=False) + "\n"


@pytest.fixture
def folder(tmp_path):
    lines = row("00a", en=["a dog", "a puppy"], zh=["一只狗"]) + row(
        "00b", en=["a bus"], zh=["公交车", "巴士"]
    )
    (tmp_path / "captions.jsonl").write_text(lines + row("00c", en=["a tree"]), encoding="utf-8")
    return tmp_path


def test_one_language_of_the_file(folder):
    english, chinese = (karat.load_benchmark(folder, language=language) for language in ("en", "zh"))
    assert english.images.gallery.tolist() == chinese.images.gallery.tolist() == ["00a", "00b", "00c"]
    assert english.captions.gallery.tolist() == ["00a#0", "00a#1", "00b#0", "00c#0"]
    assert chinese.texts == ["一只狗", "公交车", "巴士"]
    assert chinese.summary()[0]["i2t"]["queries"] == 2
    first = karat.load_benchmark("xm3600", folder=folder / "captions.jsonl", language="zh", caption="0")
    assert first.texts == ["一只狗", "公交车"]
    (folder / "images").mkdir()
    for key in ("00a", "00b", "00c"):
        (folder / "images" / f"{key}.jpg").write_bytes(b"")
    assert karat.load_benchmark(folder).image_paths[2] == str(folder / "images" / "00c.jpg")


def test_wrong_lines(folder):
    with pytest.raises(karat.KaratError, match="has no caption in 'tlh'; it has en, zh"):
        karat.load_benchmark(folder, language="tlh")
    path = folder / "captions.jsonl"
    for line, message in (
        ('{"image/locale": "cs"}', "row 1 has no key 'image/key'"),
        ("[", "row 1 is not a json object"),
        (row("x", en=["a"]) * 2, "row 2 repeats the image/key x of row 1"),
        ('{"image/key": "x", "en": ["a dog"]}', "row 1, en is not a json object"),
        (
            '{"image/key": "x", "en": {"caption": "a dog"}}',
            "row 1, en has the 'caption' 'a dog'; give a list",
        ),
        ('{"image/key": "x", "en": {"caption": [1]}}', "row 1, en has a caption that is not text"),
    ):
        path.write_text(line)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("xm3600", folder=folder)
