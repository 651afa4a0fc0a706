"""Judging: from the runs of several models to labels that annotators have checked; no web here.

Pool the pairs that the runs suggest (`make_pool`), divide them into tasks with hidden gold (`make_tasks`),
measure the quality of answers (`answer_quality`), aggregate them (`aggregate`), and publish a corrected
benchmark (`publish`); `measure_bias` measures how the choice of models biases the labels. `karat.project` has
the same for projects in files.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.bias.bias import BiasTable as BiasTable
    from karat.judging.bias.bias import bias_from_table as bias_from_table
    from karat.judging.bias.diversity import Diversity as Diversity
    from karat.judging.bias.diversity import compare_systems as compare_systems
    from karat.judging.bias.report import BiasReport as BiasReport
    from karat.judging.bias.report import JudgedPool as JudgedPool
    from karat.judging.bias.report import measure_bias as measure_bias
    from karat.judging.exchange.answer_import import import_answers as import_answers
    from karat.judging.exchange.approvals import export_approvals as export_approvals
    from karat.judging.exchange.approvals import project_approvals as project_approvals
    from karat.judging.exchange.export import export_answers as export_answers
    from karat.judging.exchange.export import export_tasks as export_tasks
    from karat.judging.pools.candidates import QuerySample as QuerySample
    from karat.judging.pools.candidates import make_pool as make_pool
    from karat.judging.pools.cost import Cost as Cost
    from karat.judging.pools.cost import Rates as Rates
    from karat.judging.pools.cost import estimate_cost as estimate_cost
    from karat.judging.pools.cost import pool_cost as pool_cost
    from karat.judging.pools.instance_pool import make_instance_pool as make_instance_pool
    from karat.judging.publication.correction import correct as correct
    from karat.judging.publication.evidence import Evidence as Evidence
    from karat.judging.publication.evidence import evidence_of as evidence_of
    from karat.judging.publication.facts import growth as growth
    from karat.judging.publication.label_quality import label_quality as label_quality
    from karat.judging.publication.publication import Published as Published
    from karat.judging.publication.publication import publish as publish
    from karat.judging.publication.validity import invalid_candidates as invalid_candidates
    from karat.judging.quality.acceptance import AcceptanceRule as AcceptanceRule
    from karat.judging.quality.acceptance import project_verdicts as project_verdicts
    from karat.judging.quality.assignments import accepted_answers as accepted_answers
    from karat.judging.quality.drawn_pairs import AnswerCounts as AnswerCounts
    from karat.judging.quality.drawn_pairs import DrawnLabels as DrawnLabels
    from karat.judging.quality.drawn_pairs import count_answers as count_answers
    from karat.judging.quality.drawn_pairs import drawn_labels as drawn_labels
    from karat.judging.quality.drawn_pairs import plan_draws as plan_draws
    from karat.judging.quality.gold import check_gold as check_gold
    from karat.judging.quality.marks import answer_marks as answer_marks
    from karat.judging.quality.report import answer_quality as answer_quality
    from karat.judging.quality.verdicts import Aggregated as Aggregated
    from karat.judging.quality.verdicts import aggregate as aggregate
    from karat.judging.tasks.simulation import simulate_answers as simulate_answers
    from karat.judging.tasks.tasks import make_tasks as make_tasks

__all__, __getattr__, __dir__ = exports(__name__, __file__)
