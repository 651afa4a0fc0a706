"""Known owners: which owners of a project were made by servers on this machine.

A project may come from somebody else, with owners who can sign in. The project itself cannot say who made
them. So every server keeps marks of the owners that it made or was told of in the user's configuration
folder; an owner without a mark is announced when a server starts.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path

from karat._util import config_folder, replacing
from karat.errors import KaratError
from karat.store.accounts import Accounts

MOST = 10_000
"""How many marks are kept, the newest ones."""


class KnownOwners:
    """The owners of a project that this machine knows, kept up to date while it is served.

    Parameters
    ----------
    accounts
        Of the project.
    """

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self._lock = threading.Lock()
        marks = set(read_marks())
        self.unknown = [
            name for name, mark in accounts.users.owner_marks().items() if mark not in marks
        ]  # fmt: skip
        """Names of active owners who were made, or got their password, elsewhere."""
        accounts.on_change(self.learn)

    def accept(self, name: str) -> None:
        """Count an owner as known from now on."""
        self.unknown = [other for other in self.unknown if other != name]
        self.learn()

    def learn(self) -> None:
        """Keep the marks of all owners but the unknown ones."""
        with self._lock, suppress(KaratError, OSError):
            marks, known = self.accounts.users.owner_marks(), read_marks()
            new = [mark for name, mark in marks.items() if name not in self.unknown and mark not in known]
            if new:
                write_marks([*known, *new][-MOST:])

    def sentence(self, where: str) -> str:
        """Return what to tell the operator; empty if all owners are known."""
        if not self.unknown:
            return ""
        names = ", ".join(self.unknown[:10]) + (" …" if len(self.unknown) > 10 else "")
        return (
            f"{where} has owners who were not created on this machine and can sign in: {names}; if you do "
            "not know one of them, start again with --disable NAME, else with --owner NAME"
        )


def marks_file() -> Path:
    """Return the file of the marks, in the user's configuration folder."""
    return config_folder() / "owners.json"


def read_marks() -> list[str]:
    """Return the marks; none where there is no file, or it cannot be read."""
    try:
        marks = json.loads(marks_file().read_text(encoding="utf-8"))
        return [mark for mark in marks if isinstance(mark, str)]
    except (OSError, ValueError, TypeError):
        return []


def write_marks(marks: list[str]) -> None:
    """Write the marks, for the user alone."""
    with replacing(marks_file(), private=True, parents=True) as draft:
        draft.write_text(json.dumps(marks, indent=0), encoding="utf-8")
