"""Operation: health, metrics for Prometheus, logs without secrets."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.operation.logs import log_config as log_config

__all__, __getattr__, __dir__ = exports(__name__, __file__)
