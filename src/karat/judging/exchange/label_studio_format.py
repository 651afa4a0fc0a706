"""``label-studio``: tasks and annotations of Label Studio; one of its tasks is one pair."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.judging.checking import PERSON
from karat.judging.exchange.files import beside, write_text, writing
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.jsonl_format import dumps
from karat.judging.exchange.label_studio_config import ANSWER, CAPTION, IMAGE, OWN_IMAGE, PREFIX, config
from karat.judging.exchange.label_studio_export import read

if TYPE_CHECKING:
    from karat.judging.exchange.outgoing import ExportedAnswer, OutgoingAnswers, OutgoingItem, Task, Tasks
    from karat.judging.forms import Form


def data_of(form: Form, task: Task, item: OutgoingItem) -> dict[str, Any]:
    """Return what a task of Label Studio shows, and which item of which task of ours it is."""
    data = {"task": task.name, "item": item.number, IMAGE: item.image, CAPTION: item.caption}
    return data | {OWN_IMAGE: item.own_image} if form.own_image else data


def write_list(path: Path, records: Any) -> None:
    """Write a json list, an element per line."""
    with writing(path) as stream:
        stream.write("[")
        for at, record in enumerate(records):
            stream.write(f"{',' if at else ''}\n{dumps(record)}")
        stream.write("\n]\n")


def write_tasks(tasks: Tasks, path: Path) -> list[Path]:
    """Write tasks to import, and beside them the labelling interface."""
    layout = beside(path, ".xml")
    write_list(path, ({"data": data_of(tasks.form, task, one)} for task in tasks.tasks for one in task.items))
    write_text(layout, config(tasks.form))
    return [path, layout]


def write_answers(answers: OutgoingAnswers, path: Path) -> None:
    """Write answers as Label Studio exports them: its tasks, each with everybody's annotations."""
    people = {name: at for at, name in enumerate(dict.fromkeys(one.worker for one in answers.rows), 1)}
    pairs: dict[Any, list[ExportedAnswer]] = defaultdict(list)
    for one in answers.rows:
        pairs[(one.task, one.item) if one.task is not None else (one.image, one.caption, "")].append(one)
    write_list(path, (record(answers, at, rows, people) for at, rows in enumerate(pairs.values(), 1)))


def record(
    answers: OutgoingAnswers, at: int, rows: list[ExportedAnswer], people: dict[str, int]
) -> dict[str, Any]:
    """Return a task of Label Studio with its annotations."""
    first = rows[0]
    if first.task is not None and first.item is not None:
        task = answers.tasks[first.task]
        item = next(one for one in task.items if one.number == first.item)
        data = data_of(answers.form, task, item)
    else:
        data = {"image_id": first.image, "caption_id": first.caption}
    annotations: list[dict[str, Any]] = []
    for one in rows:
        made: dict[str, Any] = {
            "id": len(annotations) + 1,
            "completed_by": {
                "id": people[one.worker],
                "email": one.worker,
                "first_name": "",
                "last_name": "",
            },
            "result": results(one),
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": datetime.fromtimestamp(one.at, UTC).isoformat(timespec="microseconds"),
            "lead_time": one.seconds,
            "task": at,
        }
        annotations.append(made if one.kind == PERSON else made | {"karat_kind": one.kind})
    return {"id": at, "data": data, "annotations": annotations, "predictions": []}


def results(one: ExportedAnswer) -> list[dict[str, Any]]:
    """Return what one annotation says."""
    found = [region(ANSWER, "choices", [one.code])]
    for code, value in one.details.items():
        text = isinstance(value, str)
        found.append(region(PREFIX + code, "textarea" if text else "choices", [value] if text else value))
    return found


def region(name: str, kind: str, value: Any) -> dict[str, Any]:
    """Return the value of one control."""
    inside = {"text" if kind == "textarea" else "choices": value}
    return {
        "id": name,
        "from_name": name,
        "to_name": IMAGE,
        "type": kind,
        "origin": "manual",
        "value": inside,
    }


def fits(head: str) -> bool:
    """Whether a file starts like a list of tasks."""
    return re.match(r"\[\s*(\{|\])", head) is not None


FORMATS.add(
    "label-studio",
    Format("label-studio", "Label Studio's JSON", ".json", write_tasks, write_answers, read, fits),
    aliases=["labelstudio"],
)
