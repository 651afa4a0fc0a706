"""A few judges over HTTP for a few seconds, the server killed in the middle; speed/web.py has 200 of them."""

import asyncio

from karat.store import open_project

from .judges import judge_all, sign_up
from .process import ServerProcess
from .replay import replay

JUDGES, SECONDS, THINK = 10, 3.0, 0.1


def test_nothing_is_lost_or_doubled_when_the_server_dies(made_project, tmp_path):
    place = str(made_project(images=60, pictures=False, overlap=3))
    process = ServerProcess(place)
    people = sign_up(place, process.port, JUDGES)

    async def kill_once():
        await asyncio.sleep(SECONDS / 2)
        process.kill()
        process.start()
        await asyncio.to_thread(process.wait)

    with process:
        load = asyncio.run(judge_all(people, process.port, SECONDS, THINK, kill_once()))
        assert process.stop() in (0, -15)
        said = process.said()
    with open_project(place) as project:
        found = replay(project, load)
    assert load.refused == []
    assert found["acknowledged"] > JUDGES
    # Those that were sent again found themselves in the store already, or were stored then.
    assert load.again > 0
    wrong = ("lost", "doubled", "foreign", "double_assigned", "unsubmitted")
    assert {name: found[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert found["rows"] == found["acknowledged"] + found["unacknowledged"]
    for person in people:
        assert person.cookie.split("=")[1] not in said
        assert person.csrf not in said
    assert "Traceback" not in said


def test_the_replay_finds_what_is_wrong(made_project):
    """A check that cannot fail checks nothing."""
    from .judges import Load

    with open_project(made_project()) as project:
        one = project.queue.lease("ann")
        number = project.answers.give(one.token, one.items[0].id, "yes", key="k1")
        project.answers.give(one.token, one.items[0].id, "yes", key="k2")
        load = Load(
            acknowledged=[
                ("ann", one.items[0].id, "yes", "k1", number), ("ann", one.items[1].id, "no", "k3", 99),
            ],
            sent={("ann", one.items[0].id, "k1")}, leased={one.token: "ann"}, submitted=[one.token],
        )  # fmt: skip
        found = replay(project, load)
        assert (found["lost"], found["doubled"], found["foreign"], found["unsubmitted"]) == (1, 1, 1, 1)
        assert found["double_assigned"] == 0
        with project.database.write() as connection:
            connection.exec_driver_sql(
                f"UPDATE assignment SET annotator = 1, state = 1 WHERE task = {one.task}"
            )
        assert replay(project, load)["double_assigned"] > 0
