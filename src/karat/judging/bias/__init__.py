"""How the models of a pool bias its labels."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.bias.report import project_bias as project_bias

__all__, __getattr__, __dir__ = exports(__name__, __file__)
