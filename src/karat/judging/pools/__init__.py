"""What is judged: the pairs that several models suggest, with gold pairs, and what judging them costs."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.pools.candidates import QuerySample as QuerySample
    from karat.judging.pools.candidates import make_pool as make_pool
    from karat.judging.pools.cost import Cost as Cost
    from karat.judging.pools.cost import Rates as Rates
    from karat.judging.pools.cost import cost_of_tasks as cost_of_tasks
    from karat.judging.pools.cost import estimate_cost as estimate_cost
    from karat.judging.pools.cost import pool_cost as pool_cost
    from karat.judging.pools.draws import DrawBatch as DrawBatch
    from karat.judging.pools.filters import POOL_FILTERS as POOL_FILTERS
    from karat.judging.pools.filters import FilterKind as FilterKind
    from karat.judging.pools.filters import parse_filter as parse_filter
    from karat.judging.pools.gold import GoldChoice as GoldChoice
    from karat.judging.pools.gold import more_gold as more_gold
    from karat.judging.pools.instance_pool import make_instance_pool as make_instance_pool
    from karat.judging.pools.pairs import ORIGINAL as ORIGINAL
    from karat.judging.pools.pairs import check_judged as check_judged
    from karat.judging.pools.pairs import distinct as distinct
    from karat.judging.pools.pairs import find as find
    from karat.judging.pools.pairs import fingerprint as fingerprint
    from karat.judging.pools.pairs import key_of as key_of
    from karat.judging.pools.pairs import keys_of_truth as keys_of_truth
    from karat.judging.pools.pairs import listed_judgments as listed_judgments
    from karat.judging.pools.pairs import listed_pairs as listed_pairs
    from karat.judging.pools.pairs import lookup as lookup
    from karat.judging.pools.pairs import split_key as split_key
    from karat.judging.pools.pool import DRAWN as DRAWN
    from karat.judging.pools.pool import FILLED as FILLED
    from karat.judging.pools.pool import GOLD_NO as GOLD_NO
    from karat.judging.pools.pool import GOLD_YES as GOLD_YES
    from karat.judging.pools.pool import NOT_GOLD as NOT_GOLD
    from karat.judging.pools.pool import POOLED as POOLED
    from karat.judging.pools.pool import Pool as Pool
    from karat.judging.pools.pool import pool_sentences as pool_sentences
    from karat.judging.pools.pool import runs_of_pool as runs_of_pool
    from karat.judging.pools.pool import without as without

__all__, __getattr__, __dir__ = exports(__name__, __file__)
