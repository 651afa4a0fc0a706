"""A project: the pairs to judge, their tasks, what annotators answered, and what becomes of it.

Each function takes an open project, or its file or ``postgresql://`` address.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.project.benchmark_place import BenchmarkPlace as BenchmarkPlace
    from karat.project.benchmark_place import locate as locate
    from karat.project.drawn_pairs import estimate as estimate
    from karat.project.drawn_pairs import next as next
    from karat.project.judge_work import JudgedPairs as JudgedPairs
    from karat.project.judge_work import calibrate as calibrate
    from karat.project.judge_work import judge as judge
    from karat.project.judge_work import judges as judges
    from karat.project.new_project import PooledPairs as PooledPairs
    from karat.project.new_project import PooledTasks as PooledTasks
    from karat.project.new_project import check_new as check_new
    from karat.project.new_project import pool as pool
    from karat.project.new_project import pool_instances as pool_instances
    from karat.project.new_project import tasks as tasks
    from karat.project.other_tools import export as export
    from karat.project.other_tools import import_ as import_
    from karat.project.verdicts import bias as bias
    from karat.project.verdicts import publish as publish
    from karat.project.verdicts import quality as quality
    from karat.project.verdicts import rules as rules
    from karat.store import back_up as backup
    from karat.store import restore as restore

__all__, __getattr__, __dir__ = exports(__name__, __file__)
