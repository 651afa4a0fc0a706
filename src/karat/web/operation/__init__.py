"""Running the web for long: health, figures for Prometheus, logs without secrets, and an orderly end."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.operation.figures import SECONDS as SECONDS
    from karat.web.operation.logs import log_config as log_config

__all__, __getattr__, __dir__ = exports(__name__, __file__)
