"""Pictures: of one's own items only, by what their bytes say, and never a word about folders."""

import asyncio
import io
import os
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image, ImageCms

from karat.benchmarks import build, load_benchmark, picture_kind
from karat.models import decode_bytes
from karat.web.judging import pictures as pictures_module
from karat.web.judging.pictures import MOST_BYTES, SIDE, NoPicture, Pictures
from web.leases import finish, lease
from web.servers import make_project


def test_pictures_are_of_own_items_only(server, client):
    ann, bob = client("judge", "ann"), client("judge", "bob")
    found = lease(ann)["lease"]
    item = found["items"][0]["id"]
    response = ann.get(f"/api/judge/image/{item}")
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"].startswith("private")
    assert response.content.startswith(b"\x89PNG")
    mine = {one["id"] for one in found["items"]}
    other = next(number for number in range(len(server.project.pools.plan())) if number not in mine)
    for path in (other, 2**40, "x", "-1", "..%2f..%2fetc%2fpasswd", f"{item}/../{other}"):
        assert ann.get(f"/api/judge/image/{path}").status_code in (404, 422)
    assert bob.get(f"/api/judge/image/{item}").status_code == 404
    assert ann.get(f"/api/judge/own-image/{item}").status_code == 404, "this form does not show it"
    finish(ann, found)
    assert ann.get(f"/api/judge/image/{item}").status_code == 200, "one may look back"


def test_the_captions_own_image(serve, tmp_path):
    server = serve(make_project(tmp_path / "own", form="misread"))
    ann = server.client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]
    assert item["own"] is True
    assert ann.get(f"/api/judge/own-image/{item['id']}").headers["content-type"] == "image/png"


def folder_pictures(folder, *names):
    """The pictures of a folder of images, as the server shows them."""
    paths = [str(folder / name) for name in names]
    lists = [list(names)] * 4
    benchmark = build("own", *lists, where=folder, about="", image_paths=paths, image_folder=folder)
    return Pictures(SimpleNamespace(benchmark=lambda: benchmark))


def show(pictures, image=0, tags=()):
    return asyncio.run(pictures.get(image, tags))


def save(path, picture, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **more)
    return path


def test_files_that_are_no_pictures(tmp_path):
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    (tmp_path / "svg.png").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "noise.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    names = {
        "none.png": "missing", "folder.png": "missing", "pipe.png": "missing", "large.png": "too large",
        "svg.png": "is not a JPEG", "noise.png": "is not a readable picture", "zero\0.png": "missing",
    }  # fmt: skip
    pictures = folder_pictures(tmp_path, *names)
    for image, said in enumerate(names.values()):
        with pytest.raises(NoPicture, match=said):
            show(pictures, image)
    assert picture_kind(b"<html>") is None
    assert picture_kind(b"") is None


def test_links_that_lead_outside_are_not_followed(tmp_path):
    """Links to a file, to a folder, by a path, to a link; those that stay inside are."""
    red = Image.new("RGB", (8, 8), "red")
    home, secret = tmp_path / "images", tmp_path / "secret"
    save(home / "real.png", red)
    save(home / "sub" / "deep.png", red)
    save(secret / "passport.png", red)
    save(tmp_path / "images-too" / "near.png", red)
    (home / "stays.png").symlink_to("sub/deep.png")
    (home / "comes-back.png").symlink_to("../images/real.png")
    (home / "file.png").symlink_to(secret / "passport.png")
    (home / "relative.png").symlink_to("../secret/passport.png")
    (home / "folder").symlink_to(secret)
    (home / "chain.png").symlink_to("file.png")
    (home / "near.png").symlink_to("../images-too/near.png")
    (home / "self.png").symlink_to("self.png")
    shown = ("real.png", "sub/deep.png", "stays.png", "comes-back.png")
    hidden = ("file.png", "relative.png", "folder/passport.png", "chain.png", "near.png")
    pictures = folder_pictures(home, *shown, *hidden, "self.png")
    for image in range(len(shown)):
        assert show(pictures, image).kind == "image/png"
    for image in range(len(shown), len(shown) + len(hidden)):
        with pytest.raises(NoPicture, match=r"^The image file is outside the folder of the images\.$"):
            show(pictures, image)
    with pytest.raises(NoPicture, match="missing"):
        show(pictures, len(shown) + len(hidden))
    assert "5 images will not be shown: symbolic links lead outside" in pictures.notes()[0]
    # A folder of images that is a link itself is the owner's choice.
    (tmp_path / "link").symlink_to(home)
    assert show(folder_pictures(tmp_path / "link", "real.png")).kind == "image/png"


