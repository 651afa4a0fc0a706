"""``label-studio``: tasks, interface and annotations of Label Studio; one of its tasks is one pair."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from xml.sax.saxutils import quoteattr

from karat._util import track
from karat.forms import PERSON, Choice, FollowUp, Form
from karat.judging.exchange.file_answers import AnswerColumns, Detail, ImportedAnswers, bad_line, shorten
from karat.judging.exchange.files import beside, writing, writing_both
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.jsonl_format import COMPLETE, as_name, as_object, decode, dumps, number_column

if TYPE_CHECKING:
    from karat.judging.exchange.file_answers import ExportedAnswer, ExportedAnswers
    from karat.judging.exchange.tasks import ExportedItem, ExportedTask, ExportedTasks

ANSWER, PREFIX = "answer", "details_"
"""The names of the controls: the answer, and each follow-up question after the prefix."""
IMAGE, CAPTION, OWN_IMAGE = "image", "caption", "own_image"
"""The names of what is shown, and of the task's data."""
ANNOTATOR = "completed_by"
ANNOTATOR_NAMES = ("email", "username", "id")
"""What names an annotator, in order of preference."""
EXPORT = "export the project as JSON"
INTERFACE = "use karat's labelling interface"


def data_of(form: Form, task: ExportedTask, item: ExportedItem) -> dict[str, Any]:
    """Return what a task of Label Studio shows, and which item of which of karat's tasks it is."""
    data = {"task": task.name, "item": item.number, IMAGE: item.image, CAPTION: item.caption}
    return data | {OWN_IMAGE: item.own_image} if form.own_image else data


def write_list(stream: TextIO, records: Iterable[dict[str, Any]]) -> None:
    """Write a json list, an element per line."""
    stream.write("[")
    for at, record in enumerate(records):
        stream.write(f"{',' if at else ''}\n{dumps(record)}")
    stream.write("\n]\n")


def write_tasks(tasks: ExportedTasks, path: Path) -> list[Path]:
    """Write tasks to import, and beside them the labelling interface."""
    interface = beside(path, ".xml")
    records = ({"data": data_of(tasks.form, task, item)} for task in tasks.tasks for item in task.items)
    with writing_both(path, interface) as (stream, second):
        write_list(stream, records)
        second.write(config(tasks.form))
    return [path, interface]


def config(form: Form) -> str:
    """Return the labelling interface: an image, its caption, the answers, and the follow-up questions.

    The codes are the aliases of the choices: Label Studio shows the texts and exports the codes.

    Examples
    --------
    >>> form = Form("f", "F", "Fits?", (Choice("no", "No"), Choice("yes", "Yes")))
    >>> print(config(form).splitlines()[-3])
        <Choice value="Yes" alias="yes"/>
    """
    lines = [
        tag("Header", value=literal(form.title)),
        *(tag("Header", value=literal(text), size="6") for text in form.guidelines),
        tag("Image", name=IMAGE, value=f"${IMAGE}"),
    ]
    if form.own_image:
        lines.append(tag("Image", name=OWN_IMAGE, value=f"${OWN_IMAGE}"))
    lines += [tag("Text", name=CAPTION, value=f"${CAPTION}"), tag("Header", value=literal(form.question))]
    lines += choice_lines(ANSWER, form.answers, "single-radio", required=True)
    for question in form.follow_ups:
        lines += follow_up_lines(question)
    return "\n".join(["<View>", *(f"  {line}" for line in lines), "</View>"]) + "\n"


def choice_lines(name: str, choices: tuple[Choice, ...], kind: str, required: bool) -> list[str]:
    """Return a group of choices, a line each."""
    needed = "true" if required else "false"
    start = tag("Choices", name=name, toName=IMAGE, choice=kind, required=needed)
    inside = [
        "  " + tag("Choice", value=literal(choice.text), alias=choice.code, hotkey=choice.key)
        for choice in choices
    ]
    return [start.removesuffix("/>") + ">", *inside, "</Choices>"]


def follow_up_lines(question: FollowUp) -> list[str]:
    """Return a follow-up question inside the views that show it where it is asked."""
    name = PREFIX + question.code
    lines = [tag("Header", value=literal(question.text), size="5")]
    if question.kind == "text":
        needed = "true" if question.required else "false"
        lines.append(
            tag("TextArea", name=name, toName=IMAGE, required=needed, maxSubmissions="1", editable="true")
        )
    else:
        kind = "single-radio" if question.kind == "one" else "multiple"
        lines += choice_lines(name, question.choices, kind, question.required)
    before, _, choice = question.after.partition(".")
    conditions = [(PREFIX + before, choice)] if question.after else []
    conditions += [(ANSWER, ",".join(question.when))] if question.when else []
    for control, values in conditions:
        start = tag("View", visibleWhen="choice-selected", whenTagName=control, whenChoiceValue=values)
        lines = [start.removesuffix("/>") + ">", *(f"  {line}" for line in lines), "</View>"]
    return lines


