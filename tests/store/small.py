"""A form with follow-up questions and plans of a few tasks."""

import numpy as np

from karat.forms import Choice, DrawBatch, FollowUp, Form, TaskPlan

WHY = FollowUp(
    "why",
    "Why?",
    ("no",),
    kind="one",
    choices=(Choice("blurred", "Blurred"), Choice("other", "Other")),
    required=True,
)
WHAT = FollowUp("what", "What?", after="why.other", kind="text")
KINDS = FollowUp("kinds", "Which?", ("partly",), choices=(Choice("a", "A"), Choice("b", "B")))
FORM = Form(
    "small",
    "Small",
    "Does it fit?",
    (Choice("yes", "Yes", "y", 3, 1), Choice("partly", "Partly", "2", 2, 0.5), Choice("no", "No", "3", 1, 0)),
    follow_ups=(WHY, WHAT, KINDS),
)


def plan_of(
    *tasks: list[tuple[int, int]], overlap: int = 1, gold: dict[tuple[int, int], int] | None = None
) -> TaskPlan:
    """A plan from lists of pairs."""
    rows = [(t, p, i, c) for t, pairs in enumerate(tasks) for p, (i, c) in enumerate(pairs)]
    task, position, image, caption = (np.array(column) for column in zip(*rows, strict=True))
    gold_values = np.array([(gold or {}).get((i, c), -1) for _, _, i, c in rows])
    return TaskPlan(task, position, position, image, caption, gold_values, overlap)


def plain_plan(tasks: int, size: int = 2, overlap: int = 1) -> TaskPlan:
    """Tasks that share no pair; the benchmark has 40 images and 120 captions."""
    pairs = [(n // 120, n % 120) for n in range(tasks * size)]
    return plan_of(*(pairs[n * size : (n + 1) * size] for n in range(tasks)), overlap=overlap)


def batch_of(pairs: list[tuple[int, int]], **more) -> DrawBatch:
    """A batch of given pairs, the first with the highest probability."""
    image, caption = zip(*pairs, strict=True)
    probability = 1 / (2 + np.arange(len(pairs)))
    values = {"runs": ("a", "b"), "seed": 4, "frame": 4800, "probability": probability} | more
    return DrawBatch("proportional(floor=0.1)", "P@10", "t2i", image=image, caption=caption, **values)


def finish(project, lease, code: str = "yes", **more) -> None:
    """Answer every item and submit the assignment."""
    for item in lease.items:
        project.answers.give(lease.token, item.id, code, **more)
    project.queue.submit(lease.token)
