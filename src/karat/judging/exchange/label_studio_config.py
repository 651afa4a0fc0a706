"""The labelling interface of Label Studio, made from a form."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from karat.judging.forms import Choice, FollowUp, Form

ANSWER, PREFIX = "answer", "details_"
"""The names of the controls: the answer, and each follow-up question after the prefix."""
IMAGE, CAPTION, OWN_IMAGE = "image", "caption", "own_image"
"""The names of what is shown, and of the task's data."""


def tag(element: str, /, **attributes: str) -> str:
    """Return an empty xml element.

    >>> tag("Header", value='"A" & B')
    '<Header value=\\'"A" &amp; B\\'/>'
    """
    shown = "".join(f" {key}={attribute(value)}" for key, value in attributes.items() if value)
    return f"<{element}{shown}/>"


def attribute(value: str) -> str:
    """Return a quoted attribute; a line end survives as a reference."""
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def config(form: Form) -> str:
    """Return the labelling interface: an image, its caption, the answers, and the follow-up questions.

    The codes are the aliases of the choices, so that they come back and the texts are shown.

    Examples
    --------
    >>> form = Form("f", "F", "Fits?", (Choice("no", "No"), Choice("yes", "Yes")))
    >>> print(config(form).splitlines()[-3])
        <Choice value="Yes" alias="yes"/>
    """
    shown = [
        tag("Header", value=literal(form.title)),
        *(tag("Header", value=literal(t), size="6") for t in form.guidelines),
    ]
    shown += [tag("Image", name=IMAGE, value=f"${IMAGE}")]
    if form.own_image:
        shown += [tag("Image", name=OWN_IMAGE, value=f"${OWN_IMAGE}")]
    shown += [tag("Text", name=CAPTION, value=f"${CAPTION}"), tag("Header", value=literal(form.question))]
    lines = [*shown, *choices(ANSWER, form.answers, "single-radio", required=True)]
    for one in form.follow_ups:
        lines += follow_up(one)
    return "\n".join(["<View>", *(f"  {line}" for line in lines), "</View>"]) + "\n"


def literal(text: str) -> str:
    """Return a text that is shown as it is: Label Studio reads a leading $ as a name of data."""
    return f"\u200b{text}" if text.startswith("$") else text


def choices(name: str, given: tuple[Choice, ...], kind: str, required: bool) -> list[str]:
    """Return a group of choices, a line each."""
    needed = "true" if required else "false"
    start = tag("Choices", name=name, toName=IMAGE, choice=kind, required=needed)
    inside = ["  " + tag("Choice", value=literal(one.text), alias=one.code, hotkey=one.key) for one in given]
    return [start.removesuffix("/>") + ">", *inside, "</Choices>"]


def follow_up(one: FollowUp) -> list[str]:
    """Return a further question within the views that show it where it is asked."""
    name = PREFIX + one.code
    inside = [tag("Header", value=literal(one.text), size="5")]
    if one.kind == "text":
        needed = "true" if one.required else "false"
        inside.append(
            tag("TextArea", name=name, toName=IMAGE, required=needed, maxSubmissions="1", editable="true")
        )
    else:
        inside += choices(
            name, one.choices, "single-radio" if one.kind == "one" else "multiple", one.required
        )
    question, _, choice = one.after.partition(".")
    conditions = [(PREFIX + question, choice)] if one.after else []
    conditions += [(ANSWER, ",".join(one.when))] if one.when else []
    for control, values in conditions:
        start = tag("View", visibleWhen="choice-selected", whenTagName=control, whenChoiceValue=values)
        inside = [start.removesuffix("/>") + ">", *(f"  {line}" for line in inside), "</View>"]
    return inside
