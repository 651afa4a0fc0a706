"""What is judged: the pairs that several systems suggest, and what judging them costs."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.pools.known_pairs import ORIGINAL as ORIGINAL
    from karat.judging.pools.known_pairs import listed_pairs as listed_pairs
    from karat.judging.pools.pair_keys import distinct as distinct
    from karat.judging.pools.pair_keys import find as find
    from karat.judging.pools.pair_keys import fingerprint as fingerprint
    from karat.judging.pools.pair_keys import key_of as key_of
    from karat.judging.pools.pair_keys import keys_of_truth as keys_of_truth
    from karat.judging.pools.pair_keys import lookup as lookup
    from karat.judging.pools.pair_keys import split_key as split_key
    from karat.judging.pools.pool import FILLED as FILLED
    from karat.judging.pools.pool import Pool as Pool
    from karat.judging.pools.pool_filters import parse_filter as parse_filter
    from karat.judging.pools.pool_runs import runs_of_pool as runs_of_pool
    from karat.judging.pools.pool_words import pool_cost as pool_cost
    from karat.judging.pools.pool_words import pool_sentences as pool_sentences
    from karat.judging.pools.pooling import without as without

__all__, __getattr__, __dir__ = exports(__name__, __file__)
