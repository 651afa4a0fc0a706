"""Judging: from several systems' runs to labels that people have checked; no web here.

Pool what the systems suggest (`make_pool`), pack it into tasks with hidden known pairs (`make_tasks`), keep
answers in a store (`create_project`), check and combine them (`quality`, `aggregate`), and publish a
corrected benchmark (`publish`); `measure_bias` says what the machines did to the labels.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.bias.bias import BiasTable as BiasTable
    from karat.judging.bias.bias import bias_from_table as bias_from_table
    from karat.judging.bias.bias_report import BiasReport as BiasReport
    from karat.judging.bias.bias_report import measure_bias as measure_bias
    from karat.judging.bias.diversity import Diversity as Diversity
    from karat.judging.bias.diversity import compare_systems as compare_systems
    from karat.judging.bias.project_labels import project_bias as project_bias
    from karat.judging.checking.accepting import accepted_answers as accepted_answers
    from karat.judging.checking.answers import AnswerTable as AnswerTable
    from karat.judging.checking.answers import make_answers as make_answers
    from karat.judging.checking.gold_check import check_gold as check_gold
    from karat.judging.checking.quality import project_quality as project_quality
    from karat.judging.checking.quality import quality as quality
    from karat.judging.checking.verdicts import Aggregated as Aggregated
    from karat.judging.checking.verdicts import aggregate as aggregate
    from karat.judging.exchange.exporting import export_answers as export_answers
    from karat.judging.exchange.exporting import export_tasks as export_tasks
    from karat.judging.exchange.importing import import_answers as import_answers
    from karat.judging.forms.form import Choice as Choice
    from karat.judging.forms.form import Example as Example
    from karat.judging.forms.form import FollowUp as FollowUp
    from karat.judging.forms.form import Form as Form
    from karat.judging.forms.form_files import FORMS as FORMS
    from karat.judging.forms.form_files import load_form as load_form
    from karat.judging.forms.form_files import save_form as save_form
    from karat.judging.pools.cost import Cost as Cost
    from karat.judging.pools.cost import estimate_cost as estimate_cost
    from karat.judging.pools.pool import Pool as Pool
    from karat.judging.pools.pool_words import pool_cost as pool_cost
    from karat.judging.pools.pooling import make_pool as make_pool
    from karat.judging.publishing.correction import correct as correct
    from karat.judging.publishing.evidence import Evidence as Evidence
    from karat.judging.publishing.evidence import evidence_of as evidence_of
    from karat.judging.publishing.growth import growth as growth
    from karat.judging.publishing.invalid import invalid_candidates as invalid_candidates
    from karat.judging.publishing.label_quality import label_quality as label_quality
    from karat.judging.publishing.publish import Published as Published
    from karat.judging.publishing.publish import publish as publish
    from karat.judging.store.project import Project as Project
    from karat.judging.store.project import create_project as create_project
    from karat.judging.store.project import open_project as open_project
    from karat.judging.tasks.plan import TaskPlan as TaskPlan
    from karat.judging.tasks.simulated import simulate_answers as simulate_answers
    from karat.judging.tasks.tasks import make_tasks as make_tasks

__all__, __getattr__, __dir__ = exports(__name__, __file__)