def tag(element: str, /, **attributes: str) -> str:
    """Return an empty xml element; empty attributes are left out.

    >>> tag("Header", value='"A" & B')
    '<Header value=\\'"A" &amp; B\\'/>'
    """
    shown = "".join(f" {key}={attribute(value)}" for key, value in attributes.items() if value)
    return f"<{element}{shown}/>"


def attribute(value: str) -> str:
    """Return a quoted attribute; line ends and tabs become references, which xml keeps."""
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def literal(text: str) -> str:
    """Return a text that is shown as it is: Label Studio reads a leading $ as a name of data."""
    return f"\u200b{text}" if text.startswith("$") else text


def write_answers(answers: ExportedAnswers, path: Path) -> None:
    """Write answers as Label Studio exports them: its tasks, each with all annotations."""
    names = dict.fromkeys(answer.annotator for answer in answers.rows)
    numbers = {name: number for number, name in enumerate(names, 1)}
    pairs: dict[Any, list[ExportedAnswer]] = defaultdict(list)
    for answer in answers.rows:
        in_task = answer.task is not None
        pairs[(answer.task, answer.item) if in_task else (answer.image, answer.caption, "")].append(answer)
    with writing(path) as stream:
        done = track(pairs.values(), "writing pairs")
        write_list(stream, (record(answers, at, rows, numbers) for at, rows in enumerate(done, 1)))


def record(
    answers: ExportedAnswers, at: int, rows: list[ExportedAnswer], numbers: dict[str, int]
) -> dict[str, Any]:
    """Return a task of Label Studio with its annotations."""
    first = rows[0]
    if first.task is not None and first.item is not None:
        task = answers.tasks[first.task]
        item = next(item for item in task.items if item.number == first.item)
        data = data_of(answers.form, task, item)
    else:
        data = {"image_id": first.image, "caption_id": first.caption}
    annotations: list[dict[str, Any]] = []
    for answer in rows:
        annotator = {
            "id": numbers[answer.annotator],
            "email": answer.annotator,
            "first_name": "",
            "last_name": "",
        }
        annotation: dict[str, Any] = {
            "id": len(annotations) + 1,
            ANNOTATOR: annotator,
            "result": regions(answer),
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": datetime.fromtimestamp(answer.at, UTC).isoformat(timespec="microseconds"),
            "lead_time": answer.seconds,
            "task": at,
        }
        kind = {} if answer.kind == PERSON else {"karat_kind": answer.kind}
        annotations.append(annotation | kind)
    return {"id": at, "data": data, "annotations": annotations, "predictions": []}


def regions(answer: ExportedAnswer) -> list[dict[str, Any]]:
    """Return the values of the controls in one annotation."""
    values = [region(ANSWER, "choices", [answer.code])]
    for code, value in answer.details.items():
        text = isinstance(value, str)
        values.append(region(PREFIX + code, "textarea" if text else "choices", [value] if text else value))
    return values


def region(name: str, kind: str, value: Any) -> dict[str, Any]:
    """Return the value of one control."""
    return {
        "id": name,
        "from_name": name,
        "to_name": IMAGE,
        "type": kind,
        "origin": "manual",
        "value": {"text" if kind == "textarea" else "choices": value},
    }


