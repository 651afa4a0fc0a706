"""From answers to a published benchmark."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.publication.policies import POLICIES as POLICIES
    from karat.judging.publication.provenance import FILE as FILE
    from karat.judging.publication.publication import NAME as NAME
    from karat.judging.publication.validity import SIDES as SIDES
    from karat.judging.publication.validity import asking as asking
    from karat.judging.publication.validity import both_sides as both_sides
    from karat.judging.publication.validity import valid_fold as valid_fold
    from karat.judging.publication.validity import valid_items as valid_items
    from karat.judging.publication.validity import valid_pairs as valid_pairs

__all__, __getattr__, __dir__ = exports(__name__, __file__)
