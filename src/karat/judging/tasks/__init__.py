"""Packs of pairs with hidden known ones, and simulated people who answer them."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.tasks.plan import KNOWN_NO as KNOWN_NO
    from karat.judging.tasks.plan import KNOWN_YES as KNOWN_YES
    from karat.judging.tasks.plan import UNKNOWN as UNKNOWN
    from karat.judging.tasks.plan import TaskPlan as TaskPlan

__all__, __getattr__, __dir__ = exports(__name__, __file__)
