"""Image files: names that lead out of their folder are refused."""

import pytest

import karat
from karat.benchmarks.image_files import locate_images


def test_image_names_stay_in_their_folder(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"")
    (tmp_path / "images").mkdir()
    for name in ("../secret.png", str(tmp_path / "secret.png")):
        with pytest.raises(karat.KaratError, match="points outside its folder"):
            locate_images(tmp_path / "images", [name])
