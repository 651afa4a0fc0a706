"""Shapes of what browsers send: every field known, every text short and storable."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Body(BaseModel):
    """A body whose every field is known."""

    model_config = ConfigDict(extra="forbid")


def storable(text: str) -> str:
    """Return text that both databases can hold, or raise.

    >>> storable("\\ud800")
    Traceback (most recent call last):
    ...
    ValueError: this text holds half a character
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("this text holds half a character") from None
    if "\0" in text:
        raise ValueError("this text holds a zero byte")
    return text


Storable = AfterValidator(storable)
Short = Annotated[str, Field(max_length=200), Storable]
Path = Annotated[str, Field(max_length=2000), Storable]
Long = Annotated[str, Field(max_length=10_000), Storable]
Number = Annotated[int, Field(ge=0, le=2**53)]
