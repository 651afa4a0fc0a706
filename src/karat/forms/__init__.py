"""What annotators are asked and what they answer, as plain records: forms, pools, tasks, answers."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.forms.answer_table import ADJUDICATOR as ADJUDICATOR
    from karat.forms.answer_table import DATASET as DATASET
    from karat.forms.answer_table import MACHINE as MACHINE
    from karat.forms.answer_table import PER_ANSWER as PER_ANSWER
    from karat.forms.answer_table import PERSON as PERSON
    from karat.forms.answer_table import AnswerRows as AnswerRows
    from karat.forms.answer_table import AnswerTable as AnswerTable
    from karat.forms.answer_table import ChosenDetails as ChosenDetails
    from karat.forms.answer_table import Grouped as Grouped
    from karat.forms.answer_table import group as group
    from karat.forms.answer_table import make_answers as make_answers
    from karat.forms.answer_table import number_pairs as number_pairs
    from karat.forms.answer_table import split_adjudicated as split_adjudicated
    from karat.forms.details import check_details as check_details
    from karat.forms.details import chosen_names as chosen_names
    from karat.forms.details import read_details as read_details
    from karat.forms.details import unanswered as unanswered
    from karat.forms.draw_batch import DrawBatch as DrawBatch
    from karat.forms.form import Choice as Choice
    from karat.forms.form import Example as Example
    from karat.forms.form import FollowUp as FollowUp
    from karat.forms.form import Form as Form
    from karat.forms.form_data import form_from_data as form_from_data
    from karat.forms.form_data import form_to_data as form_to_data
    from karat.forms.form_files import FORMS as FORMS
    from karat.forms.form_files import load_form as load_form
    from karat.forms.form_files import save_form as save_form
    from karat.forms.pairs import ORIGINAL as ORIGINAL
    from karat.forms.pairs import are_pairs as are_pairs
    from karat.forms.pairs import asked_directions as asked_directions
    from karat.forms.pairs import check_judged as check_judged
    from karat.forms.pairs import distinct as distinct
    from karat.forms.pairs import find as find
    from karat.forms.pairs import fingerprint as fingerprint
    from karat.forms.pairs import judged_keys as judged_keys
    from karat.forms.pairs import key_of as key_of
    from karat.forms.pairs import keys_of_truth as keys_of_truth
    from karat.forms.pairs import listed_judgments as listed_judgments
    from karat.forms.pairs import listed_pairs as listed_pairs
    from karat.forms.pairs import lookup as lookup
    from karat.forms.pairs import original_pairs as original_pairs
    from karat.forms.pairs import pair_key as pair_key
    from karat.forms.pairs import positive_keys as positive_keys
    from karat.forms.pairs import split_key as split_key
    from karat.forms.pool import DRAWN as DRAWN
    from karat.forms.pool import FILLED as FILLED
    from karat.forms.pool import GOLD_NO as GOLD_NO
    from karat.forms.pool import GOLD_YES as GOLD_YES
    from karat.forms.pool import NOT_GOLD as NOT_GOLD
    from karat.forms.pool import POOLED as POOLED
    from karat.forms.pool import Pool as Pool
    from karat.forms.pool import pool_sentences as pool_sentences
    from karat.forms.pool import runs_of_pool as runs_of_pool
    from karat.forms.pool import without as without
    from karat.forms.task_plan import TaskPlan as TaskPlan
    from karat.forms.texts import ANNOTATOR_KINDS as ANNOTATOR_KINDS
    from karat.forms.texts import MAX_JSON as MAX_JSON
    from karat.forms.texts import MAX_NAME as MAX_NAME
    from karat.forms.texts import MAX_WORDS as MAX_WORDS
    from karat.forms.texts import check_kind as check_kind
    from karat.forms.texts import check_name as check_name
    from karat.forms.texts import check_seconds as check_seconds
    from karat.forms.texts import check_text as check_text
    from karat.forms.texts import check_time as check_time
    from karat.forms.texts import to_json as to_json

__all__, __getattr__, __dir__ = exports(__name__, __file__)
