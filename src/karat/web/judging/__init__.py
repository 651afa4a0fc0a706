"""The judging page: annotators lease tasks, answer and submit them; nothing tells which pairs are gold."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.judging.pictures import region_of as region_of
    from karat.web.judging.pictures import send_picture as send_picture
    from karat.web.judging.routes import not_shown as not_shown

__all__, __getattr__, __dir__ = exports(__name__, __file__)
