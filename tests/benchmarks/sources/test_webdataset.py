"""Shards as CLIP_benchmark has them, and shards that lie."""

import io
import json
import tarfile

import pytest

import karat

JPEG = b"\xff\xd8\xff\xe0 not a whole picture"


def write(path, files, **changes):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w") as shard:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for key, value in changes.items():
                setattr(member, key, value)
            shard.addfile(member, io.BytesIO(content))


def sample(key, *captions, image="webp"):
    return {f"{key}.{image}": JPEG, f"{key}.txt": "\n".join(captions).encode()}


def test_shards_of_clip_benchmark(tmp_path):
    # Eleven shards: number 10 comes after number 9, not after number 1.
    for number in range(11):
        key = f"s{number:07d}"
        write(tmp_path / "test" / f"{number}.tar", sample(key, f"a café {number}", f"caption {number}\r"))
    (tmp_path / "test" / "nshards.txt").write_text("11\n")
    (tmp_path / "dataset_type.txt").write_text("retrieval\n")
    bench = karat.load_benchmark(tmp_path)
    assert bench.name == tmp_path.name
    assert bench.images.gallery.tolist() == [f"s{number:07d}" for number in range(11)]
    assert bench.captions.gallery[:3].tolist() == ["s0000000#0", "s0000000#1", "s0000001#0"]
    assert bench.texts[20:] == ["a café 10", "caption 10"]
    assert bench.image_paths is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset_type.txt", "test"]


def test_json_beside_the_images_and_shards_without_a_split(tmp_path):
    one = {"k1.jpg": JPEG, "k1.json": json.dumps({"caption": "one", "url": "x"}).encode()}
    # img2dataset writes both: the text counts, which comes last.
    two = {"k2.JPG": JPEG, "k2.json": b'{"caption": null}', "k2.txt": b"two"}
    three = {"a/k3.png": JPEG, "a/k3.json": json.dumps({"captions": ["three", "drei"]}).encode()}
    write(tmp_path / "0.tar", {**one, **two, **three, "._k1.jpg": JPEG, "k4.jpg": JPEG})
    bench = karat.load_benchmark("webdataset", folder=tmp_path)
    assert bench.images.gallery.tolist() == ["k1", "k2", "a/k3", "k4"]
    assert bench.texts == ["one", "two", "three", "drei"]
    assert bench.summary()[0]["i2t"]["queries"] == 3


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../k.jpg": JPEG, "../k.txt": b"x"}, r"holds '\.\./k\.jpg', which leads out of it"),
        ({"/k.jpg": JPEG}, "which leads out of it"),
        ({"k.txt": b"x"}, "has captions of 'k' and no such image"),
        ({"k.jpg": JPEG, "k.cls": b"3"}, "has no captions; give shards for retrieval"),
        ({"k.jpg": JPEG, "k.txt": b"caf\xe9"}, r"k\.txt holds no captions in UTF-8"),
        ({"k.jpg": JPEG, "k.json": b"{"}, r"k\.json holds no captions"),
        ({"k.jpg": JPEG, "k.json": b'{"caption": 3}'}, r"k\.json holds no captions"),
        (
            {"k.jpg": JPEG, "k.txt": b"x" * (1 << 20) + b"y"},
            r"k\.txt has 1,048,577 bytes, too many for captions",
        ),
    ],
)
def test_wrong_shards(tmp_path, files, message):
    write(tmp_path / "0.tar", files)
    with pytest.raises(karat.KaratError, match=message):
        karat.load_benchmark(tmp_path)


def test_damaged_and_missing_shards(tmp_path):
    write(tmp_path / "0.tar", sample("k", "x"))
    write(tmp_path / "1.tar", sample("k", "y"))
    with pytest.raises(karat.KaratError, match=r"repeats the key 'k' of 0\.tar"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "nshards.txt").write_text("3")
    with pytest.raises(karat.KaratError, match="says '3', and there are 2 shards"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "nshards.txt").write_text("2")
    write(tmp_path / "1.tar", sample("k2", "y"))
    whole = (tmp_path / "1.tar").read_bytes()
    # Cut in a picture, in a header, after a sample: tarfile itself notices the first alone.
    for length in (700, 1100, 2048):
        (tmp_path / "1.tar").write_bytes(whole[:length])
        with pytest.raises(karat.KaratError, match=r"1\.tar: is not a complete tar file"):
            karat.load_benchmark(tmp_path)
    # A link is not a file: it is neither followed nor read.
    (tmp_path / "1.tar").unlink()
    (tmp_path / "nshards.txt").unlink()
    write(tmp_path / "0.tar", {"k.txt": b""}, type=tarfile.SYMTYPE, linkname="/etc/passwd")
    with pytest.raises(karat.KaratError, match="has no captions"):
        karat.load_benchmark(tmp_path)
    with pytest.raises(karat.KaratError, match="has no shards; give the folder"):
        karat.load_benchmark("webdataset", folder=tmp_path / "nothing")
