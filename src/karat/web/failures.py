"""Failures of the server: named for /health, logged once a minute, and a copy of what would be lost."""

from __future__ import annotations

import logging
import threading
import time

from karat.errors import KaratError
from karat.store import DAMAGED, LOST, SENTENCES, OpenFile, Project, StoreError, best_copy

EVERY, RECENT = 60.0, 10.0
"""Seconds between two lines about the same state, and how long a state is reported after it was noted."""
WAIT = 1.0
"""How many seconds another program may take to write over the file."""
CONNECTIONS = "too-many-connections"
LOG = logging.getLogger("karat.web.failures")


def sentence_of(state: str) -> str:
    """Return a state in a sentence.

    >>> sentence_of("disk-full")
    'The disk of the project is full, or nearly full.'
    """
    if state == CONNECTIONS:
        return "The server has too many connections."
    return SENTENCES.get(state, "The project cannot be used at the moment.")


def is_whole_soon(file: OpenFile) -> bool:
    """Return whether a damaged file is whole a moment later: another copy may be written over it."""
    time.sleep(WAIT)
    try:
        file.check()
    except StoreError:
        return False
    return True


class Failures:
    """What failed last, in every thread.

    A file that was deleted or replaced under the server is copied beside its name while it is still open: the
    copy has every answer that was acknowledged. Of a file that was truncated or overwritten, not all may be
    left: then the log names the copy that has the most answers.

    Parameters
    ----------
    project
        The project.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.count = 0
        self._lock = threading.Lock()
        self._logged: dict[str, float] = {}
        self._noted: dict[str, float] = {}
        self._rescue: threading.Thread | None = None

    def note(self, state: str) -> None:
        """Note that something failed because of a state."""
        now = time.monotonic()
        with self._lock:
            self.count += 1
            self._noted[state] = now
            if now - self._logged.get(state, float("-inf")) >= EVERY:
                self._logged[state] = now
                fields = {"state": state, "failures": self.count}
                LOG.error(sentence_of(state), extra={"fields": fields})
            if state in (*LOST, DAMAGED) and self._rescue is None and self.project.database.file is not None:
                self._rescue = threading.Thread(
                    target=self._copy, args=(state == DAMAGED,), name="karat-rescue"
                )
                self._rescue.start()

    def recent(self, *states: str) -> str:
        """Return the first of some states that was noted in the last seconds; empty if none was."""
        now = time.monotonic()
        return next((state for state in states if now - self._noted.get(state, -RECENT) < RECENT), "")

    def over(self) -> None:
        """Note that the store works."""
        with self._lock:
            if self._logged:
                LOG.warning("the server works again", extra={"fields": {"failures": self.count}})
                self._logged, self.count, self._rescue = {}, 0, None

    def _copy(self, damaged: bool) -> None:
        file, place = self.project.database.file, self.project.where
        if file is None:
            return
        try:
            if damaged and is_whole_soon(file):
                return
            copy, complete = file.rescue()
            if complete and copy is not None:
                LOG.error("every acknowledged answer was copied to %s", copy.name)
                return
            said = f"not all {file.answers:,} rows of answers are left"
            best = best_copy(file.path, file.made)
            if best is None:
                LOG.error("%s, and no copy of the project is beside it: restore one of yours", said)
            else:
                LOG.error("%s; stop the server and restore %s", said, best.sentence(place))
        except (KaratError, OSError) as error:
            LOG.error("the answers could not be copied: %s", getattr(error, "what", type(error).__name__))
        except Exception:
            LOG.exception("the answers could not be copied")

    def close(self) -> None:
        """Wait until a copy is complete."""
        if self._rescue is not None:
            self._rescue.join()
