"""Accounts and links that came with a project: told at the start, and confirmed once by the operator.

They have no rights until then. The project is the operator's own, moved to this machine, restored or made by
an older version; or it is from somebody else, with accounts that nobody here knows.
"""

from __future__ import annotations

import sys
from typing import Any

from karat._util import plural
from karat.errors import printable
from karat.store.accounts import OWNER, Account, Accounts
from karat.web.pages import ROLES, day

SHOWN = 10
"""How many names a sentence has at most."""
LONGEST = 60
"""How many lines the terminal shows before it asks."""


def settle_foreign(accounts: Accounts, confirm: bool, ask: bool) -> list[str]:
    """End the sessions that came with a project, and confirm the rest where the operator says so.

    Parameters
    ----------
    accounts
        Of the project.
    confirm
        Confirm without asking: ``--confirm``.
    ask
        Ask in the terminal.

    Returns
    -------
    list of str
        What to tell the operator.
    """
    ended = accounts.sessions.end_foreign()
    notes = [f"{plural(ended, 'session')} opened on another machine ended: sign in again"] if ended else []
    users, links = accounts.foreign()
    if not users and not links:
        return notes
    if confirm or (ask and is_confirmed(accounts.where, users, links)):
        accounts.confirm_all()
        return [*notes, f"confirmed: {summary(users, links)}"]
    return [
        *notes,
        f"{accounts.where} has what was not made on this machine, or was changed elsewhere: "
        f"{summary(users, links)}; it gives no rights: start with --confirm if the project is your own "
        "(moved, restored, or of an older version), else disable accounts with --disable NAME, or decide one "
        "by one on the page of users",
    ]


def is_confirmed(where: str, users: list[Account], links: list[dict[str, Any]]) -> bool:
    """Show accounts and links in the terminal, and return whether the operator confirms them."""
    # Owners first, so that no stranger hides one behind the end of a long list.
    named = [
        (user.role, f"  {user.name}  ({ROLES.get(user.role, user.role)}, made {day(user.at)})")
        for user in users
    ]
    named += [(link["role"], f"  a link {purpose(link)} (made {day(link['at'])})") for link in links]
    lines = [line for _, line in sorted(named, key=lambda pair: pair[0] != OWNER)]
    if len(lines) > LONGEST:
        lines[LONGEST:] = [f"  and {len(lines) - LONGEST} more"]
    text = "\n".join(printable(line) for line in lines)
    print(
        f"{printable(where)} was made or changed on another machine. It has:\n{text}\n"
        "They have no rights until you confirm them. Confirm only if the project is your own: moved, "
        "restored, or of an older version of karat.",
        file=sys.stderr,
    )
    print("Confirm all of them? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def purpose(link: dict[str, Any]) -> str:
    """Return what a link is for.

    >>> purpose({"kind": "join", "role": "judge", "name": None, "person": None})
    'to join as annotator'
    >>> purpose({"kind": "enter", "role": None, "name": None, "person": "ann"})
    'to sign in as ann'
    """
    if link["kind"] == "join":
        return f"to join as {ROLES.get(link['role'], link['role'])}"
    return f"{'to sign in as' if link['kind'] == 'enter' else 'for a new password of'} {link['person']}"


def summary(users: list[Account], links: list[dict[str, Any]]) -> str:
    """Return accounts and links in a phrase, owners first."""
    owners_first = sorted(users, key=lambda user: user.role != OWNER)
    names = [f"{user.name} ({ROLES.get(user.role, user.role)})" for user in owners_first[:SHOWN]]
    more = [f"{len(users) - SHOWN} more accounts"] if len(users) > SHOWN else []
    made = [f"{plural(len(links), 'open link')}"] if links else []
    return ", ".join([*names, *more, *made])
