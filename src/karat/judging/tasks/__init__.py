"""Tasks: packs of pairs with hidden gold, and simulated annotators who answer them."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.tasks.task_needs import annotators_needed as annotators_needed
    from karat.judging.tasks.task_needs import gold_overlap as gold_overlap
    from karat.judging.tasks.task_needs import plan_cost as plan_cost
    from karat.judging.tasks.tasks import make_tasks as make_tasks
    from karat.judging.tasks.tasks import to_ask as to_ask
    from karat.judging.tasks.tasks import unplanned as unplanned

__all__, __getattr__, __dir__ = exports(__name__, __file__)
