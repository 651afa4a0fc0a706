"""Answers on their way to the disk, and what is said when they do not get there."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass, field

from karat.judging.store import AnswerEntry

PATIENCE = 8.0
"""For how many seconds a request waits for its answer to be saved: less than a server takes to stop."""


class Busy(Exception):
    """An answer is not known to be saved: 503. Sent again with the same key, it is stored once.

    Parameters
    ----------
    wait
        After how many seconds to try again.
    """

    def __init__(self, wait: int = 1) -> None:
        super().__init__("The server is busy and the answer is not saved yet: it will be sent again.")
        self.wait = wait


@dataclass
class Waiting:
    """An answer in the queue, and the promise of its number."""

    given: AnswerEntry
    done: Future[int] = field(default_factory=Future)


async def acknowledged(done: Future[int], seconds: float = PATIENCE) -> int:
    """Wait until an answer is on the disk and return its number; no thread waits with it.

    Raises InputError where it was refused, and `Busy` where it is not known to be saved.

    Parameters
    ----------
    done
        What `Writer.answer` or `Writer.withdraw` returned.
    seconds
        How long to wait.
    """
    try:
        # What is late is cancelled: whoever asked sends it again, and it takes up no room twice.
        return await asyncio.wait_for(asyncio.wrap_future(done), seconds)
    except TimeoutError:
        raise Busy from None
