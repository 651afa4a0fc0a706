"""What the answers are worth: people, known pairs, agreement, and one verdict out of several."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.checking.accepting import accepted_answers as accepted_answers
    from karat.judging.checking.agreement import PeopleAgreement as PeopleAgreement
    from karat.judging.checking.agreement import people_agreement as people_agreement
    from karat.judging.checking.answer_tables import rows_of as rows_of
    from karat.judging.checking.answer_tables import summed as summed
    from karat.judging.checking.answers import ADJUDICATOR as ADJUDICATOR
    from karat.judging.checking.answers import DATASET as DATASET
    from karat.judging.checking.answers import MACHINE as MACHINE
    from karat.judging.checking.answers import PERSON as PERSON
    from karat.judging.checking.answers import AnswerTable as AnswerTable
    from karat.judging.checking.answers import make_answers as make_answers
    from karat.judging.checking.gold_check import CONTROL as CONTROL
    from karat.judging.checking.quality import project_quality as project_quality
    from karat.judging.checking.quality_report import QualityReport as QualityReport
    from karat.judging.checking.review_list import ReviewList as ReviewList
    from karat.judging.checking.reviewing import approve_passing as approve_passing
    from karat.judging.checking.reviewing import review_hand_ins as review_hand_ins
    from karat.judging.checking.verdicts import AGGREGATIONS as AGGREGATIONS
    from karat.judging.checking.verdicts import Aggregated as Aggregated
    from karat.judging.checking.verdicts import aggregate as aggregate

__all__, __getattr__, __dir__ = exports(__name__, __file__)
