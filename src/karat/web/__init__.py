"""The web application: the judging page, the dashboard and accounts; `karat serve` starts it."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.app import close_app as close_app
    from karat.web.app import create_app as create_app
    from karat.web.demo import make_demo as make_demo
    from karat.web.server import check_open as check_open
    from karat.web.server import listen as listen
    from karat.web.server import make_server as make_server
    from karat.web.server import mode_note as mode_note
    from karat.web.server import owner_link as owner_link
    from karat.web.server import raise_descriptor_limit as raise_descriptor_limit
    from karat.web.server import until_stopped as until_stopped
    from karat.web.service import serve as serve
    from karat.web.settings import Settings as Settings

__all__, __getattr__, __dir__ = exports(__name__, __file__)
