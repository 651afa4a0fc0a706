"""A project of the world in which six simulated annotators have done some of the tasks."""

from karat.judging import simulate_answers
from karat.store import open_project
from karat.web.demo import answers_to_first_tasks
from karat.world import average, careful, lazy, make_world

NAMES = ("Ada", "Ben", "<b>Cleo</b>", "Dan", "Eve", "Finn")


def answer_some(place, images=30, seed=1) -> None:
    """Let annotators answer part of a project that `make_project` made, at times of long ago."""
    makers = (careful, average, average, average, careful, lazy)
    annotators = [make(name) for make, name in zip(makers, NAMES)]
    with open_project(place) as project:
        world = make_world(images=images, captions=2, seed=1)
        rows = simulate_answers(world, project.pools.plan(), annotators, project.form, seed=seed).rows()
        project.answers.record(answers_to_first_tasks(rows))


def answer_one(project, annotator="Gil", code="no", submit=False, now=None):
    """Let an annotator lease a task and answer its first item, or all and submit it; return the lease."""
    lease = project.queue.lease(annotator, now=now)
    for item in lease.items if submit else lease.items[:1]:
        project.answers.give(lease.token, item.id, code, now=now)
    if submit:
        project.queue.submit(lease.token, now=now)
    return lease
