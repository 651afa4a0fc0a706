"""The web application: the judging page, the dashboard and accounts; `karat serve` starts it."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.service import serve as serve
    from karat.web.settings import Settings as Settings

__all__, __getattr__, __dir__ = exports(__name__, __file__)
