"""Reading what Label Studio exports: its tasks, each with the annotations of several people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.judging.exchange.given import Collected, Detail, ImportedAnswers, bad_line, shorten
from karat.judging.exchange.json_text import as_object, each_element
from karat.judging.exchange.jsonl_format import as_name, number_column
from karat.judging.exchange.label_studio_config import ANSWER, PREFIX

if TYPE_CHECKING:
    from karat.judging.forms import Form

PEOPLE = ("email", "username", "id")
"""What names a person, the best first."""
EXPORT = "export the project as JSON"


class FilePlace:
    """Where in a file something stands, for messages."""

    def __init__(self, where: Path, line: int, task: Any) -> None:
        self.where, self.line = where, line
        self.task = "" if task is None else f" (task {shorten(task)})"

    def error(self, what: str, fix: str = EXPORT) -> Exception:
        """Return the error for this place."""
        return bad_line(self.where, self.line, f"{what}{self.task}", fix)

    def list_of(self, value: Any, name: str) -> list[dict[str, Any]]:
        """Return a list of objects, or raise; none is an empty one."""
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(f"{name} is {shorten(value)}, not a list of objects")
        return value


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read the annotations of all tasks; those that were skipped there are passed over."""
    found = Collected()
    details: list[Detail] = []
    cancelled = 0
    for line, record in each_element(data, where):
        place = FilePlace(where, line, record.get("id"))
        pair = pair_of(as_object(record.get("data"), line, where), line, where)
        for one in place.list_of(record.get("annotations"), "annotations"):
            if one.get("was_cancelled"):
                cancelled += 1
                continue
            answer, further = read_result(place, one)
            details += [(len(found), code, value) for code, value in further]
            found.add(
                line=line,
                **pair,
                worker=worker_of(place, one.get("completed_by")),
                kind=as_name(one.get("karat_kind"), "karat_kind", line, where),
                answer=answer,
                seconds=one.get("lead_time"),
                at=one.get("created_at"),
            )
    notes = (f"{cancelled:,} annotations that were skipped there were left out",) if cancelled else ()
    numbers = {name: number_column(found.columns, name, where) for name in ("seconds", "at")}
    return found.given(where, **numbers, details=details, notes=notes)


def pair_of(data: dict[str, Any], line: int, where: Path) -> dict[str, str]:
    """Return our task and item, or the ids of a pair without a task."""
    names = {"task": "task", "item": "item", "image": "image_id", "caption": "caption_id"}
    return {ours: as_name(data.get(name), f"data.{name}", line, where) for ours, name in names.items()}


def worker_of(place: FilePlace, value: Any) -> str:
    """Return the name of a person, given as a number or with more about them."""
    if isinstance(value, dict):
        value = next((value[name] for name in PEOPLE if value.get(name)), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise place.error(f"completed_by is {shorten(value)}")
    return str(value)


def read_result(
    place: FilePlace, annotation: dict[str, Any]
) -> tuple[str, list[tuple[str, str | tuple[str, ...]]]]:
    """Return the answer of one annotation, and its follow-ups."""
    answer: str | None = None
    further: list[tuple[str, str | tuple[str, ...]]] = []
    for region in place.list_of(annotation.get("result"), "result"):
        name, kind, value = region.get("from_name"), region.get("type"), region.get("value")
        texts = value.get("text" if kind == "textarea" else "choices") if isinstance(value, dict) else None
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not texts or not all(isinstance(one, str) for one in texts):
            raise place.error(
                f"{shorten(name)} has the value {shorten(value)}", "use karat's labelling interface"
            )
        if name == ANSWER:
            if answer is not None or len(texts) > 1:
                raise place.error("has two answers", "keep one")
            answer = texts[0]
        elif isinstance(name, str) and name.startswith(PREFIX):
            value_of = "\n".join(texts) if kind == "textarea" else tuple(texts)
            if value_of:
                further.append((name.removeprefix(PREFIX), value_of))
        else:
            raise place.error(f"has a control {shorten(name)}", "use karat's labelling interface")
    if answer is None:
        raise place.error("has an annotation without an answer", "finish it, or skip it in Label Studio")
    return answer, further
