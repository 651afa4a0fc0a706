"""Every kind of picture file has a decided outcome."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from karat.errors import InputError, MissingDataError
from karat.models import decode_image
from karat.models.pixels import decode_bytes
from karat.world import make_world
from tests.baselines.images.pictures import photo, png


def encoded(image: Image.Image, kind: str, **options) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def test_the_longest_side_is_scaled_down_and_up():
    assert decode_image(photo(0, 300, 600)).shape == (128, 256, 3)
    assert decode_image(photo(0, 60, 30)).shape == (256, 128, 3)
    assert decode_image(photo(0, 60, 30), side=60).tolist() == photo(0, 60, 30).tolist()


def test_a_long_strip_keeps_one_pixel():
    assert decode_image(np.zeros((1, 3000), np.uint8)).shape == (1, 256, 3)


def test_one_pixel_fills_the_picture():
    found = decode_image(np.array([[[10, 20, 30]]], np.uint8), side=8)
    assert found.shape == (8, 8, 3)
    assert np.unique(found.reshape(-1, 3), axis=0).tolist() == [[10, 20, 30]]


def test_a_file_and_its_pixels_are_the_same(tmp_path):
    Image.fromarray(photo(3)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(decode_image(tmp_path / "a.png"), decode_image(photo(3)))
    np.testing.assert_array_equal(decode_image(str(tmp_path / "a.png")), decode_image(photo(3)))


@pytest.mark.parametrize("mode", ["L", "1", "P"])
def test_grey_and_palettes_become_rgb(mode: str):
    found = decode_bytes(encoded(Image.new(mode, (8, 8), 1 if mode == "1" else 200), "PNG"), side=8)
    assert found.shape == (8, 8, 3)
    if mode != "P":
        assert (found == (255 if mode == "1" else 200)).all()


def test_cmyk_becomes_rgb():
    data = encoded(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95)
    red, green, blue = decode_bytes(data, side=16).reshape(-1, 3).mean(axis=0)
    assert red > 240
    assert max(green, blue) < 15


def test_transparency_lies_over_white():
    half = Image.new("RGBA", (8, 8), (0, 0, 0, 128))
    assert decode_bytes(encoded(half, "PNG"), side=8)[0, 0].tolist() == [127, 127, 127]
    assert (decode_bytes(encoded(Image.new("LA", (8, 8), (0, 0)), "PNG"), side=8) == 255).all()
    clear = Image.new("P", (8, 8), 0)
    clear.putpalette([255, 0, 0, 0, 255, 0])
    data = encoded(clear, "GIF", transparency=0)
    assert (decode_bytes(data, side=8) == 255).all()


def test_sixteen_bits_are_scaled_and_not_cut():
    grey = np.full((8, 8), 32_896, np.uint16)
    assert (decode_bytes(encoded(Image.fromarray(grey), "PNG"), side=8) == 128).all()
    assert (decode_bytes(encoded(Image.fromarray(grey), "TIFF"), side=8) == 128).all()
    assert (decode_image(np.stack([grey] * 3, axis=2), side=8) == 128).all()
    row = b"\0" + np.full(24, 32_896, ">u2").tobytes()
    assert (decode_bytes(png(8, 8, 16, 2, 8 * row), side=8) == 128).all()


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_other_numbers_are_refused(kind: type):
    data = encoded(Image.fromarray(np.zeros((4, 4), kind)), "TIFF")
    with pytest.raises(InputError, match="8 or 16 bits"):
        decode_bytes(data, where="a.tiff")
    with pytest.raises(InputError, match="uint8"):
        decode_image(np.zeros((4, 4, 3), kind))


def test_an_animation_shows_its_first_frame():
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode_bytes(data, side=8)[4, 4].tolist() == [255, 0, 0]


@pytest.mark.parametrize("turn", range(1, 9))
def test_the_cameras_rotation_is_applied(turn: int):
    from PIL import ImageOps

    scene = Image.fromarray(photo(1, 40, 60))
    exif = Image.Exif()
    exif[0x0112] = turn
    data = encoded(scene, "PNG", exif=exif)
    # Pillow's own function is the oracle.
    wanted = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    np.testing.assert_array_equal(decode_bytes(data, side=60), wanted)


def test_damaged_rotation_turns_nothing():
    data = encoded(Image.fromarray(photo(1)), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")
    assert decode_bytes(data, side=64).shape == (48, 64, 3)


@pytest.mark.parametrize("keep", [0, 10, 300, 700])
def test_a_corrupt_jpeg_is_refused(keep: int, tmp_path):
    data = encoded(Image.fromarray(photo(2)), "JPEG")
    assert len(data) > 800
    (tmp_path / "a.jpg").write_bytes(data[:keep])
    with pytest.raises(InputError, match=r"a\.jpg: is (damaged|empty|not a readable picture)"):
        decode_image(tmp_path / "a.jpg")


def test_text_is_no_picture():
    with pytest.raises(InputError, match="not a readable picture"):
        decode_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", where="a.eps")


@pytest.mark.parametrize("side", [8_000, 10_000, 30_000])
def test_bombs_are_refused_unopened(side: int):
    data = png(side, side, 8, 2, b"")
    assert len(data) < 200

    def refusal(_) -> str:
        with pytest.raises(InputError) as error:
            decode_bytes(data, where="a.png")
        return str(error.value)

    with ThreadPoolExecutor(2) as pool:
        assert all("50 million are allowed" in sentence for sentence in pool.map(refusal, range(4)))


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(MissingDataError, match=r"nothing\.jpg"):
        decode_image(tmp_path / "nothing.jpg")
    with pytest.raises(InputError, match="is not a file"):
        decode_image(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        decode_image(tmp_path / ("long" * 100))
    with pytest.raises(InputError, match="cannot be read"):
        decode_image("a\0b.png")


def test_large_files_are_refused_unread(tmp_path):
    with (tmp_path / "a.jpg").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    with pytest.raises(InputError, match="315 MB"):
        decode_image(tmp_path / "a.jpg")


def test_a_side_of_no_pixels_is_refused():
    with pytest.raises(InputError, match="side is 0"):
        decode_image(photo(0), side=0)


@pytest.mark.parametrize("shape", [(0, 4), (4,), (4, 4, 2), (2, 4, 4, 3)])
def test_shapes_that_are_no_picture(shape: tuple[int, ...]):
    with pytest.raises(InputError, match="not a picture"):
        decode_image(np.zeros(shape, np.uint8))


def test_large_photos_look_as_when_unpacked_whole():
    smooth = Image.fromarray(photo(5, 12, 16)).resize((2048, 1536), Image.Resampling.BICUBIC)
    found = decode_bytes(encoded(smooth, "JPEG", quality=95)).astype(int)
    wanted = np.asarray(smooth.resize((256, 192), Image.Resampling.BICUBIC)).astype(int)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).mean() < 1.5


def test_pictures_of_the_known_truth_world(tmp_path):
    world = make_world(images=2, captions=1, seed=0)
    world.save(tmp_path)
    files = sorted(tmp_path.rglob("*.png"))
    assert len(files) == 2
    for number, file in enumerate(files):
        np.testing.assert_array_equal(decode_image(file), decode_image(world.picture(number)))
