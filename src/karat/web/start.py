"""What happens once, when a server starts: may it, and how does the owner come in?"""

from __future__ import annotations

from karat.errors import InputError
from karat.judging.store.accounts import ENTER, OWNER, Accounts
from karat.web.settings import Settings

LINK_SECONDS = 86_400.0
DEMO_OWNER = "demo owner"


def check_open(accounts: Accounts, settings: Settings) -> None:
    """Raise when others could reach the server and nobody could sign in as its owner."""
    if settings.public and not accounts.users.has_owner():
        raise InputError(
            "others could reach this server, and the project has no owner with a password",
            where=accounts.where,
            fix="pass --owner NAME to make one",
        )


def owner_link(accounts: Accounts, settings: Settings) -> str | None:
    """Return a link that works once, for a day: it makes the first owner, or lets the owner in.

    Links of earlier starts stop working. On a server that others can reach, owners sign in like everybody.
    """
    accounts.invitations.drop_server_links()
    owners = [one.id for one in accounts.users.read() if one.role == OWNER and one.active]
    if not owners and settings.demo:
        owners = [accounts.users.add(DEMO_OWNER, OWNER, None).id]
    if not owners:
        token = accounts.invitations.invite(OWNER, seconds=LINK_SECONDS)
    elif not settings.public:
        token = accounts.invitations.link_for(owners[0], ENTER, LINK_SECONDS)
    else:
        return None
    return f"{settings.address}/invitation#{token}"
