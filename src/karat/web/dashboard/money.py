"""What the answers have cost so far: by the hour, or by the task."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from karat.judging import Project

SETTING = "pay"


class Pay(BaseModel):
    """What people get: an amount for an hour or a task handed in, and the platform's fee on top."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    per: Literal["hour", "task"]
    amount: Annotated[float, Field(ge=0, le=100_000)]
    fee: Annotated[float, Field(ge=0, le=1)] = 0.0
    currency: Annotated[str, Field(max_length=8, pattern=r"^[A-Za-z€$£¥]*$")] = ""


def pay_of(project: Project) -> Pay | None:
    """Return what people are paid; None where nobody said, or not in a way that can be read."""
    try:
        return Pay.model_validate(project.journal.get(SETTING))
    except ValidationError:
        return None


def cost(pay: Pay | None, hours: float, hand_ins: int) -> dict[str, Any]:
    """Return what was spent, and on what.

    Parameters
    ----------
    pay
        What people get.
    hours
        What their answers took.
    hand_ins
        How many tasks were handed in and not rejected.

    Examples
    --------
    >>> cost(Pay(per="hour", amount=15, fee=0.2), 2.0, 7)["money"], cost(None, 2.0, 7)["money"]
    (36.0, None)
    """
    units = None if pay is None else hours if pay.per == "hour" else hand_ins
    money = None if pay is None or units is None else units * pay.amount * (1 + pay.fee)
    return {"hours": hours, "hand_ins": hand_ins, "money": money, "pay": pay and pay.model_dump()}
