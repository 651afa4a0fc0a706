"""Signing in, links and passwords, the limits on trying, and the owner's page about people."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.accounts.doors import Doors as Doors
    from karat.web.accounts.limits import TooMany as TooMany

__all__, __getattr__, __dir__ = exports(__name__, __file__)
