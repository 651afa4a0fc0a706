"""Running the web for long: health, figures for Prometheus, logs without secrets, and an orderly end."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.operation.histogram import SIZES as SIZES
    from karat.web.operation.histogram import Histogram as Histogram
    from karat.web.operation.logs import log_config as log_config
    from karat.web.operation.stopping import OrderlyServer as OrderlyServer

__all__, __getattr__, __dir__ = exports(__name__, __file__)
