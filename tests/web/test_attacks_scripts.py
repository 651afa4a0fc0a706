"""Scripts in names, captions, forms and answers: text everywhere, and nothing that would run them."""

import re
from pathlib import Path

import pytest

import karat
from karat import reports
from karat.forms import AnswerRows, Choice, Form, load_form
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice
from karat.store import create_project
from karat.web.security.middleware import POLICY
from karat.world import make_world, save_world, simulate_systems
from web.servers import PASSWORD

SCRIPT = "<script>alert('{}')</script><img src=x onerror=alert(1)>\"'>&"


@pytest.fixture
def hostile(tmp_path, serve):
    """A server whose every text is an attack: captions, the form, the project, annotators, users."""
    import polars as pl

    world = make_world(images=12, captions=2, seed=1)
    save_world(world, tmp_path / "world")
    captions = pl.read_parquet(tmp_path / "world" / "captions.parquet")
    text = next(name for name in captions.columns if captions[name].dtype == pl.String and "text" in name)
    captions.with_columns(pl.lit(SCRIPT.format("caption")).alias(text)).write_parquet(
        tmp_path / "world" / "captions.parquet"
    )
    bench = karat.load_benchmark(str(tmp_path / "world"))
    said = SCRIPT.format("form")
    yes, no = Choice("yes", said, "1", 1, 1), Choice("no", said, "2", 0, 0)
    form = Form("own", said, said, (yes, no), guidelines=(said,))
    place = tmp_path / "hostile.db"
    pool = make_pool(
        simulate_systems(world, seed=1), bench, top=2, form=load_form("pair"), gold=GoldChoice(depth=2)
    )
    name = SCRIPT.format("project")
    with create_project(place, bench, form, source=str(tmp_path / "world"), name=name) as project:
        project.pools.add(pool)
        project.pools.add_tasks(make_tasks(pool, form, gold=0))
        annotator = SCRIPT.format("annotator")
        project.answers.record(AnswerRows([-1, -1], [0, 1], [0, 1], [annotator, annotator], ["yes", "no"]))
    return serve(place)


@pytest.mark.parametrize("role", ["owner", "judge", "reader"])
def test_no_page_holds_a_script_that_somebody_wrote(hostile, role):
    name = SCRIPT.format("name")[:60]
    hostile.accounts.users.add(name, "owner", PASSWORD)
    hostile.accounts.users.add("second", "owner", PASSWORD)
    hostile.accounts.invitations.invite("judge", SCRIPT.format("invited")[:60])
    somebody = hostile.client(role, name) if role == "owner" else hostile.client(role)
    seen = 0
    for path in sorted(hostile.app.openapi()["paths"]):
        if "{" in path or "stream" in path or "events" in path:
            continue
        answer = somebody.get(path)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.status_code < 500, path
        if answer.headers.get("content-type", "").startswith("text/html"):
            seen += 1
            assert "<script>" not in answer.text, path
            assert "<img src=x" not in answer.text, path
            # All scripts and styles are files of ours.
            for script in re.findall(r"<script[^>]*>", answer.text):
                assert re.search(r'src="/static/[\w/.-]+"', script), script
            assert not re.search(
                r"<style|\sstyle=|\son\w+=\"|javascript:", answer.text.replace("&", ""), re.I
            )
    assert seen >= 2
    if role == "owner":
        page = somebody.get("/users").text
        assert page.count("&lt;script&gt;alert(&#39;name&#39;)") >= 2
        assert "&lt;script&gt;alert(&#39;project&#39;)" in page
        assert "&lt;script&gt;alert(&#39;invited&#39;)" in page


def test_every_kind_of_answer_has_every_header(server, client):
    visitor, owner = server.visitor(), client("owner")
    answers = [
        visitor.get("/login"), visitor.get("/nowhere"), visitor.get("/users"),
        visitor.get("/static/app.css"),
        visitor.get("/static/nothing.css"), visitor.get("/api/session"), visitor.post("/api/session"),
        owner.post("/api/users/links", json={}), owner.get("/users"), owner.get("/api/users/1/export"),
        visitor.get("/", headers={"Host": "evil.example"}), owner.request("TRACE", "/"),
        owner.post("/api/users/links", content=b"x" * 300_000),
    ]  # fmt: skip
    assert {one.status_code for one in answers} >= {200, 303, 400, 403, 404, 405, 413, 422}
    for one in answers:
        assert one.headers["content-security-policy"] == POLICY
        assert "unsafe" not in one.headers["content-security-policy"]
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["x-frame-options"] == "DENY"
        assert one.headers["referrer-policy"] == "same-origin"
        assert one.headers["cross-origin-opener-policy"] == "same-origin"
        assert "cache-control" in one.headers or one.request.url.path.startswith("/static")
        assert "server" not in one.headers
    assert owner.get("/users").headers["cache-control"] == "no-store"


def test_scripts_and_styles_ask_nobody_else():
    from karat.web.pages import STATIC

    folders = (STATIC, Path(reports.__file__).parent / "static")
    files = [path for folder in folders for kind in ("*.js", "*.css") for path in folder.rglob(kind)]
    assert {"judge", "js", "css"} <= {path.parent.name for path in files}
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), path
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        ), path
