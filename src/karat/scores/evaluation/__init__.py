"""From runs and labels to the columns of a scorecard."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.scores.evaluation.chance import at_chance as at_chance
    from karat.scores.evaluation.chance import chance_r1 as chance_r1
    from karat.scores.evaluation.chance import check_chance as check_chance
    from karat.scores.evaluation.chance import explain_chance as explain_chance
    from karat.scores.evaluation.chance import listed_truth as listed_truth
    from karat.scores.evaluation.chance import quick_r1 as quick_r1
    from karat.scores.evaluation.columns import score_runs as score_runs
    from karat.scores.evaluation.evaluation import evaluate as evaluate
    from karat.scores.evaluation.options import DEFAULT_MEASURES as DEFAULT_MEASURES
    from karat.scores.evaluation.options import ScoringOptions as ScoringOptions
    from karat.scores.evaluation.options import check_options as check_options
    from karat.scores.evaluation.requests import ScanAnswers as ScanAnswers
    from karat.scores.evaluation.requests import ScanRequests as ScanRequests
    from karat.scores.evaluation.requests import pairs_of as pairs_of

__all__, __getattr__, __dir__ = exports(__name__, __file__)
