"""Everything about accounts in one object."""

from __future__ import annotations

from karat.judging import Project
from karat.web.accounts.audit import Audit
from karat.web.accounts.invitations import Invitations
from karat.web.accounts.members import Members
from karat.web.accounts.removal import Removal
from karat.web.accounts.sessions import Sessions
from karat.web.settings import Settings


class Accounts(Members, Sessions, Invitations, Removal, Audit):
    """The accounts of a project; any thread may use them.

    Parameters
    ----------
    project
        They are kept in its database.
    settings
        How long sessions and links hold.
    """

    def __init__(self, project: Project, settings: Settings) -> None:
        self._project, self._db = project, project.database
        self._recent = {}
        self.where = project.where
        self.session_seconds, self.idle_seconds = settings.session_seconds, settings.idle_seconds
        self.invitation_seconds = settings.invitation_seconds
