"""Quality: what the answers are worth. Annotators, gold, agreement, reviews and verdicts."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.quality.acceptance import AcceptanceRule as AcceptanceRule
    from karat.judging.quality.acceptance import accepted_in as accepted_in
    from karat.judging.quality.acceptance import project_verdicts as project_verdicts
    from karat.judging.quality.agreement import AnnotatorAgreement as AnnotatorAgreement
    from karat.judging.quality.agreement import annotator_agreement as annotator_agreement
    from karat.judging.quality.assignments import accepted_answers as accepted_answers
    from karat.judging.quality.marks import marked_question as marked_question
    from karat.judging.quality.report import QualityReport as QualityReport
    from karat.judging.quality.report import answer_quality as answer_quality
    from karat.judging.quality.reviews import ReviewList as ReviewList
    from karat.judging.quality.reviews import approve_passing as approve_passing
    from karat.judging.quality.reviews import login_name as login_name
    from karat.judging.quality.reviews import review_assignments as review_assignments
    from karat.judging.quality.system_tables import rows_of as rows_of
    from karat.judging.quality.system_tables import summed as summed
    from karat.judging.quality.verdicts import AGGREGATIONS as AGGREGATIONS
    from karat.judging.quality.verdicts import Aggregated as Aggregated
    from karat.judging.quality.verdicts import aggregate as aggregate

__all__, __getattr__, __dir__ = exports(__name__, __file__)
