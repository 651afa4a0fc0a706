"""What the pool's systems did to the labels."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.bias.project_labels import judged_pairs as judged_pairs
    from karat.judging.bias.project_labels import project_bias as project_bias

__all__, __getattr__, __dir__ = exports(__name__, __file__)
