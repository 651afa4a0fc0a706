"""From answers to a published benchmark."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.publishing.marking import mark as mark
    from karat.judging.publishing.merging import POLICIES as POLICIES
    from karat.judging.publishing.provenance import FILE as FILE
    from karat.judging.publishing.publish import NAME as NAME
    from karat.judging.publishing.validity import FOLD as FOLD
    from karat.judging.publishing.validity import SIDES as SIDES
    from karat.judging.publishing.validity import valid_items as valid_items

__all__, __getattr__, __dir__ = exports(__name__, __file__)
