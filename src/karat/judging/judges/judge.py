"""What a machine judge is: something that answers the form's question about pairs, as people do."""

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
class Verdict:
    """What a judge said about a pair, with everything that it said.

    Parameters
    ----------
    image, caption
        The pair.
    code
        The answer, by its code in the form; None when there was none to understand.
    raw
        The reply as it came.
    error
        Why there is no answer; empty when there is one.
    sent
        What was asked, without the key and without the picture.
    tokens_in, tokens_out, cost
        What it took; 0 where nothing is paid.
    seconds
        How long it took, tries that failed included.
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
    """Answers the form's question about pairs.

    Attributes
    ----------
    name
        As tables show it.
    model
        Which model answers, for the flag of judges that are also competitors.
    version
        A hash of everything that decides the answers: model, prompt, form, thresholds. Answers of one version
        are never mixed with those of another.
    needs_images
        Whether the picture's file must be there.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def needs_images(self) -> bool: ...  # noqa: D102

    def judge(self, questions: Sequence[Question]) -> Iterator[Verdict]:
        """Answer questions, in any order, as the answers come in."""
        ...