def test_a_folder_of_images_whose_only_folder_is_a_link(tmp_path):
    """All files lie in a folder outside: it is not taken for the folder of the images."""
    save(tmp_path / "secret" / "a.png", Image.new("RGB", (8, 8), "red"))
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "sub").symlink_to(tmp_path / "secret")
    table = "image\tsent\tcaption_raw\nsub/a.png\t0\ta red square\n"
    (tmp_path / "captions.tsv").write_text(table)
    benchmark = load_benchmark("flickr30k", file=tmp_path / "captions.tsv", images=tmp_path / "images")
    with pytest.raises(NoPicture, match="outside"):
        show(Pictures(SimpleNamespace(benchmark=lambda: benchmark)))


@pytest.mark.parametrize("what", ["file", "folder", "root"])
def test_what_is_exchanged_for_a_link_while_it_is_opened_is_not_shown(tmp_path, monkeypatch, what):
    red = Image.new("RGB", (8, 8), "red")
    home, secret = tmp_path / "images", tmp_path / "secret"
    save(home / "sub" / "a.png", red)
    save(secret / "sub" / "a.png", red)
    pictures = folder_pictures(home, "sub/a.png")
    assert show(pictures).kind == "image/png"
    real = pictures_module.inside

    def exchange(root, path):
        parts = real(root, path)
        place = {"file": home / "sub" / "a.png", "folder": home / "sub", "root": home}[what]
        place.rename(tmp_path / "old")
        place.symlink_to(secret / place.relative_to(home))
        return parts

    monkeypatch.setattr(pictures_module, "inside", exchange)
    with pytest.raises(NoPicture, match="missing"):
        show(pictures)


def test_a_link_in_a_folder_is_not_served(serve, tmp_path):
    server = serve(make_project(tmp_path / "linked"))
    ann = server.client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]["id"]
    image = server.project.queue.pair_of("ann", item)[0]
    file = Path(server.project.benchmark().image_paths[image])
    assert ann.get(f"/api/judge/image/{item}").status_code == 200
    file.rename(tmp_path / "outside.png")
    file.symlink_to(tmp_path / "outside.png")
    answer = ann.get(f"/api/judge/image/{item}")
    assert answer.status_code == 404
    assert answer.json() == {"error": "The image file is outside the folder of the images."}
    owner = server.client("owner", "olga")
    assert owner.get(f"/api/dashboard/picture/{image}").status_code == 404


def test_large_pictures_are_scaled_and_turned(tmp_path):
    photo = Image.new("RGB", (4000, 2000), "red")
    photo.paste("blue", (0, 0, 2000, 2000))
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was turned: the left side is the top
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    save(tmp_path / "turned.jpg", photo, exif=turned, icc_profile=profile)
    save(tmp_path / "wide.png", photo)
    save(tmp_path / "tall.webp", Image.new("RGB", (100, 3200), "red"))
    save(tmp_path / "clear.png", Image.new("RGBA", (2000, 1000), (0, 0, 0, 0)))
    save(tmp_path / "cmyk.jpg", Image.new("CMYK", (1700, 100)))
    save(tmp_path / "grey.png", Image.new("I;16", (2000, 100), 32768))
    sizes = {
        "turned.jpg": (800, 1600), "wide.png": (1600, 800), "tall.webp": (50, 1600), "clear.png": (1600, 800),
        "cmyk.jpg": (1600, 94), "grey.png": (1600, 80),
    }  # fmt: skip
    pictures = folder_pictures(tmp_path, *sizes)
    small = {}
    for image, (name, size) in enumerate(sizes.items()):
        shown = show(pictures, image)
        small[name] = Image.open(io.BytesIO(shown.data))
        assert (small[name].format, shown.kind, small[name].size) == ("JPEG", "image/jpeg", size)
    assert small["turned.jpg"].getpixel((400, 100))[2] > 200, "what was left is on top"
    assert small["turned.jpg"].getexif().get(0x0112, 1) == 1
    assert small["turned.jpg"].info["icc_profile"] == profile
    assert small["clear.png"].getpixel((5, 5)) == (255, 255, 255)
    assert abs(small["grey.png"].getpixel((5, 5))[0] - 128) < 3


