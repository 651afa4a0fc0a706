"""Accounts: who may come in, by which link, with which password, and what they did."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.accounts.accounts import Accounts as Accounts
    from karat.web.accounts.doors import Doors as Doors
    from karat.web.accounts.invitations import ENTER as ENTER
    from karat.web.accounts.invitations import RESET as RESET
    from karat.web.accounts.limits import TooMany as TooMany
    from karat.web.accounts.passwords import LEAST as LEAST
    from karat.web.accounts.routes import accounts_of as accounts_of

__all__, __getattr__, __dir__ = exports(__name__, __file__)
