"""What the dashboard's buttons send."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from karat.web.shapes import Body, Short, Storable


class Publish(Body):
    """How to publish; see `karat.judging.publish`."""

    name: Annotated[str, Field(min_length=1, max_length=80), Storable]
    aggregation: Short = "dawid-skene"
    original_policy: Literal["union", "people", "majority"] = "union"
    approved_only: bool = False
    licence: Annotated[str, Field(max_length=500), Storable] = ""


class Export(Body):
    """What to export, and how."""

    what: Literal["answers", "tasks"] = "answers"
    format: Short


class Review(Body):
    """What becomes of a hand-in."""

    verdict: Literal["approve", "reject"]
    why: Annotated[str, Field(max_length=1000), Storable] = ""
    ask_again: bool = True


class Decision(Body):
    """What somebody decided about a pair; no code takes it back."""

    code: Short | None
