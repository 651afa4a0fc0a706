"""What a judge's page gets to know: the form, and the pairs without anything that is known of them."""

from __future__ import annotations

import hashlib
from typing import Any

from karat.benchmarks import Benchmark
from karat.judging import Choice, Form, Project
from karat.judging.store import Lease, read_details


def show_form(form: Form) -> dict[str, Any]:
    """Return a form as the page needs it; what answers are worth stays here.

    >>> from karat.judging import load_form
    >>> shown = show_form(load_form("grid"))
    >>> shown["checked"], shown["unchecked"], shown["answers"][0]
    ('yes', 'no', {'code': 'yes', 'text': 'It describes the image', 'key': 'y'})
    """
    ranked = sorted(form.answers, key=lambda one: one.rating or 0.0)
    texts = {one.code: one.text for one in form.answers}
    return {
        "layout": form.layout,
        "question": form.question,
        "answers": [show_choice(one) for one in form.answers],
        # In a grid a box is checked or not: the better of the two answers is the checked one.
        "checked": ranked[-1].code,
        "unchecked": ranked[0].code,
        "own_image": form.own_image,
        "follow_ups": [
            {
                "code": one.code, "text": one.text, "when": list(one.when), "after": one.after,
                "kind": one.kind, "required": one.required,
                "choices": [show_choice(choice) for choice in one.choices],
            }
            for one in form.follow_ups
        ],
        "guidelines": list(form.guidelines),
        "examples": [
            {"caption": one.caption, "picture": one.picture, "answer": texts[one.answer], "why": one.why}
            for one in form.examples
        ],
    }  # fmt: skip


def show_choice(choice: Choice) -> dict[str, str]:
    """Return what stands on a button."""
    return {"code": choice.code, "text": choice.text, "key": choice.key}


def show_lease(project: Project, lease: Lease | None, now: float) -> dict[str, Any] | None:
    """Return a lease with its captions, and the answers so far with their details."""
    items = None if lease is None else project.queue.items(lease)
    if lease is None or items is None:
        return None
    benchmark = project.benchmark()
    return {
        "token": lease.token,
        "seconds": max(0.0, lease.expires - now),
        "items": [
            {
                "id": item.id, "group": item.group, "caption": caption_of(benchmark, item.caption),
                "own": has_own(project.form, benchmark, item.caption), "code": item.code,
                "details": read_details(item.details),
            }
            for item in items
        ],
    }  # fmt: skip


def caption_of(benchmark: Benchmark, caption: int) -> str:
    """Return a caption; its id where the texts are not known."""
    if benchmark.texts is None:
        return str(benchmark.captions.values[caption])
    return str(benchmark.texts[caption])


def has_own(form: Form, benchmark: Benchmark, caption: int) -> bool:
    """Whether the image that a caption was written for is shown, and known."""
    return form.own_image and own_image(benchmark, caption) is not None


def own_image(benchmark: Benchmark, caption: int) -> int | None:
    """Return the image that a caption was written for; None where nobody knows."""
    if benchmark.caption_image is None or benchmark.caption_image[caption] < 0:
        return None
    return int(benchmark.caption_image[caption])


def mark_of(project: Project) -> str:
    """Return a word by which a browser tells the answers of this project from those of others."""
    return hashlib.sha256(f"{project.where}\n{project.name}".encode("utf-8", "replace")).hexdigest()[:12]
