"""The page of a HIT, made from a form: html for the layout editor of Amazon Mechanical Turk."""

from __future__ import annotations

from importlib import resources

from karat.judging.exchange.mturk_columns import field, referenced
from karat.judging.forms import Choice, FollowUp, Form

CROWD = "https://assets.crowd.aws/crowd-html-elements.js"
"""Amazon's own script, which hands the answers in; the only thing the page loads besides the images."""


def page(form: Form, width: int) -> str:
    """Return the layout for HITs of up to `width` pairs.

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
        f"<h1>{referenced(form.title)}</h1>",
        *guidelines(form),
        f"<p><strong>{referenced(form.question)}</strong></p>",
        *(pair(form, number) for number in range(1, width + 1)),
        "</div>",
        "</crowd-form>",
        f"<script>\n{static('mturk.js')}</script>",
    ]
    return "\n".join(lines) + "\n"


def static(name: str) -> str:
    """Return a file that pages are made from."""
    return resources.files("karat.judging.exchange").joinpath("page", name).read_text(encoding="utf-8")


def guidelines(form: Form) -> list[str]:
    """Return how to decide, with the worked examples."""
    texts = {one.code: one.text for one in form.answers}
    lines = [f"<p>{referenced(one)}</p>" for one in form.guidelines]
    for one in form.examples:
        lines.append(
            f"<p>“{referenced(one.caption)}” — {referenced(one.picture)} "
            f"<strong>{referenced(texts[one.answer])}</strong> {referenced(one.why)}</p>"
        )
    return ["<details open><summary>Guidelines</summary>", *lines, "</details>"] if lines else []


def pair(form: Form, number: int) -> str:
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
            box(form, number) if form.layout == "grid" else answers(form, number),
            *(follow_up(one, number) for one in form.follow_ups),
            *(f'<input type="hidden" name="{field(name, number)}">' for name in ("seconds", "at")),
            "</section>",
        ]
    )


def answers(form: Form, number: int) -> str:
    """Return the answers as buttons of which one is taken."""
    name = field("answer", number)
    return f"<fieldset>{''.join(choice(one, name, 'radio', ' required') for one in form.answers)}</fieldset>"


def box(form: Form, number: int) -> str:
    """Return the box of a grid: what is not checked has the lower of the two answers."""
    low, high = sorted(form.answers, key=lambda one: one.rating or 0.0)
    return (
        f'<input type="hidden" name="{field("answer", number)}" value="{referenced(low.code)}">'
        f'<label><input type="checkbox" data-box="{referenced(high.code)}" '
        f'data-otherwise="{referenced(low.code)}"> {referenced(high.text)}</label>'
    )


def follow_up(one: FollowUp, number: int) -> str:
    """Return a further question, hidden until it is asked."""
    name = field(f"details_{one.code}", number)
    if one.kind == "text":
        asked = f'<textarea name="{referenced(name)}" maxlength="10000"></textarea>'
    else:
        asked = "".join(
            choice(entry, name, "radio" if one.kind == "one" else "checkbox") for entry in one.choices
        )
    return (
        f'<fieldset data-when="{referenced(" ".join(one.when))}" data-after="{referenced(one.after)}" '
        f'data-required="{"yes" if one.required else "no"}" hidden>'
        f"<p>{referenced(one.text)}</p>{asked}</fieldset>"
    )


def choice(one: Choice, name: str, kind: str, further: str = "") -> str:
    """Return one choice with its label."""
    return (
        f'<label><input type="{kind}" name="{referenced(name)}" value="{referenced(one.code)}"{further}> '
        f"{referenced(one.text)}</label>"
    )