def test_pictures_that_fit_the_page_are_sent_as_they_are(tmp_path):
    file = save(tmp_path / "a.png", Image.new("RGB", (SIDE, SIDE), "red"))
    assert show(folder_pictures(tmp_path, "a.png")).data == file.read_bytes()


def test_scaled_pictures_are_kept_until_their_file_changes(tmp_path, monkeypatch):
    file = save(tmp_path / "a.png", Image.new("RGB", (2000, 10), "red"))
    save(tmp_path / "b.png", Image.new("RGB", (2000, 10), "blue"))
    pictures = folder_pictures(tmp_path, "a.png", "b.png")
    decoded = []

    def decode(*given, **more):
        decoded.append(1)
        return decode_bytes(*given, **more)

    monkeypatch.setattr(pictures_module, "decode_bytes", decode)
    first = show(pictures)
    assert show(pictures) == first
    assert show(pictures, tags=["other", first.tag]).data == b""
    assert len(decoded) == 1
    save(file, Image.new("RGB", (3000, 10), "blue"))
    assert show(pictures).tag != first.tag
    assert len(decoded) == 2
    monkeypatch.setattr(pictures_module, "CACHE_BYTES", len(show(pictures).data))
    show(pictures, 1)
    assert pictures._bytes == sum(len(kept.data) for kept in pictures._scaled.values())
    assert pictures._bytes <= pictures_module.CACHE_BYTES


def bomb(width, height):
    """A small PNG with many pixels."""
    rows = zlib.compress(bytes(width // 8 + 1) * height, 9)
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    made = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def test_pictures_with_too_many_pixels_are_refused_before_they_are_decoded(serve, tmp_path, monkeypatch):
    server = serve(make_project(tmp_path / "bombs"))
    ann = server.client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]["id"]
    file = Path(server.project.benchmark().image_paths[server.project.queue.pair_of("ann", item)[0]])
    monkeypatch.setattr(pictures_module, "decode_bytes", None)
    for size, said in (((8000, 8000), "8,000 x 8,000"), ((20_000, 20_000), "more than 150 million")):
        file.write_bytes(bomb(*size))
        answer = ann.get(f"/api/judge/image/{item}")
        assert answer.status_code == 404
        told = f"The image has {said} pixels, and 50 million are allowed; scale it down."
        assert answer.json() == {"error": told}


def test_a_damaged_large_picture_is_refused(tmp_path):
    file = save(tmp_path / "a.jpg", Image.effect_noise((2000, 2000), 50))
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(NoPicture, match="The image is damaged"):
        show(folder_pictures(tmp_path, "a.jpg"))


def test_without_pillow_pictures_are_sent_as_they_are(tmp_path, monkeypatch):
    file = save(tmp_path / "a.png", Image.new("RGB", (2000, 10), "red"))
    monkeypatch.setattr(pictures_module, "find_spec", lambda name: None)
    pictures = folder_pictures(tmp_path, "a.png")
    assert show(pictures).data == file.read_bytes()
    assert "images are sent as they are, not scaled" in pictures.notes()[0]
    assert "pip install 'karat[web]'" in pictures.notes()[0]


def test_browsers_ask_whether_a_picture_has_changed(client):
    ann = client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]["id"]
    first = ann.get(f"/api/judge/image/{item}")
    tag = first.headers["etag"]
    for sent in (tag, f"W/{tag}", f'"other", {tag}'):
        again = ann.get(f"/api/judge/image/{item}", headers={"If-None-Match": sent})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["cache-control"] == first.headers["cache-control"]
    assert ann.get(f"/api/judge/image/{item}", headers={"If-None-Match": '"x"'}).status_code == 200
    other = client("judge", "bob").get(f"/api/judge/image/{item}", headers={"If-None-Match": tag})
    assert other.status_code == 404, "a tag is not a permission"


def test_a_missing_file_says_nothing_about_folders(server, client):
    ann = client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]["id"]
    paths = server.project.benchmark().image_paths
    paths[:] = [f"{path}.gone" for path in paths]
    response = ann.get(f"/api/judge/image/{item}")
    assert response.status_code == 404
    assert response.json() == {"error": "The image file is missing."}
