"""``mturk``: batches of Amazon Mechanical Turk. A HIT is a task; its page is made from the form."""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from karat._util import IS_DANGEROUS, guard, track
from karat.forms import PERSON, Choice, FollowUp, Form
from karat.judging.exchange.csv_format import detail_cell, write_rows
from karat.judging.exchange.files import beside, writing, writing_both
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.mturk_results import FIXED, answer_fields, field, fits, read

if TYPE_CHECKING:
    from karat.judging.exchange.file_answers import ExportedAnswer, ExportedAnswers
    from karat.judging.exchange.tasks import ExportedItem, ExportedTasks

CROWD = "https://assets.crowd.aws/crowd-html-elements.js"
"""Amazon's own script, which submits the answers; the page loads nothing else except the images."""
SPECIAL = re.compile("[\t\n\r$\\{＝＋－＠]|[^\0-\uffff]")
"""Characters that need a reference: line ends, what starts a variable, and those that Amazon refuses."""
STATUS = {"approve": "Approved", "reject": "Rejected"}


def write_tasks(tasks: ExportedTasks, path: Path) -> list[Path]:
    """Write the input of a batch, a row per HIT, and beside it the layout of the page."""
    width = max(item.number for task in tasks.tasks for item in task.items)
    rows = []
    for task in tasks.tasks:
        row, items = {"task": task.name}, {item.number: item for item in task.items}
        for number in range(1, width + 1):
            row |= input_cells(tasks.form, items.get(number), number)
        rows.append(row)
    layout = beside(path, ".html")
    with writing_both(path, layout) as (stream, second):
        write_rows(stream, list(rows[0]), (list(row.values()) for row in rows))
        second.write(page(tasks.form, width))
    return [path, layout]


def input_cells(form: Form, item: ExportedItem | None, number: int) -> dict[str, str]:
    """Return the cells of one pair; empty where a task has fewer pairs than others."""
    cells = {
        field("image_url", number): item.image if item else "",
        field("text", number): item.caption if item else "",
    }
    if form.own_image:
        cells[field("own_image_url", number)] = item.own_image if item else ""
    return {name: escape(text) for name, text in cells.items()}


def escape(text: str) -> str:
    """Return text as html on one line that starts no formula and no variable, for a cell or a page.

    Amazon inserts cells into the page as they are, so captions are escaped here. It refuses emoji, but not
    references to them.

    Examples
    --------
    >>> escape('=1 <b> ${x} 🙂')
    '&#61;1 &lt;b&gt; &#36;&#123;x} &#128578;'
    >>> html.unescape(escape("=1 <b> ${x}"))
    '=1 <b> ${x}'
    """
    escaped = SPECIAL.sub(lambda match: f"&#{ord(match[0])};", html.escape(text))
    return f"&#{ord(escaped[0])};{escaped[1:]}" if IS_DANGEROUS.match(escaped) else escaped


def page(form: Form, width: int) -> str:
    """Return the layout for HITs of up to `width` pairs, for Amazon's layout editor.

    Every text of the form is escaped; the cells of the batch are escaped in the batch itself.

    Examples
    --------
    >>> tiny = Form("f", "<b>", "Fits?", (Choice("no", "No", rating=0), Choice("yes", "Yes", rating=1)))
    >>> "<h1>&lt;b&gt;</h1>" in page(tiny, 2)
    True
    """
    lines = [
        f'<script src="{CROWD}"></script>',
        f"<style>\n{static('mturk.css')}</style>",
        '<crowd-form answer-format="flatten-objects">',
        f'<div class="karat" data-layout="{form.layout}">',
        f"<h1>{escape(form.title)}</h1>",
        *guideline_lines(form),
        f"<p><strong>{escape(form.question)}</strong></p>",
        *(pair_html(form, number) for number in range(1, width + 1)),
        "</div>",
        "</crowd-form>",
        f"<script>\n{static('mturk.js')}</script>",
    ]
    return "\n".join(lines) + "\n"


def static(name: str) -> str:
    """Return a file that pages are made from."""
    return resources.files("karat.judging.exchange").joinpath("page", name).read_text(encoding="utf-8")


def guideline_lines(form: Form) -> list[str]:
    """Return the guidelines, with the worked examples."""
    texts = {choice.code: choice.text for choice in form.answers}
    lines = [f"<p>{escape(text)}</p>" for text in form.guidelines]
    for example in form.examples:
        lines.append(
            f"<p>“{escape(example.caption)}” — {escape(example.picture)} "
            f"<strong>{escape(texts[example.answer])}</strong> {escape(example.why)}</p>"
        )
    return ["<details open><summary>Guidelines</summary>", *lines, "</details>"] if lines else []


def pair_html(form: Form, number: int) -> str:
    """Return the block of one pair; ``${…}`` are columns of the batch."""
    image = f"${{{field('image_url', number)}}}"
    images = [f'<img src="{image}" alt="">']
    if form.own_image:
        images.append(f'<img src="${{{field("own_image_url", number)}}}" alt="">')
    return "\n".join(
        [
            f'<section data-pair="{number}" data-image="{image}">',
            f"<figure>{''.join(images)}</figure>",
            f'<blockquote dir="auto">${{{field("text", number)}}}</blockquote>',
            box_html(form, number) if form.layout == "grid" else answers_html(form, number),
            *(follow_up_html(question, number) for question in form.follow_ups),
            *(f'<input type="hidden" name="{field(name, number)}">' for name in ("seconds", "at")),
            "</section>",
        ]
    )


