"""A project of the world in which six simulated people have done some of the tasks."""

from karat.judging.store import open_project
from karat.judging.tasks.simulated import simulate_answers
from karat.web.demo import some
from karat.world import average, careful, lazy, make_world

NAMES = ("Ada", "Ben", "<b>Cleo</b>", "Dan", "Eve", "Finn")


def answer_some(place, images=30, seed=1) -> None:
    """Let people answer part of a project that `make_project` made, at times of long ago."""
    makers = (careful, average, average, average, careful, lazy)
    people = [make(name) for make, name in zip(makers, NAMES)]
    with open_project(place) as project:
        world = make_world(images=images, captions=2, seed=1)
        rows = simulate_answers(world, project.pools.plan(), people, project.form, seed=seed).rows()
        project.answers.record(some(rows))


def answer_one(project, worker="Gil", code="no", submit=False, now=None):
    """Let somebody take a task and answer its first item, or all of them and hand it in; return the lease."""
    lease = project.queue.lease(worker, now=now)
    for item in lease.items if submit else lease.items[:1]:
        project.answers.give(lease.token, item.id, code, now=now)
    if submit:
        project.queue.submit(lease.token, now=now)
    return lease
