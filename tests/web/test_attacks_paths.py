"""A project from a stranger names files of the operator: they are neither read nor shown."""

import json
import os
from pathlib import Path

import pytest

import karat
from karat.errors import InputError
from karat.forms import load_form
from karat.store import create_project
from karat.web import service
from karat.web.app import close_app, create_app
from karat.web.settings import Settings

PICTURE = b"\x89PNG\r\n\x1a\n private"


@pytest.fixture
def received(tmp_path, monkeypatch):
    """A project and its benchmark, made by somebody else; its images are in a folder of the operator."""
    private, inbox = tmp_path / "private", tmp_path / "inbox"
    for folder in (private, inbox):
        folder.mkdir()
    (private / "holiday.png").write_bytes(PICTURE)
    listed = {
        "images": [{"id": 1, "file_name": "holiday.png"}],
        "annotations": [{"id": 1, "image_id": 1, "caption": "x"}],
        "info": {},
    }
    (inbox / "captions.json").write_text(json.dumps(listed))
    with monkeypatch.context() as stranger:
        stranger.setenv("KARAT_CONFIG", str(Path(os.environ["KARAT_CONFIG"]) / "stranger"))
        source, settings = str(inbox / "captions.json"), {"images": str(private)}
        bench = karat.load_benchmark(source, **settings)
        with create_project(
            inbox / "p.db", bench, load_form("pair"), source=source, settings=settings
        ) as made:
            made.accounts.users.add("mallory", "owner", "a long pass phrase")
    return inbox / "p.db"


@pytest.fixture
def started(monkeypatch):
    """What the operator is told; the command returns as soon as the server would run."""
    told = []

    class Server:
        def run(self, sockets):
            told.append("started")

    monkeypatch.setattr(service, "make_server", lambda *arguments: Server())
    return told


def serve(place, told, **more):
    service.serve(place, port=0, tell=told.extend, **more)


@pytest.mark.parametrize("more", [{}, {"public_url": "https://judge.example.org", "confirm": True}])
def test_the_server_of_a_strangers_project_does_not_start(received, started, more):
    private = received.parent.parent / "private"
    with pytest.raises(InputError, match="which you have not named on this machine") as error:
        serve(received, started, **more)
    assert started == []
    assert str(error.value.what).startswith(f"names the images {private}")
    command = f"karat project locate {received} {received.parent}/captions.json --set images={private}"
    assert error.value.fix == f"if it may be read and shown, run {command}"


def test_no_page_shows_its_pictures(received):
    app = create_app(Settings(str(received)))
    try:
        with pytest.raises(InputError, match="which you have not named"):
            app.state.pictures.read(0)
    finally:
        close_app(app)


def test_the_operator_is_told_what_is_read(received, started):
    private = received.parent.parent / "private"
    karat.project.locate(received, received.parent / "captions.json", setting={"images": str(private)})
    serve(received, started)
    assert started[-1] == "started"
    assert f"reads the benchmark from {received.parent}/captions.json, images={private}" in started
    assert f"reads images below {private}" in started
    assert not [line for line in started if line.startswith("reads the runs")]


def test_nothing_else_reads_them_either(received, tmp_path):
    for read in (
        lambda: karat.project.publish(received, tmp_path / "out"),
        lambda: karat.project.export(received, tmp_path / "tasks.csv"),
    ):
        with pytest.raises(InputError, match="which you have not named"):
            read()
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "tasks.csv").exists()
