"""A project names files: only those are read that the user named here, or that came with the project."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

import karat
from karat._util.seals import read_key
from karat.errors import InputError, KaratError, MissingDataError
from karat.project import estimate, locate
from karat.store import Goal, create_project, open_project, paths_of
from karat.store.stored_paths import BENCHMARK, below, is_above_home
from karat.world import make_world, save_world

from .small import FORM


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A benchmark in a folder."""
    folder = tmp_path_factory.mktemp("world")
    save_world(make_world(images=6, captions=2, seed=1), folder / "my", pictures=False)
    return folder / "my"


@pytest.fixture
def private(template, tmp_path):
    """A benchmark that a stranger would like to see."""
    shutil.copytree(template, tmp_path / "private" / "my")
    return tmp_path / "private" / "my"


def make(folder: Path, source, **settings) -> Path:
    folder.mkdir(exist_ok=True)
    bench = karat.load_benchmark(source, **settings)
    create_project(folder / "p.db", bench, FORM, source=str(source), settings=settings).close()
    return folder / "p.db"


@pytest.fixture
def received(private, tmp_path, monkeypatch):
    """A project that somebody else made, and whose benchmark is in a folder of this user."""
    return elsewhere(monkeypatch, lambda: make(tmp_path / "inbox", private))


def elsewhere(monkeypatch, work):
    """Do something as another user would: the key is another one."""
    with monkeypatch.context() as patch:
        patch.setenv("KARAT_CONFIG", str(Path(os.environ["KARAT_CONFIG"]) / "stranger"))
        return work()


def refused(place, match="which you have not named on this machine"):
    with open_project(place) as project, pytest.raises(InputError, match=match) as error:
        project.benchmark()
    return error.value


def test_the_paths_of_a_strangers_project_are_not_followed(received, private):
    error = refused(received)
    assert error.fix == f"if it may be read and shown, run karat project locate {received} {private}"


def test_what_was_named_is_followed_also_after_it_was_moved(received, private, tmp_path):
    done = locate(received, private)
    assert str(done) == f"{received} reads its benchmark from {private}"
    for place in (received, tmp_path / "moved.db"):
        if not place.exists():
            received.rename(place)
        with open_project(place) as project:
            assert project.benchmark().images.size == 6


def test_own_projects_go_on(private, tmp_path):
    with open_project(make(tmp_path / "own", private)) as project:
        assert project.benchmark().images.size == 6


def test_another_project_does_not_profit_from_a_seal(received, private, tmp_path, monkeypatch):
    """The seal is of this project and these paths: it is worth nothing beside others."""
    with open_project(make(tmp_path / "own", private)) as own, open_project(received) as other:
        other.journal.set(BENCHMARK, own.journal.get(BENCHMARK))
    refused(received)
    for nonsense in ("x", 7, ["x", 7, None], {}):
        with open_project(received) as other:
            other.journal.set(BENCHMARK, nonsense)
        refused(received)


def test_below_the_project_and_below_the_data_everything_is_read(template, private, tmp_path, monkeypatch):
    inbox = tmp_path / "inbox"
    shutil.copytree(template, inbox / "my")
    place = elsewhere(monkeypatch, lambda: make(inbox, inbox / "my"))
    with open_project(place) as project:
        assert project.benchmark().images.size == 6
    other = elsewhere(monkeypatch, lambda: make(tmp_path / "other", private))
    refused(other)
    monkeypatch.setenv("KARAT_DATA", str(private.parent))
    with open_project(other) as project:
        assert project.benchmark().images.size == 6


def test_a_path_that_begins_nowhere_begins_where_the_user_works(received, private, tmp_path, monkeypatch):
    elsewhere(monkeypatch, lambda: relink(received, "my"))
    monkeypatch.chdir(private.parent)
    with open_project(received) as project:
        assert project.benchmark().images.size == 6
    # But not in the folder of everything.
    monkeypatch.setenv("HOME", str(private.parent))
    refused(received)
    monkeypatch.setenv("HOME", str(private.parent / "my" / "home"))
    refused(received)
    monkeypatch.undo()
    elsewhere(monkeypatch, lambda: relink(received, "../private/my"))
    monkeypatch.chdir(received.parent)
    refused(received)


@pytest.mark.parametrize("how", ["folder", "file"])
def test_links_that_came_with_the_project_lead_nowhere(template, private, tmp_path, monkeypatch, how):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    if how == "folder":
        (inbox / "my").symlink_to(private)
    else:
        shutil.copytree(template, inbox / "my")
        (inbox / "my" / "captions.parquet").unlink()
        (inbox / "my" / "captions.parquet").symlink_to(private / "captions.parquet")
    # As a stranger writes it: create_project stores the path that a link leads to.
    place = elsewhere(monkeypatch, lambda: make(inbox, inbox / "my"))
    elsewhere(monkeypatch, lambda: relink(place, inbox / "my"))
    refused(place)


