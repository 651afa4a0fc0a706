"""Statistics: intervals, paired tests, agreement and correlation."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.stats.alpha import SCALES as SCALES
    from karat.stats.alpha import alpha_lines as alpha_lines
    from karat.stats.alpha import alpha_records as alpha_records
    from karat.stats.alpha import alphas_of_counts as alphas_of_counts
    from karat.stats.alpha import krippendorff_alpha as krippendorff_alpha
    from karat.stats.alpha import scales_of as scales_of
    from karat.stats.bootstrap import FEWEST_RESAMPLED as FEWEST_RESAMPLED
    from karat.stats.bootstrap import bootstrap_interval as bootstrap_interval
    from karat.stats.bootstrap import resampled_p as resampled_p
    from karat.stats.chance_test import above_chance as above_chance
    from karat.stats.correlations import COEFFICIENTS as COEFFICIENTS
    from karat.stats.correlations import Correlation as Correlation
    from karat.stats.correlations import correlation as correlation
    from karat.stats.correlations import correlation_matrix as correlation_matrix
    from karat.stats.correlations import item_correlations as item_correlations
    from karat.stats.estimate import Estimate as Estimate
    from karat.stats.estimate import estimate_record as estimate_record
    from karat.stats.estimate import percent as percent
    from karat.stats.estimate import with_interval as with_interval
    from karat.stats.few_clusters import BORDER as BORDER
    from karat.stats.few_clusters import EXACT as EXACT
    from karat.stats.few_clusters import FEW as FEW
    from karat.stats.few_clusters import FEWEST as FEWEST
    from karat.stats.few_clusters import FEWEST_OTHER as FEWEST_OTHER
    from karat.stats.few_clusters import Spread as Spread
    from karat.stats.few_clusters import difference_ends as difference_ends
    from karat.stats.few_clusters import exact_share as exact_share
    from karat.stats.few_clusters import mean_ends as mean_ends
    from karat.stats.few_clusters import means_ends as means_ends
    from karat.stats.few_clusters import other_ends as other_ends
    from karat.stats.few_clusters import spread_of as spread_of
    from karat.stats.few_clusters import unseen_share as unseen_share
    from karat.stats.few_clusters import wilson as wilson
    from karat.stats.few_clusters import wilson_ends as wilson_ends
    from karat.stats.item_kinds import as_numbers as as_numbers
    from karat.stats.kappa import MOST_CATEGORIES as MOST_CATEGORIES
    from karat.stats.kappa import cohen_kappa as cohen_kappa
    from karat.stats.kappa import mean_kappa as mean_kappa
    from karat.stats.kernels import count_large_differences as count_large_differences
    from karat.stats.multiplicity import holm as holm
    from karat.stats.multiplicity import place_intervals as place_intervals
    from karat.stats.multiplicity import star_legend as star_legend
    from karat.stats.multiplicity import stars as stars
    from karat.stats.multiplicity import tied_for_first as tied_for_first
    from karat.stats.multiplicity import who_beats_whom as who_beats_whom
    from karat.stats.paired_comparison import PAIRED_TESTS as PAIRED_TESTS
    from karat.stats.paired_comparison import PairedComparison as PairedComparison
    from karat.stats.paired_comparison import check_decision as check_decision
    from karat.stats.paired_comparison import compare_values as compare_values
    from karat.stats.paired_comparison import detectable_difference as detectable_difference
    from karat.stats.paired_comparison import within_margin as within_margin
    from karat.stats.paired_tests import Flips as Flips
    from karat.stats.paired_tests import PairedTest as PairedTest
    from karat.stats.paired_tests import detection_reach as detection_reach
    from karat.stats.paired_tests import finite_scale as finite_scale
    from karat.stats.paired_tests import is_binary as is_binary
    from karat.stats.paired_tests import least_to_count as least_to_count
    from karat.stats.paired_tests import mcnemar as mcnemar
    from karat.stats.paired_tests import randomisation_test as randomisation_test
    from karat.stats.paired_tests import subtract as subtract
    from karat.stats.resampling import INTERVAL_METHODS as INTERVAL_METHODS
    from karat.stats.resampling import Intervals as Intervals
    from karat.stats.resampling import check_count as check_count
    from karat.stats.resampling import check_level as check_level
    from karat.stats.resampling import check_seed as check_seed
    from karat.stats.resampling import how_intervals as how_intervals
    from karat.stats.roc_area import auroc as auroc
    from karat.stats.samples import Sample as Sample
    from karat.stats.samples import Samples as Samples
    from karat.stats.samples import divide as divide
    from karat.stats.threshold_kappa import ThresholdTable as ThresholdTable
    from karat.stats.threshold_kappa import cut_texts as cut_texts
    from karat.stats.threshold_kappa import kappa_over_thresholds as kappa_over_thresholds
    from karat.stats.threshold_kappa import score_thresholds as score_thresholds
    from karat.stats.threshold_kappa import thresholds_of as thresholds_of
    from karat.stats.threshold_kappa import usual_thresholds as usual_thresholds
    from karat.stats.value_samples import ValueSamples as ValueSamples

__all__, __getattr__, __dir__ = exports(__name__, __file__)
