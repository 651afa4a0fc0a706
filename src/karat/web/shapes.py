"""Shapes of request bodies: only known fields, bounded numbers, and texts that the databases can store."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Body(BaseModel):
    """A request body that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


def storable(text: str) -> str:
    """Return the text if both databases can store it, or raise.

    >>> storable("\\ud800")
    Traceback (most recent call last):
    ...
    ValueError: this text contains an unpaired surrogate
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("this text contains an unpaired surrogate") from None
    if "\0" in text:
        raise ValueError("this text contains a null character")
    return text


Storable = AfterValidator(storable)
Short = Annotated[str, Field(max_length=200), Storable]
Path = Annotated[str, Field(max_length=2000), Storable]
Long = Annotated[str, Field(max_length=10_000), Storable]
Number = Annotated[int, Field(ge=0, le=2**53)]
