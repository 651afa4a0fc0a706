"""Draw the pictures of docs/estimate-project.md and docs/judging-page.md that show a goal.

It follows the tutorial in a temporary folder, and takes its pictures with the browser of the tests::

    PYTHONPATH=src:tests python scripts/goal_pictures.py docs/images
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

from browser.annotators import Annotator
from browser.chromium import Browser, start
from karat.cli.main import built
from karat.forms import AnswerRows
from karat.store import Goal, Project
from karat.world import read_world
from web import servers

PAGE = Path(__file__).parents[1] / "docs" / "estimate-project.md"
WIDTH = 1000


def karat(*words: str) -> None:
    """Call a command."""
    result = CliRunner().invoke(built(), list(words))
    assert result.exit_code == 0, result.output


def answer(project: Project, tasks: int) -> None:
    """Answer some open tasks, as the tutorial does."""
    plan, assignments = project.pools.plan(), project.queue.assignments()
    yes = read_world("my").pair_shares(plan.image, plan.caption) == 1
    yes ^= np.random.default_rng(1).random(len(plan)) < 0.01
    rows = np.flatnonzero(np.isin(plan.task, assignments.task[assignments.state == "open"][:tasks]))
    codes = ["yes" if yes[row] else "no" for row in rows]
    pairs = (column[rows] for column in (plan.task, plan.image, plan.caption))
    project.answers.record(AnswerRows(*pairs, ["you"] * len(rows), codes))


def save(browser: Browser, selector: str, path: Path, height: float | None = None) -> None:
    """Keep a picture of one element over the whole width, in 64 colours."""
    top, tall = browser.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.top + scrollY, box.height]",
        selector,
    )
    clip = {"x": 0, "y": max(top - 8, 0), "width": WIDTH, "height": height or tall + 16, "scale": 1}
    asked = {"clip": clip, "captureBeyondViewport": True}
    data = browser.driver.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]
    picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    picture.quantize(64).save(path, optimize=True)


def main(folder: Path) -> None:
    """Draw all pictures."""
    form = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert form is not None
    Path("fits.toml").write_text(form[1], encoding="utf-8")
    karat("world", "make", "--images", "200", "--systems", "-o", "my")
    for name, system in (("a", "seer"), ("b", "learner")):
        Path(f"my/runs/{system}.npy").rename(f"{name}.npy")
    runs = ("--run", "a.npy", "--run", "b.npy")
    karat("project", "pool", "a.npy", "b.npy", "-b", "my/", "--top", "10", "--direction", "t2i",
          "--form", "fits.toml", "-o", "project.db")  # fmt: skip
    karat("project", "next", "project.db", *runs, "--budget", "200", "-m", "P@10", "--direction", "t2i",
          "--overlap", "1")  # fmt: skip
    browser = start(Path("profile").resolve())
    try:
        # On a copy: a task that the page has begun stays leased.
        shutil.copy("project.db", "copy.db")
        draw_answer(browser, "copy.db", folder)
        draw_goal(browser, "project.db", folder)
    finally:
        browser.driver.quit()


def draw_answer(browser: Browser, place: str, folder: Path) -> None:
    """Draw the judging page."""
    server = servers.start(place)
    try:
        Annotator(browser, server).enter(width=WIDTH)
        browser.wait("return document.querySelector('#card img')?.complete")
        save(browser, "body", folder / "estimate-answer.png", 790)
    finally:
        server.stop()


def draw_goal(browser: Browser, place: str, folder: Path) -> None:
    """Draw what 300 more pairs cost, and the goal when it is reached."""
    files = tuple(str(Path(name).resolve()) for name in ("a.npy", "b.npy"))
    server = servers.start(place, runs=files)
    try:
        project = server.project
        project.goals.set(Goal(files, "P@10", "t2i", "width", 0.035, noisy=False))
        Annotator(browser, server, "you", "owner").enter(width=WIDTH)
        browser.driver.get(f"{server.address}/dashboard")
        browser.wait("return document.documentElement.dataset.ready === 'yes'")
        answer_all(server)
        browser.run(
            "document.getElementById('ask-overlap').value = 1;"
            "const field = document.getElementById('ask-number');"
            "field.value = 300;"
            "field.dispatchEvent(new Event('input'));"
            "document.getElementById('ask-button').click()"
        )
        browser.wait("return document.getElementById('proposal').dataset.state === 'proposed'", 60)
        save(browser, "#ask", folder / "estimate-ask.png")
        browser.run("document.getElementById('proposal-add').click()")
        browser.wait("return document.getElementById('proposal').dataset.state === 'added'", 60)
        answer_all(server)
        browser.wait("return document.getElementById('goal').dataset.labels === '500'", 60)
        browser.run("document.getElementById('ask').hidden = true")
        save(browser, "#goal", folder / "judging-goal.png")
    finally:
        server.stop()


def answer_all(server: servers.Server) -> None:
    """Answer all open tasks, and estimate after each."""
    while (server.project.queue.assignments().state == "open").any():
        answer(server.project, 1)
        server.app.state.goal.compute()


if __name__ == "__main__":
    wanted = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        main(wanted)
        os.chdir("/")