def answers_html(form: Form, number: int) -> str:
    """Return the answers as radio buttons."""
    name = field("answer", number)
    buttons = (choice_html(choice, name, "radio", " required") for choice in form.answers)
    return f"<fieldset>{''.join(buttons)}</fieldset>"


def box_html(form: Form, number: int) -> str:
    """Return the checkbox of a grid: a pair that is not checked has the lower of the two answers."""
    low, high = sorted(form.answers, key=lambda choice: choice.rating or 0.0)
    return (
        f'<input type="hidden" name="{field("answer", number)}" value="{escape(low.code)}">'
        f'<label><input type="checkbox" data-box="{escape(high.code)}" '
        f'data-otherwise="{escape(low.code)}"> {escape(high.text)}</label>'
    )


def follow_up_html(question: FollowUp, number: int) -> str:
    """Return a follow-up question, hidden until it is asked."""
    name = field(f"details_{question.code}", number)
    if question.kind == "text":
        controls = f'<textarea name="{escape(name)}" maxlength="10000"></textarea>'
    else:
        kind = "radio" if question.kind == "one" else "checkbox"
        controls = "".join(choice_html(choice, name, kind) for choice in question.choices)
    return (
        f'<fieldset data-when="{escape(" ".join(question.when))}" data-after="{escape(question.after)}" '
        f'data-required="{"yes" if question.required else "no"}" hidden>'
        f"<p>{escape(question.text)}</p>{controls}</fieldset>"
    )


def choice_html(choice: Choice, name: str, kind: str, further: str = "") -> str:
    """Return one choice with its label."""
    return (
        f'<label><input type="{kind}" name="{escape(name)}" value="{escape(choice.code)}"{further}> '
        f"{escape(choice.text)}</label>"
    )


def write_answers(answers: ExportedAnswers, path: Path) -> None:
    """Write answers as a file of results: a row per assignment of a task, or per answer without a task."""
    form = answers.form
    assignments: dict[tuple[int, int], list[ExportedAnswer]] = defaultdict(list)
    for at, answer in enumerate(answers.rows):
        assignments[(answer.assignment, -1 if answer.task is not None else at)].append(answer)
    width = max((item.number for task in answers.tasks for item in task.items), default=1)
    numbers = range(1, width + 1)
    names = [
        *FIXED,
        *(f"Input.{name}" for name in ("task", "image", "caption")),
        *(f"Input.{name}" for number in numbers for name in input_cells(form, None, number)),
        *(f"Answer.{name}" for number in numbers for name in answer_fields(form, number)),
        "Approve",
        "Reject",
    ]
    done = track(assignments.values(), "writing assignments")
    results = (result(answers, at, rows) for at, rows in enumerate(done))
    with writing(path) as stream:
        write_rows(stream, names, ([row.get(name, "") for name in names] for row in results))


def result(answers: ExportedAnswers, at: int, rows: list[ExportedAnswer]) -> dict[str, object]:
    """Return the row of one assignment."""
    first = rows[0]
    review, reason = answers.reviews.get(first.assignment, ("", ""))
    row: dict[str, object] = {
        "HITId": f"karat-task-{first.task}" if first.task is not None else f"karat-pair-{at}",
        "Title": guard(answers.form.title),
        "RequesterAnnotation": "" if first.kind == PERSON else f"karat:kind={first.kind};",
        "AssignmentId": f"karat-{at}",
        "WorkerId": guard(first.annotator),
        "AssignmentStatus": STATUS.get(review, "Submitted"),
        "SubmitTime": turk_time(max(answer.at for answer in rows)),
        "RequesterFeedback": guard(reason),
        "WorkTimeInSeconds": round(math.fsum(answer.seconds or 0.0 for answer in rows)),
    }
    if first.task is None:
        row |= {"Input.image": escape(str(first.image)), "Input.caption": escape(str(first.caption))}
    else:
        task = answers.tasks[first.task]
        row["Input.task"] = task.name
        for item in task.items:
            cells = input_cells(answers.form, item, item.number)
            row |= {f"Input.{name}": text for name, text in cells.items()}
    for answer in rows:
        number = answer.item or 1
        row[f"Answer.{field('answer', number)}"] = answer.code
        for code, value in answer.details.items():
            row[f"Answer.{field(f'details_{code}', number)}"] = detail_cell(value)
        row[f"Answer.{field('seconds', number)}"] = answer.seconds
        row[f"Answer.{field('at', number)}"] = answer.at
    return row


def turk_time(at: float) -> str:
    """Return a time as Amazon writes it.

    >>> turk_time(1_600_000_000)
    'Sun Sep 13 12:26:40 UTC 2020'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


FORMATS.add(
    "mturk",
    # No file name selects it: its tables end in .csv too.
    Format("mturk", "Amazon Mechanical Turk's batches", "", write_tasks, write_answers, read, fits, True),
    aliases=["amt"],
)
