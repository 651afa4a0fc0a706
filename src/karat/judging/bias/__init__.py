"""What the pool's systems did to the labels."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.bias.bias_tables import bias_layouts as bias_layouts
    from karat.judging.bias.bias_words import bias_sentences as bias_sentences

__all__, __getattr__, __dir__ = exports(__name__, __file__)
