"""Which run is better: paired tests, and what they found."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.scores.comparison.comparison import show_p as show_p

__all__, __getattr__, __dir__ = exports(__name__, __file__)
