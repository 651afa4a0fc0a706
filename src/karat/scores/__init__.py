"""Scores: evaluate runs, compare them, and the Scorecard that everything else is computed from."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.scores.agreement.pair_scores import Located as Located
    from karat.scores.agreement.pair_scores import locate as locate
    from karat.scores.agreement.pair_scores import run_scores as run_scores
    from karat.scores.agreement.pair_scores import table_scores as table_scores
    from karat.scores.agreement.rater_agreement import MISSING_PAIRS as MISSING_PAIRS
    from karat.scores.agreement.rater_agreement import RESAMPLED as RESAMPLED
    from karat.scores.agreement.rater_agreement import Agreement as Agreement
    from karat.scores.agreement.rater_agreement import agree as agree
    from karat.scores.agreement.rater_agreement import estimate_record as estimate_record
    from karat.scores.agreement.ratings import Ratings as Ratings
    from karat.scores.agreement.ratings import name_of as name_of
    from karat.scores.agreement.ratings_file import COLUMN_NAMES as COLUMN_NAMES
    from karat.scores.agreement.ratings_file import first_lines as first_lines
    from karat.scores.agreement.ratings_file import read_ratings as read_ratings
    from karat.scores.agreement.score_agreement import ScoreAgreement as ScoreAgreement
    from karat.scores.agreement.score_agreement import score_agreement as score_agreement
    from karat.scores.agreement.thresholds import cut_texts as cut_texts
    from karat.scores.chance import check_chance as check_chance
    from karat.scores.column import DIRECTION_TITLES as DIRECTION_TITLES
    from karat.scores.column import RECORD as RECORD
    from karat.scores.column import Column as Column
    from karat.scores.comparison.comparison import CORRECTIONS as CORRECTIONS
    from karat.scores.comparison.comparison import Comparison as Comparison
    from karat.scores.comparison.comparison import show_p as show_p
    from karat.scores.comparison.comparison import show_places as show_places
    from karat.scores.comparison.comparison import shown_standings as shown_standings
    from karat.scores.comparison.comparison import signed_value as signed_value
    from karat.scores.comparison.comparison import swaps_made as swaps_made
    from karat.scores.comparison.paired_comparison import check_choices as check_choices
    from karat.scores.comparison.paired_comparison import compare as compare
    from karat.scores.comparison.paired_tests import TESTS as TESTS
    from karat.scores.comparison.standings import Difference as Difference
    from karat.scores.comparison.standings import Standing as Standing
    from karat.scores.correlation import FEWEST_SYSTEMS as FEWEST_SYSTEMS
    from karat.scores.correlation import CorrelationTable as CorrelationTable
    from karat.scores.correlation import correlate as correlate
    from karat.scores.correlation import select_metrics as select_metrics
    from karat.scores.evaluation.batches import bound_notes as bound_notes
    from karat.scores.evaluation.batches import tie_notes as tie_notes
    from karat.scores.evaluation.columns import details_of as details_of
    from karat.scores.evaluation.columns import scan_runs as scan_runs
    from karat.scores.evaluation.columns import score_runs as score_runs
    from karat.scores.evaluation.evaluation import evaluate as evaluate
    from karat.scores.evaluation.label_versions import PlacedLabels as PlacedLabels
    from karat.scores.evaluation.label_versions import place_labels as place_labels
    from karat.scores.evaluation.label_versions import version_blocks as version_blocks
    from karat.scores.evaluation.options import TRUTH_MAKERS as TRUTH_MAKERS
    from karat.scores.evaluation.options import ScoringOptions as ScoringOptions
    from karat.scores.evaluation.options import check_options as check_options
    from karat.scores.evaluation.shared_pairs import SharedPairs as SharedPairs
    from karat.scores.evaluation.similarity import SIMILARITIES as SIMILARITIES
    from karat.scores.evaluation.similarity import Similarities as Similarities
    from karat.scores.evaluation.similarity import keep_computed as keep_computed
    from karat.scores.evaluation.similarity import similarities_of as similarities_of
    from karat.scores.exchange import every_eval_ever as every_eval_ever
    from karat.scores.exchange import model_index as model_index
    from karat.scores.gallery_curve import GalleryCurve as GalleryCurve
    from karat.scores.gallery_curve import first_places as first_places
    from karat.scores.gallery_curve import gallery_curves as gallery_curves
    from karat.scores.inspection import Finding as Finding
    from karat.scores.inspection import Inspection as Inspection
    from karat.scores.inspection import inspect as inspect
    from karat.scores.intervals import ValueSamples as ValueSamples
    from karat.scores.intervals import check_published_labels as check_published_labels
    from karat.scores.intervals import comparison_intervals as comparison_intervals
    from karat.scores.intervals import paired_differences as paired_differences
    from karat.scores.intervals import with_intervals as with_intervals
    from karat.scores.leaderboard import ARROWS as ARROWS
    from karat.scores.leaderboard import Leaderboard as Leaderboard
    from karat.scores.leaderboard import from_scorecards as from_scorecards
    from karat.scores.leaderboard import is_low as is_low
    from karat.scores.leaderboard import metric_name as metric_name
    from karat.scores.leaderboard import read_leaderboard as read_leaderboard
    from karat.scores.meter import Meter as Meter
    from karat.scores.scorecard import EXCHANGES as EXCHANGES
    from karat.scores.scorecard import Details as Details
    from karat.scores.scorecard import Scorecard as Scorecard
    from karat.scores.scorecard import TieReport as TieReport
    from karat.scores.scorecard import labels_drawn as labels_drawn
    from karat.scores.scorecard import ungrouped_notes as ungrouped_notes
    from karat.scores.scorecard import units_drawn as units_drawn
    from karat.scores.semantic_curve import CURVE_M as CURVE_M
    from karat.scores.semantic_curve import SemanticCurve as SemanticCurve
    from karat.scores.semantic_curve import curve_measures as curve_measures
    from karat.scores.semantic_curve import semantic_curves as semantic_curves
    from karat.scores.semantic_curve import semantic_recall_curve as semantic_recall_curve
    from karat.scores.table_file import SEPARATORS as SEPARATORS
    from karat.scores.table_file import read_cells as read_cells
    from karat.scores.text_only import TEXT_ONLY as TEXT_ONLY
    from karat.scores.trec_eval import LIKES as LIKES
    from karat.scores.trec_eval import like_in_words as like_in_words

__all__, __getattr__, __dir__ = exports(
    __name__,
    __file__,
    {
        "M": "CURVE_M",
        "NAMES": "COLUMN_NAMES",
        "SIGNS": "SEPARATORS",
        "alone": "ungrouped_notes",
        "choose": "select_metrics",
        "inspect_run": "inspect",
        "numbers": "estimate_record",
        "signed": "signed_value",
    },
)
