"""What the store says happened, replayed from its history, against what people were told."""

from __future__ import annotations

from collections import Counter, defaultdict

from sqlalchemy import select

from karat.judging.store import Project
from karat.judging.store.assignments import SUBMITTED
from karat.judging.store.tables import ITEM, SLOT, TASK, WORKER

from .judges import Load


def replay(project: Project, load: Load) -> dict[str, int]:
    """Count what went wrong; all of it must be zero but `rows` and `unacknowledged`."""
    rows = list(project.answers.history())
    by_id = {row["id"]: (row["worker"], row["item"], row["code"], row["key"]) for row in rows}
    lost = sum(by_id.get(number) != tuple(one) for *one, number in load.acknowledged)
    cells = Counter((row["worker"], row["item"]) for row in rows)
    keys = Counter((row["slot"], row["key"]) for row in rows)
    doubled = sum(n - 1 for n in cells.values()) + sum(n - 1 for n in keys.values())
    foreign = sum((row["worker"], row["item"], row["key"]) not in load.sent for row in rows)
    told = {number for *_, number in load.acknowledged}
    return {
        "rows": len(rows),
        "acknowledged": len(load.acknowledged),
        "unacknowledged": len(rows) - len(told & set(by_id)),
        "lost": lost,
        "doubled": doubled,
        "foreign": foreign,
        "double_assigned": double_assigned(project, rows) + len(load.shared),
        "unsubmitted": unsubmitted(project, load),
    }


def double_assigned(project: Project, rows: list[dict]) -> int:
    """Count slots with two people, tasks given to one twice or to too many, and pairs judged too often."""
    with project.database.read() as connection:
        task_of = dict(connection.execute(select(ITEM.c.id, ITEM.c.task)).all())
        overlap = dict(connection.execute(select(TASK.c.id, TASK.c.overlap)).all())
        slot_task = dict(connection.execute(select(SLOT.c.id, SLOT.c.task)).all())
        held = connection.execute(
            select(SLOT.c.task, SLOT.c.worker).where(SLOT.c.worker.is_not(None))
        ).all()  # fmt: skip
    people, tasks, pairs = defaultdict(set), defaultdict(set), Counter()
    wrong = 0
    for row in rows:
        people[row["slot"]].add(row["worker"])
        tasks[task_of[row["item"]], row["worker"]].add(row["slot"])
        pairs[row["item"]] += 1
        wrong += slot_task[row["slot"]] != task_of[row["item"]]
    wrong += sum(len(one) - 1 for one in people.values()) + sum(len(one) - 1 for one in tasks.values())
    wrong += sum(n > overlap[task_of[item]] for item, n in pairs.items())
    wrong += sum(n - 1 for n in Counter((task, worker) for task, worker in held).values())
    holders = Counter(task for task, _ in held)
    return wrong + sum(n > overlap[task] for task, n in holders.items())


def unsubmitted(project: Project, load: Load) -> int:
    """Count tasks that a person was told are handed in, and that are not, or not by that person."""
    with project.database.read() as connection:
        query = select(SLOT.c.token, WORKER.c.name).join(WORKER, WORKER.c.id == SLOT.c.worker)
        done = dict(connection.execute(query.where(SLOT.c.state == SUBMITTED)).all())
    return sum(done.get(token) != load.leased[token] for token in load.submitted)
