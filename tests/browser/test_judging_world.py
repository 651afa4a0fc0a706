"""A world judged on the page and over HTTP: what is published equals what is published without the web."""

import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")

import polars as pl
from polars.testing import assert_frame_equal

import karat
from browser.annotators import Annotator
from karat.forms import AnswerRows, load_form
from karat.judging import make_pool, make_tasks, publish
from karat.judging.pools import GoldChoice
from karat.store import create_project
from karat.world import make_world, save_world, simulate_systems
from web.servers import start

FORM = load_form("pair")
BY_HAND, PER_TASK = 40, 10
KEYS = {"yes": "1", "no": "4"}
SHOWN = r"Number(/image\/(\d+)/.exec(document.querySelector('#card img')?.src ?? 'image/-1')?.[1] ?? -1)"
"""In the page: the number of the item whose picture is shown, which is its row in the plan."""


def answer_of(world, annotator, image, caption):
    """What an annotator answers and why: mostly right, and always the same about a pair."""
    share = float(world.pair_shares([image], [caption])[0])
    slip = np.random.default_rng([ord(annotator[0]), image, caption]).random() < 0.05
    if annotator == "ann":
        # By hand, without reasons.
        return ("yes" if (share == 1) != slip else "no"), {}
    right = "yes" if share == 1 else "partially" if share >= 0.5 else "mostly_no" if share > 0 else "no"
    code = "no" if slip else right
    return code, {"shortcomings": ["not_in_image"]} if code in ("partially", "mostly_no") else {}


def over_http(server, world, plan, name):
    """Answer every task that is left for an annotator, by requests; return these rows of the plan."""
    client, asked = server.client("judge", name), []
    while True:
        lease = client.post("/api/judge/lease", json={}).json()["lease"]
        if lease is None:
            return asked
        for item in lease["items"]:
            row = item["id"]
            code, details = answer_of(world, name, int(plan.image[row]), int(plan.caption[row]))
            given = {"token": lease["token"], "item": row, "code": code, "details": details}
            reply = client.post("/api/judge/answer", json={**given, "key": f"{name}-{row:08d}"})
            assert reply.is_success, reply.text
            asked.append(row)
        assert client.post("/api/judge/submit", json={"token": lease["token"]}).is_success


def test_what_is_published_is_the_same_without_the_web(browser, tmp_path):
    world = make_world(images=24, captions=2, seed=4)
    save_world(world, tmp_path / "world")
    bench = karat.load_benchmark(tmp_path / "world")
    pool = make_pool(simulate_systems(world, seed=1)[:3], bench, top=2, gold=GoldChoice(depth=5))
    plan = make_tasks(pool, FORM, task_size=PER_TASK - 2, gold=2, overlap=2, seed=3)
    for name in ("web", "plain"):
        with create_project(
            tmp_path / f"{name}.db", bench, FORM, source=str(tmp_path / "world"), name="w"
        ) as made:
            made.pools.set(pool)
            made.pools.add_tasks(plan)

    server = start(tmp_path / "web.db")
    try:
        # Forty answers on the page, each about the picture that it shows.
        ann = Annotator(browser, server).enter()
        rows: dict[str, list[int]] = {"ann": []}
        for _ in range(BY_HAND):
            ann.press()
            browser.wait(f"return ![-1, {rows['ann'][-1] if rows['ann'] else -1}].includes({SHOWN})")
            row = browser.run(f"return {SHOWN}")
            rows["ann"].append(row)
            ann.press(KEYS[answer_of(world, "ann", int(plan.image[row]), int(plan.caption[row]))[0]])
        ann.saved()
        # The last task is submitted a moment after its last answer, which can be undone until then.
        end = time.monotonic() + 60
        while ann.handed_in() < BY_HAND // PER_TASK:
            assert time.monotonic() < end
            time.sleep(0.1)
        browser.driver.get("about:blank")
        for name in ("bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida"):
            rows[name] = over_http(server, world, plan, name)
        # The page still has leases of its task and the next, which no other annotator can take.
        assert sum(map(len, rows.values())) >= 2 * len(plan) - 2 * PER_TASK
        published = publish(server.project, tmp_path / "with", made="today")
    finally:
        server.stop()

    said = [(row, name, answer_of(world, name, int(plan.image[row]), int(plan.caption[row])))
            for name, own in rows.items() for row in own]  # fmt: skip
    at = np.array([row for row, _, _ in said])
    with karat.store.open_project(tmp_path / "plain.db") as plain:
        plain.answers.record(
            AnswerRows(
                plan.task[at], plan.image[at], plan.caption[at], [name for _, name, _ in said],
                [code for _, _, (code, _) in said], details=[details or None for _, _, (_, details) in said],
            )
        )  # fmt: skip
        alone = publish(plain, tmp_path / "without", made="today")
    ours, theirs = (one.correction.truth.judgments for one in (published, alone))
    for name in ("image", "caption", "rating", "source"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    pairs = [pl.read_parquet(tmp_path / place / "pairs.parquet") for place in ("with", "without")]
    # Annotators are numbered in the order of their arrival, so that sums differ in their last digits.
    assert_frame_equal(*pairs, rel_tol=1e-6)
    answers = [
        pl.read_parquet(tmp_path / place / "answers.parquet")
        .select("image", "caption", "answer")
        .sort(pl.all())
        for place in ("with", "without")
    ]
    assert_frame_equal(*answers)
