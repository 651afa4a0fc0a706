"""The machine judge: a model that answers the form's question about pairs, as people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Question:
    """A pair to be judged.

    Parameters
    ----------
    image, caption
        Indices into the benchmark.
    text
        The caption.
    path
        The image file; empty where there is none.
    """

    image: int
    caption: int
    text: str = ""
    path: str = ""


@dataclass(frozen=True)
class Reply:
    """What a machine judge replied about a pair: its answer, the raw text, and what it cost.

    Parameters
    ----------
    image, caption
        The pair.
    code
        The answer, by its code in the form; None when the reply gives none.
    raw
        The reply as it was received.
    error
        Why there is no answer; empty when there is one.
    sent
        What was asked, without the key and without the picture.
    tokens_in, tokens_out, cost
        What it used; 0 where nothing is paid.
    seconds
        How long it took, failed attempts included.
    """

    image: int
    caption: int
    code: str | None
    raw: str = ""
    error: str = ""
    sent: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class Judge(Protocol):
    """A machine judge: answers the form's question about pairs.

    Attributes
    ----------
    name
        As tables show it.
    model
        The model that answers, to flag machine judges that are also competitors.
    version
        A hash of everything that decides the answers: model, prompt, form, thresholds. Answers of different
        versions are never mixed.
    needs_images
        Whether the image files are needed.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def needs_images(self) -> bool: ...  # noqa: D102

    def judge(self, questions: Sequence[Question]) -> Iterator[Reply]:
        """Yield a reply to each question, in any order, as soon as it is there."""
        ...