def relink(place, source):
    with open_project(place) as project, project.database.write() as connection:
        connection.exec_driver_sql("UPDATE project SET source = ?", (str(source),))


def test_the_folder_of_images_is_checked_too(tmp_path, monkeypatch):
    inbox, private = tmp_path / "inbox", tmp_path / "private"
    for folder in (inbox, private):
        folder.mkdir()
    (inbox / "results.json").write_text(
        '{"images": [{"id": 1, "file_name": "a.png"}], "info": {},'
        ' "annotations": [{"id": 1, "image_id": 1, "caption": "x"}]}'
    )
    (private / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    monkeypatch.chdir(inbox)
    for images in (str(private), "../private", str(inbox / "link")):
        (inbox / "link").unlink(missing_ok=True)
        (inbox / "link").symlink_to(private)
        place = elsewhere(monkeypatch, partial(make, inbox, inbox / "results.json", images=images))
        error = refused(place)
        assert "names the images" in error.what
        place.unlink()
    place = elsewhere(monkeypatch, lambda: make(inbox, inbox / "results.json", images=str(private)))
    with pytest.raises(InputError, match="the setting images is a path, and is not named"):
        locate(place, inbox / "results.json")
    done = locate(place, inbox / "results.json", setting={"images": "../private"})
    assert done.settings == {"images": str(private)}
    with open_project(place) as project:
        assert project.benchmark().image_paths


def test_a_benchmark_that_is_elsewhere_can_be_named(private, tmp_path, monkeypatch):
    place = elsewhere(monkeypatch, lambda: make(tmp_path / "inbox", private))
    private.rename(tmp_path / "here")
    with open_project(place) as project, pytest.raises(MissingDataError) as error:
        project.benchmark()
    assert error.value.fix == f"say where it is: karat project locate {place} FOLDER"
    save_world(make_world(images=7, captions=2, seed=2), tmp_path / "another", pictures=False)
    with pytest.raises(InputError, match="its ids differ"):
        locate(place, tmp_path / "another")
    with pytest.raises(MissingDataError):
        open_project(place).benchmark()
    locate(place, tmp_path / "here")
    with open_project(place) as project:
        assert project.benchmark().images.size == 6


def test_runs_of_a_goal_are_read_only_if_the_user_chose_them(received, private, tmp_path, monkeypatch):
    goal = Goal(
        runs=(str(tmp_path / "private" / "a.npy"),), measure="P@1", direction="i2t", rule="width", number=0.1
    )

    def choose():
        with open_project(received) as project:
            project.goals.set(goal)

    elsewhere(monkeypatch, choose)
    locate(received, private)
    with pytest.raises(InputError, match=r"its goal names the run .*private/a.npy, which you have not named"):
        estimate(received)
    with open_project(received) as project:
        project.paths.check_runs([str(received.parent / "a.npy")])
        with pytest.raises(InputError):
            project.paths.check_runs(["hf:/models/any"])
    choose()
    with pytest.raises(MissingDataError, match=r"a\.npy"):
        estimate(received)


def test_what_is_a_path():
    assert paths_of("coco", {"cxc_ratings": "r.csv"}) == {"cxc_ratings": Path("r.csv")}
    assert paths_of("flickr8k", {"split": "tests", "caption": "2"}) == {}
    assert paths_of("/data/my", {"strange": "/etc/passwd", "word": "w"}) == {
        "": Path("/data/my"), "strange": Path("/etc/passwd"),
    }  # fmt: skip
    assert below("/", ["/"])
    assert is_above_home(Path("/"))
    assert is_above_home(Path.home())
    assert not is_above_home(Path.home() / "downloads")


@pytest.mark.parametrize("path", ["/private\0", "\x1b[2J/private"])
def test_strange_paths_are_printed_safely(received, path):
    relink(received, path)
    with open_project(received) as project, pytest.raises(KaratError) as error:
        project.benchmark()
    assert "\x1b" not in str(error.value)


def test_a_key_that_others_can_read_is_worth_nothing(private, tmp_path, monkeypatch):
    place = make(tmp_path / "own", private)
    key = Path(os.environ["KARAT_CONFIG"]) / "seal.key"
    key.chmod(0o644)
    # Another program would read it now; this one has read it before.
    read_key.cache_clear()
    try:
        refused(place)
        with pytest.raises(InputError, match="other users can read the key"):
            locate(place, private)
    finally:
        key.chmod(0o600)