class TaskPlace:
    """A task in a file, for messages."""

    def __init__(self, where: Path, line: int, task: Any) -> None:
        self.where, self.line = where, line
        self.task = "" if task is None else f" (task {shorten(task)})"

    def error(self, what: str, fix: str = EXPORT) -> Exception:
        """Return the error for this task."""
        return bad_line(self.where, self.line, f"{what}{self.task}", fix)

    def objects(self, value: Any, name: str) -> list[dict[str, Any]]:
        """Return a list of objects, or raise; None is an empty list."""
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
            raise self.error(f"{name} is {shorten(value)}, not a list of objects")
        return value


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read the annotations of all tasks; those that were skipped in Label Studio are left out."""
    answers = AnswerColumns()
    details: list[Detail] = []
    skipped = 0
    for line, element in each_element(data, where):
        place = TaskPlace(where, line, element.get("id"))
        pair = pair_of(as_object(element.get("data"), line, where), line, where)
        for annotation in place.objects(element.get("annotations"), "annotations"):
            if annotation.get("was_cancelled"):
                skipped += 1
                continue
            answer, follow_ups = read_result(place, annotation)
            details += [(len(answers), code, value) for code, value in follow_ups]
            answers.add(
                line=line,
                **pair,
                annotator=annotator_of(place, annotation.get(ANNOTATOR)),
                kind=as_name(annotation.get("karat_kind"), "karat_kind", line, where),
                answer=answer,
                seconds=annotation.get("lead_time"),
                at=annotation.get("created_at"),
            )
    notes = (f"{skipped:,} annotations that were skipped in Label Studio were left out",) if skipped else ()
    numbers = {name: number_column(answers.columns, name, where) for name in ("seconds", "at")}
    return answers.imported(where, **numbers, details=details, notes=notes, annotator_column=ANNOTATOR)


def pair_of(data: dict[str, Any], line: int, where: Path) -> dict[str, str]:
    """Return karat's task and item, or the ids of a pair without a task."""
    keys = {"task": "task", "item": "item", "image": "image_id", "caption": "caption_id"}
    return {name: as_name(data.get(key), f"data.{key}", line, where) for name, key in keys.items()}


def annotator_of(place: TaskPlace, value: Any) -> str:
    """Return the name of an annotator, who is a number or an object."""
    if isinstance(value, dict):
        value = next((value[name] for name in ANNOTATOR_NAMES if value.get(name)), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise place.error(f"{ANNOTATOR} is {shorten(value)}")
    return str(value)


def read_result(
    place: TaskPlace, annotation: dict[str, Any]
) -> tuple[str, list[tuple[str, str | tuple[str, ...]]]]:
    """Return the answer of one annotation, and its follow-ups."""
    answer: str | None = None
    follow_ups: list[tuple[str, str | tuple[str, ...]]] = []
    for control in place.objects(annotation.get("result"), "result"):
        name, kind, value = control.get("from_name"), control.get("type"), control.get("value")
        texts = value.get("text" if kind == "textarea" else "choices") if isinstance(value, dict) else None
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise place.error(f"{shorten(name)} has the value {shorten(value)}", INTERFACE)
        if name == ANSWER:
            if answer is not None or len(texts) > 1:
                raise place.error("has two answers", "keep one")
            answer = texts[0]
        elif isinstance(name, str) and name.startswith(PREFIX):
            follow_up = "\n".join(texts) if kind == "textarea" else tuple(texts)
            if follow_up:
                follow_ups.append((name.removeprefix(PREFIX), follow_up))
        else:
            raise place.error(f"has a control {shorten(name)}", INTERFACE)
    if answer is None:
        raise place.error("has an annotation without an answer", "finish it, or skip it in Label Studio")
    return answer, follow_ups


def each_element(data: bytes, where: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the object of every element of one long list.

    >>> list(each_element(b'[{"a": 1},\\n {"a": 2}]', Path("a.json")))
    [(1, {'a': 1}), (2, {'a': 2})]
    """
    text = data.decode()
    at, line = after_space(text, 0, 1)
    if text[at : at + 1] != "[":
        raise bad_line(where, line, "does not start with a list", "export as JSON, all tasks at once")
    at, line = after_space(text, at + 1, line)
    while text[at : at + 1] != "]":
        value, end = decode(text, at, line, where)
        yield line, as_object(value, line, where)
        line += text.count("\n", at, end)
        at, line = after_space(text, end, line)
        mark = text[at : at + 1]
        if mark == "]":
            break
        if mark != ",":
            raise bad_line(where, line, "a comma is missing" if mark else "ends inside the list", COMPLETE)
        at, line = after_space(text, at + 1, line)
        if text[at : at + 1] == "]":
            raise bad_line(where, line, "has a comma before the end of the list", COMPLETE)
    rest, line = after_space(text, at + 1, line)
    if rest < len(text):
        raise bad_line(where, line, "has more after the list", COMPLETE)


def after_space(text: str, at: int, line: int) -> tuple[int, int]:
    """Return the position of the next character that is not white space, and its line."""
    start = at
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at, line + text.count("\n", start, at)


def fits(head: str) -> bool:
    """Whether a file starts like a list of tasks."""
    return re.match(r"\[\s*(\{|\])", head) is not None


FORMATS.add(
    "label-studio",
    Format("label-studio", "Label Studio's JSON", ".json", write_tasks, write_answers, read, fits, True),
    aliases=["labelstudio"],
)
