"""A goal from the first pair to the stop line: dashboard, keyboard, HTTP, and a crash in the middle."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

from axe_core_python.selenium import Axe
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from typer.testing import CliRunner

import karat
from browser.annotators import Annotator
from browser.test_judging_world import KEYS, SHOWN, answer_of
from karat.cli.project import app
from karat.estimation import estimate_goal, estimate_project
from karat.forms import load_form
from karat.judging import make_pool
from karat.judging.pools import GoldChoice
from karat.store import create_project, open_project
from karat.web.settings import Settings
from karat.world import make_world, save_world, simulate_systems
from web.conftest import _quick_hashes  # noqa: F401
from web.process import ServerProcess
from web.servers import Served

PAIRS, BY_HAND = 200, 40
RUNS = ("ours", '"><img src=x onerror=hurt=1>')
"""Names of files are shown as they are, and run nothing."""
LABELS = "return Number(document.getElementById('goal').dataset.labels)"
STATE = "return document.getElementById('proposal').dataset.state"
LIVE = "return document.getElementById('live').dataset.state"
CELLS = "return [...document.querySelectorAll('#goal-runs td')].map((cell) => cell.textContent)"
INTERVAL = re.compile(r"(−?[\d.]+) to (−?[\d.]+)")


def answer_tasks(client, world, plan, name, tasks):
    """Answer some tasks by requests, as the page sends them; return whether there were so many."""
    for _ in range(tasks):
        lease = client.post("/api/judge/lease", json={}).json()["lease"]
        if lease is None:
            return False
        for item in lease["items"]:
            row = item["id"]
            code, details = answer_of(world, name, int(plan.image[row]), int(plan.caption[row]))
            given = {"token": lease["token"], "item": row, "code": code, "details": details}
            reply = client.post("/api/judge/answer", json={**given, "key": f"{name}-{row:08d}"})
            assert reply.is_success, reply.text
        assert client.post("/api/judge/submit", json={"token": lease["token"]}).is_success
    return True


@pytest.fixture
def served(tmp_path):
    """A server in a process of its own, which can be killed; the world, and the files of two runs."""
    world = make_world(images=40, captions=2, seed=4)
    save_world(world, tmp_path / "world")
    bench = karat.load_benchmark(tmp_path / "world")
    systems = simulate_systems(world, seed=1)[:2]
    files = [tmp_path / f"{name}.npy" for name in RUNS]
    for file, run in zip(files, systems):
        np.save(file, run.scores)
    place = tmp_path / "project.db"
    with create_project(place, bench, load_form("pair"), source=str(tmp_path / "world"), name="w") as made:
        made.pools.set(make_pool(systems, bench, top=2, gold=GoldChoice(depth=5)))
    options = [word for file in files for word in ("--run", str(file))]
    with open_project(place) as project, ServerProcess(str(place), options=options) as process:
        server = Served(Settings(str(place), port=process.port), project)
        yield server, process, world, files
        server.close_clients()
        assert process.stop() in (0, -15)
        assert "Traceback" not in process.said()


def stored(project):
    """What must survive: draws with their probabilities, the goal, and answers."""
    draws = [
        (
            batch.design,
            batch.keys.tolist(),
            batch.probability.tolist(),
            batch.stratum.tolist(),
            batch.settings,
        )
        for batch in project.draws.read()
    ]
    return draws, project.goals.read(), list(project.answers.history())


def answer_by_keyboard(annotator, world, plan, number):
    """Answer the pairs that the page shows, one after the other."""
    browser = annotator.browser
    last = browser.run(f"return {SHOWN}") if annotator.rows() else -1
    for k in range(number):
        annotator.press()
        if k or last < 0:
            browser.wait(f"return ![-1, {last}].includes({SHOWN})")
        last = browser.run(f"return {SHOWN}")
        annotator.press(KEYS[answer_of(world, "ann", int(plan.image[last]), int(plan.caption[last]))[0]])


def test_from_a_goal_to_the_stop_line(browser, served, pictures):
    server, process, world, files = served
    project, driver = server.project, browser.driver
    owner = Annotator(browser, server, "owner", "owner").enter()
    driver.get(f"{server.address}/dashboard")
    browser.wait(
        "return document.documentElement.dataset.ready === 'yes' && !document.getElementById('goal').hidden"
    )
    browser.run("window.same = true")

    # The goal, by its form.
    browser.wait("return document.getElementById('set-goal').open")
    for name, value in (("measure", "P@5"), ("number", "9")):
        field = driver.find_element(By.ID, f"goal-{name}")
        field.clear()
        field.send_keys(value)
    driver.find_element(By.ID, "goal-number").send_keys(Keys.ENTER)
    browser.wait("return document.getElementById('goal-what').textContent.startsWith('P@5')", 60)
    goal = project.goals.read()
    assert (goal.runs, goal.measure, goal.rule, goal.number) == (tuple(map(str, files)), "P@5", "width", 0.09)

    # More pairs: what they cost, and only then the queue.
    field = driver.find_element(By.ID, "ask-number")
    field.clear()
    field.send_keys(str(PAIRS), Keys.ENTER)
    browser.wait(f"{STATE} === 'proposed'", 60)
    assert f"{PAIRS} pairs drawn." in owner.text("#proposal")
    assert "hours" in owner.text("#proposal")
    assert project.draws.read() == []
    browser.run("document.getElementById('proposal-add').click()")
    browser.wait(f"{STATE} === 'added'", 60)
    assert [len(batch) for batch in project.draws.read()] == [PAIRS]
    plan = project.pools.plan()

    # Forty answers by keyboard in another tab, from task to task; the dashboard stays open.
    dashboard, before = driver.current_window_handle, browser.run(LABELS)
    driver.switch_to.new_window("tab")
    judging = driver.current_window_handle
    # Under another name of this machine: the browser keeps the cookies of the owner and of Ann apart.
    ann = Annotator(browser, replace(server, host="localhost")).enter()
    answer_by_keyboard(ann, world, plan, BY_HAND // 2)
    ann.saved()
    before_kill = stored(project)
    assert len(before_kill[-1]) == BY_HAND // 2

    # The server dies in the middle. Both pages say so; an answer waits in the browser.
    process.kill()
    answer_by_keyboard(ann, world, plan, 1)
    ann.wait_text("#saved", "1 unsent answer")
    driver.switch_to.window(dashboard)
    browser.wait(f"{LIVE} !== 'on'")
    assert stored(project) == before_kill
    process.start()
    process.wait()
    browser.wait(f"{LIVE} === 'on'", 60)
    driver.switch_to.window(judging)
    ann.saved()
    draws, goal_after, answers = stored(project)
    assert (draws, goal_after, answers[:-1]) == before_kill
    answer_by_keyboard(ann, world, plan, BY_HAND - BY_HAND // 2 - 1)
    ann.saved()
    assert len(ann.rows()) == BY_HAND
    ann.nothing_doubled()
    sizes = np.bincount(plan.task)
    assert ann.handed_in() >= 2
    assert sizes.max() * 2 < BY_HAND, "several tasks"
    driver.close()
    driver.switch_to.window(dashboard)
    browser.wait(f"{LABELS} > {before}", 60)

    # The rest over HTTP: the interval narrows on the page that was open all the time.
    people, widths = {name: server.client("judge", name) for name in ("bob", "cyd", "dan", "eve")}, []
    while True:
        before = browser.run(LABELS)
        more = [answer_tasks(client, world, plan, name, 4) for name, client in people.items()]
        if not any(more):
            break
        browser.wait(f"{LABELS} > {before}", 60)
        if found := [match for cell in browser.run(CELLS) if (match := INTERVAL.fullmatch(cell))]:
            low, high = map(float, found[0].groups())
            widths.append(high - low)
    assert len(widths) > 1
    assert widths[-1] < widths[0]
    browser.wait("return document.querySelectorAll('#goal-charts [data-stop=yes]').length === 2", 60)

    # The library and the command say the same as the page.
    records = estimate_goal(project).records()
    alone = estimate_project(project, files, "P@5", direction="t2i", rule="within<=0.09")
    assert alone.records() == records
    assert alone.stop
    printed = CliRunner().invoke(app, ["estimate", project.where])
    assert printed.exit_code == 0, printed.output
    for record in records:
        value, low, high = (f"{100 * record[key]:.2f}" for key in ("value", "low", "high"))
        assert f"{value} ({low} to {high})" in printed.output
        shown = "goal-differences" if record["other"] else "goal-runs"
        text = f"{value}{low} to {high}".replace("-", "−")
        browser.wait(f"return document.getElementById('{shown}').textContent.includes('{text}')", 60)
    assert browser.run("return document.getElementById('goal-said').dataset.reached") == "yes"
    assert browser.run("return window.same") is True, "without a reload"
    assert RUNS[1] in owner.text("#goal-runs")
    assert browser.run("return window.hurt === undefined && !document.querySelector('#goal img')")
    # The browser itself says that the server was away.
    assert [line for line in browser.complaints() if "net::ERR_" not in line] == []

    for width, dark in ((1280, False), (390, False), (1280, True), (390, True)):
        browser.set(width, dark)
        browser.picture(pictures / f"goal-{width}-{'dark' if dark else 'light'}.png")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        if (width > 1000) != dark:
            found = Axe().run(driver)["violations"]
            serious = [(one["id"], one["nodes"][0]["html"][:200]) for one in found
                       if one["impact"] in ("serious", "critical")]  # fmt: skip
            assert serious == []
