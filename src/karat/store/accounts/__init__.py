"""Accounts of the web application: users, passwords, sessions, invitation links, and the audit trail."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.store.accounts.accounts import Accounts as Accounts
    from karat.store.accounts.credentials import MIN_PASSWORD as MIN_PASSWORD
    from karat.store.accounts.credentials import fold as fold
    from karat.store.accounts.credentials import is_token as is_token
    from karat.store.accounts.credentials import new_token as new_token
    from karat.store.accounts.invitations import ENTER as ENTER
    from karat.store.accounts.invitations import RESET as RESET
    from karat.store.accounts.invitations import UselessLink as UselessLink
    from karat.store.accounts.rows import Spans as Spans
    from karat.store.accounts.users import JUDGE as JUDGE
    from karat.store.accounts.users import OWNER as OWNER
    from karat.store.accounts.users import READER as READER
    from karat.store.accounts.users import Account as Account
    from karat.store.accounts.users import User as User

__all__, __getattr__, __dir__ = exports(__name__, __file__)
