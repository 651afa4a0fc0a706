"""Pictures: of one's own items only, by what their bytes say, and never a word about folders."""

import pytest

from karat.benchmarks import picture_kind
from karat.web.judging.pictures import MOST_BYTES, NoPicture, read_bytes
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


def test_files_that_are_no_pictures(tmp_path):
    with pytest.raises(NoPicture, match="missing"):
        read_bytes(tmp_path / "nothing.png")
    with pytest.raises(NoPicture, match="missing"):
        read_bytes(tmp_path)
    large = tmp_path / "large.png"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(NoPicture, match="too large"):
        read_bytes(large)
    assert picture_kind(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>") is None
    assert picture_kind(b"<html>") is None
    assert picture_kind(b"") is None


def test_a_missing_file_says_nothing_about_folders(server, client):
    ann = client("judge", "ann")
    item = lease(ann)["lease"]["items"][0]["id"]
    paths = server.project.benchmark().image_paths
    paths[:] = [f"{path}.gone" for path in paths]
    response = ann.get(f"/api/judge/image/{item}")
    assert response.status_code == 404
    assert response.json() == {"error": "The image file is missing."}
