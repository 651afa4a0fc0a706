"""What the store says happened, replayed from its history, against what annotators were told."""

from __future__ import annotations

from collections import Counter, defaultdict

from sqlalchemy import select

from karat.store import Project
from karat.store.assignments import SUBMITTED
from karat.store.tables import ANNOTATOR, ASSIGNMENT, ITEM, TASK

from .judges import Load


def replay(project: Project, load: Load) -> dict[str, int]:
    """Count what went wrong; all of it must be zero but `rows` and `unacknowledged`."""
    rows = list(project.answers.history())
    by_id = {row["id"]: (row["annotator"], row["item"], row["code"], row["key"]) for row in rows}
    lost = sum(by_id.get(number) != tuple(one) for *one, number in load.acknowledged)
    cells = Counter((row["annotator"], row["item"]) for row in rows)
    keys = Counter((row["assignment"], row["key"]) for row in rows)
    doubled = sum(n - 1 for n in cells.values()) + sum(n - 1 for n in keys.values())
    foreign = sum((row["annotator"], row["item"], row["key"]) not in load.sent for row in rows)
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
    """Count assignments with two annotators, tasks given twice or to too many, and pairs judged too often."""
    with project.database.read() as connection:
        task_of = dict(connection.execute(select(ITEM.c.id, ITEM.c.task)).all())
        overlap = dict(connection.execute(select(TASK.c.id, TASK.c.overlap)).all())
        assignment_task = dict(connection.execute(select(ASSIGNMENT.c.id, ASSIGNMENT.c.task)).all())
        held = connection.execute(
            select(ASSIGNMENT.c.task, ASSIGNMENT.c.annotator).where(ASSIGNMENT.c.annotator.is_not(None))
        ).all()  # fmt: skip
    annotators, tasks, pairs = defaultdict(set), defaultdict(set), Counter()
    wrong = 0
    for row in rows:
        annotators[row["assignment"]].add(row["annotator"])
        tasks[task_of[row["item"]], row["annotator"]].add(row["assignment"])
        pairs[row["item"]] += 1
        wrong += assignment_task[row["assignment"]] != task_of[row["item"]]
    wrong += sum(len(one) - 1 for one in annotators.values()) + sum(len(one) - 1 for one in tasks.values())
    wrong += sum(n > overlap[task_of[item]] for item, n in pairs.items())
    wrong += sum(n - 1 for n in Counter((task, annotator) for task, annotator in held).values())
    holders = Counter(task for task, _ in held)
    return wrong + sum(n > overlap[task] for task, n in holders.items())


def unsubmitted(project: Project, load: Load) -> int:
    """Count tasks that an annotator was told are submitted, and that are not, or not by that annotator."""
    with project.database.read() as connection:
        query = select(ASSIGNMENT.c.token, ANNOTATOR.c.name).join(
            ANNOTATOR, ANNOTATOR.c.id == ASSIGNMENT.c.annotator
        )
        done = dict(connection.execute(query.where(ASSIGNMENT.c.state == SUBMITTED)).all())
    return sum(done.get(token) != load.leased[token] for token in load.submitted)
