"""Accounts: signing in, invitation links, limits on failed attempts, and the owner's page of users."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.accounts.foreign_accounts import settle_foreign as settle_foreign
    from karat.web.accounts.limits import AttemptLimits as AttemptLimits
    from karat.web.accounts.limits import TooMany as TooMany
    from karat.web.accounts.limits import network_of as network_of

__all__, __getattr__, __dir__ = exports(__name__, __file__)
