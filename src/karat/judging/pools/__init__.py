"""What is judged: the pairs that several models suggest, with gold pairs, and what judging them costs."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.pools.candidates import QuerySample as QuerySample
    from karat.judging.pools.candidates import make_pool as make_pool
    from karat.judging.pools.cost import Cost as Cost
    from karat.judging.pools.cost import Rates as Rates
    from karat.judging.pools.cost import cost_of_tasks as cost_of_tasks
    from karat.judging.pools.cost import overlap_notes as overlap_notes
    from karat.judging.pools.cost import pool_cost as pool_cost
    from karat.judging.pools.filters import POOL_FILTERS as POOL_FILTERS
    from karat.judging.pools.filters import FilterKind as FilterKind
    from karat.judging.pools.filters import parse_filter as parse_filter
    from karat.judging.pools.gold import GoldChoice as GoldChoice
    from karat.judging.pools.gold import more_gold as more_gold


__all__, __getattr__, __dir__ = exports(__name__, __file__)
