"""Urban1k's two folders."""

import pytest

import karat


def test_image_and_caption_folders(tmp_path):
    for part in ("image", "caption"):
        (tmp_path / part).mkdir()
    for name in ("1", "10", "2", "3"):
        (tmp_path / "image" / f"{name}.jpg").write_bytes(b"")
    for name in ("1", "2", "10"):
        text = f"The image {name} shows a café.\r\nA second line, which the authors do not read.\n"
        (tmp_path / "caption" / f"{name}.txt").write_text(text, encoding="utf-8")
    bench = karat.load_benchmark(tmp_path)
    assert bench.images.gallery.tolist() == ["1.jpg", "10.jpg", "2.jpg", "3.jpg"]
    assert bench.captions.gallery.tolist() == ["1.txt", "10.txt", "2.txt"]
    assert bench.caption_image.tolist() == [0, 1, 2]
    assert bench.texts[1] == "The image 10 shows a café."
    assert bench.image_paths[1] == str(tmp_path / "image" / "10.jpg")
    (tmp_path / "caption" / "1.txt").write_text("\nlate")
    with pytest.raises(karat.KaratError, match=r"1\.txt: its first line is empty"):
        karat.load_benchmark(tmp_path)
    (tmp_path / "caption" / "0.txt").write_text("x")
    with pytest.raises(karat.KaratError, match=r"0\.txt: there is no image for it .*; add 0\.jpg"):
        karat.load_benchmark(tmp_path)
    with pytest.raises(karat.KaratError, match="has no folder 'image'"):
        karat.load_benchmark("urban1k", folder=tmp_path / "image")
