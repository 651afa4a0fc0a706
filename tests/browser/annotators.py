"""An annotator at the judging page with a keyboard, and what the store then holds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains

from karat.forms import TaskPlan, load_form
from karat.store import create_project
from karat.world import make_world, save_world
from web.servers import PASSWORD, start

READY = "return document.documentElement.dataset.ready === 'yes'"
SAVED = "return document.documentElement.dataset.saved === 'yes'"
ENTER = "\ue007"
LINE = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


@pytest.fixture(scope="session")
def world_folder(tmp_path_factory) -> Path:
    """A small world with pictures."""
    folder = tmp_path_factory.mktemp("world")
    save_world(make_world(images=24, captions=4, seed=1), folder)
    return folder


def make_project(place: Path, world: Path, form, pages: int = 6, tasks: int = 12, overlap: int = 2) -> Path:
    """Make a project of tasks with the same number of pages and no pair in common; some pairs are known."""
    import karat

    benchmark, columns = karat.load_benchmark(str(world)), form.columns
    number = np.arange(tasks * pages * columns)
    page = number // columns
    image = page % len(benchmark.images)
    caption = (7 * number + page // len(benchmark.images)) % len(benchmark.captions)
    position = number % (pages * columns)
    known = np.where(number % 5 == 0, number % 2, -1)
    plan = TaskPlan(
        number // (pages * columns), position, position // columns, image, caption, known, overlap
    )
    with create_project(place, benchmark, form, source=str(world), name="try") as project:
        project.pools.add_tasks(plan)
    return place


class Annotator:
    """An annotator in a tab of the browser."""

    def __init__(self, browser, server, name="ann", role="judge"):
        self.browser, self.server, self.name = browser, server, name
        known = {one.name: one.id for one in server.accounts.users.read()}
        self.id = known.get(name) or server.accounts.users.add(name, role, PASSWORD).id

    def enter(self, guide: bool = False, width: int = 1280, dark: bool = False) -> Annotator:
        """Sign in by a session of one's own and open the page, in a browser that knows nothing of it."""
        self.browser.set(width, dark, 900 if width > 600 else 844)
        driver = self.browser.driver
        address, cookies = self.server.address, self.server.cookies
        kept = {"origin": address, "storageTypes": "cookies,local_storage"}
        driver.execute_cdp_cmd("Storage.clearDataForOrigin", kept)
        value = self.server.accounts.sessions.open(self.id)
        cookie = {"name": cookies.session, "value": value, "path": cookies.path, "url": address}
        driver.execute_cdp_cmd("Network.setCookie", {**cookie, "httpOnly": True, "sameSite": "Strict"})
        self.open()
        if not guide:
            self.browser.run("document.getElementById('guide-close').click()")
        self.browser.complaints()
        return self

    def open(self) -> None:
        """Open or reload the page."""
        self.browser.driver.get(f"{self.server.address}/judge")
        self.browser.wait(READY)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, faster than anybody can, but not while a task is on its way."""
        for key in keys:
            self.browser.wait("return document.querySelector('#card .idle[data-idle=waiting]') === null")
            ActionChains(self.browser.driver, duration=0).send_keys(key).perform()

    def saved(self) -> None:
        """Wait until the server has everything."""
        self.browser.wait(SAVED)

    def text(self, selector: str) -> str:
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def wait_text(self, selector: str, text: str) -> None:
        script = f"return document.querySelector({selector!r})?.textContent.includes({text!r})"
        self.browser.wait(script)

    def connect(self, on: bool) -> None:
        """Pull the network cable, or put it back."""
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**LINE, "offline": not on})

    def rows(self) -> list[dict]:
        """Every row of this annotator, as it was written."""
        return [row for row in self.server.project.answers.history() if row["annotator"] == self.name]

    def answers(self) -> list[tuple]:
        """Code and details in effect, in the order in which items were shown."""
        table = self.server.project.answers.read()
        mine = [row for row in range(len(table)) if table.annotators[table.annotator[row]] == self.name]
        last = {(row["assignment"], row["item"]): row for row in self.rows()}
        held = {row["assignment"] for row in last.values()} & {int(table.assignment[row]) for row in mine}
        kept = [
            row for (assignment, _), row in last.items() if row["code"] is not None and assignment in held
        ]
        assert len(kept) == len(mine), "the store counts what was answered last, once"
        first = {}
        for row in self.rows():
            first.setdefault(row["assignment"], row["id"])
        kept.sort(key=lambda row: (first[row["assignment"]], row["item"]))
        return [(row["code"], row["details"]) for row in kept]

    def nothing_doubled(self) -> None:
        """No key came twice, and no answer repeats the one before it."""
        rows = self.rows()
        assert len({row["key"] for row in rows}) == len(rows)
        last: dict = {}
        for row in rows:
            place = (row["assignment"], row["item"])
            assert last.get(place) != (row["code"], row["details"]), "the same answer was written twice"
            last[place] = (row["code"], row["details"])

    def leave(self, tasks: int) -> None:
        """Close the page, and wait until so many tasks are submitted: unsent answers arrive."""
        self.browser.driver.get("about:blank")
        end = time.monotonic() + 60
        while self.handed_in() < tasks:
            assert time.monotonic() < end, "the last task was not submitted"
            time.sleep(0.05)

    def handed_in(self) -> int:
        """How many tasks this annotator has submitted."""
        assignments, (names, _) = (
            self.server.project.queue.assignments(),
            self.server.project.annotators.read(),
        )
        return int(
            ((assignments.state == "submitted") & (assignments.annotator == names.index(self.name))).sum()
        )


@pytest.fixture(scope="session")
def servers(tmp_path_factory, world_folder):
    """A server for each form, started when first asked for."""
    made, folder, world = {}, tmp_path_factory.mktemp("judging"), world_folder

    def get(form):
        if form not in made:
            loaded = load_form(form)
            pages = 2 if loaded.layout == "grid" else 6
            made[form] = start(make_project(folder / f"{form}.db", world, loaded, pages))
        return made[form]

    yield get
    for server in made.values():
        server.stop()


@pytest.fixture
def annotators(browser, servers, request):
    """Return a function that signs a new annotator in."""

    def enter(form="pair", **look):
        return Annotator(browser, servers(form), f"{request.node.name[:40]}").enter(**look)

    yield enter
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**LINE, "offline": False})
