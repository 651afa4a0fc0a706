"""Judgments, truths and benchmarks, and the sources they are loaded from."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.benchmarks.benchmark import Benchmark as Benchmark
    from karat.benchmarks.benchmark import BenchmarkSummary as BenchmarkSummary
    from karat.benchmarks.benchmark import build as build
    from karat.benchmarks.catalogue import BenchmarkList as BenchmarkList
    from karat.benchmarks.catalogue import add_benchmark as add
    from karat.benchmarks.catalogue import list_benchmarks as list
    from karat.benchmarks.catalogue import show_benchmark as show
    from karat.benchmarks.choices import ALL as ALL
    from karat.benchmarks.choices import Choices as Choices
    from karat.benchmarks.duplicates import DUPLICATE as DUPLICATE
    from karat.benchmarks.duplicates import note_on_duplicates as note_on_duplicates
    from karat.benchmarks.duplicates import with_duplicates as with_duplicates
    from karat.benchmarks.examples import ChoiceExample as ChoiceExample
    from karat.benchmarks.examples import build_choices as build_choices
    from karat.benchmarks.ids import Ids as Ids
    from karat.benchmarks.ids import as_id_array as as_id_array
    from karat.benchmarks.image_files import common_folder as common_folder
    from karat.benchmarks.image_files import find_images as find_images
    from karat.benchmarks.image_files import picture_kind as picture_kind
    from karat.benchmarks.instances import Instances as Instances
    from karat.benchmarks.judgments import RELEVANT as RELEVANT
    from karat.benchmarks.judgments import Judgments as Judgments
    from karat.benchmarks.judgments import Mapping as Mapping
    from karat.benchmarks.judgments import Pairs as Pairs
    from karat.benchmarks.judgments import Provenance as Provenance
    from karat.benchmarks.judgments import Share as Share
    from karat.benchmarks.judgments import Steps as Steps
    from karat.benchmarks.judgments import UncertainRatings as UncertainRatings
    from karat.benchmarks.karat_format import HEAD as HEAD
    from karat.benchmarks.karat_format import describe_truth as describe_truth
    from karat.benchmarks.karat_format import read_benchmark as read_benchmark
    from karat.benchmarks.karat_format import save_benchmark as save_benchmark
    from karat.benchmarks.masks import box_masks as box_masks
    from karat.benchmarks.masks import mask_boxes as mask_boxes
    from karat.benchmarks.masks import outline as outline
    from karat.benchmarks.masks import overlaps as overlaps
    from karat.benchmarks.masks import read_mask as read_mask
    from karat.benchmarks.objects import Objects as Objects
    from karat.benchmarks.pool_design import PoolDesign as PoolDesign
    from karat.benchmarks.registry import SOURCES as SOURCES
    from karat.benchmarks.registry import Source as Source
    from karat.benchmarks.registry import as_benchmark as as_benchmark
    from karat.benchmarks.registry import forget as remove
    from karat.benchmarks.registry import load_benchmark as load_benchmark
    from karat.benchmarks.registry import of_size as of_size
    from karat.benchmarks.registry import register as register
    from karat.benchmarks.registry import registered as registered
    from karat.benchmarks.sides import DIRECTIONS as DIRECTIONS
    from karat.benchmarks.sides import IMAGE_TEXT as IMAGE_TEXT
    from karat.benchmarks.sides import KINDS as KINDS
    from karat.benchmarks.sides import Direction as Direction
    from karat.benchmarks.sides import Grouping as Grouping
    from karat.benchmarks.sides import Side as Side
    from karat.benchmarks.sides import asks_first as asks_first
    from karat.benchmarks.sides import direction_in as direction_in
    from karat.benchmarks.sides import direction_title as direction_title
    from karat.benchmarks.sides import directions_of as directions_of
    from karat.benchmarks.sides import in_order as in_order
    from karat.benchmarks.sides import is_direction as is_direction
    from karat.benchmarks.sides import item_side as item_side
    from karat.benchmarks.sides import letters_of as letters_of
    from karat.benchmarks.sides import pair_of as pair_of
    from karat.benchmarks.sides import query_side as query_side
    from karat.benchmarks.sides import same_side as same_side
    from karat.benchmarks.sides import sides_of as sides_of
    from karat.benchmarks.sides import turned as turned
    from karat.benchmarks.sources.coco_json import box_of as box_of
    from karat.benchmarks.sources.cxc import read_pairs as read_pairs
    from karat.benchmarks.sources.instances import is_instances as is_instances
    from karat.benchmarks.sources.instances import load_instances as load_instances
    from karat.benchmarks.sources.instances import read_approvals as read_approvals
    from karat.benchmarks.sources.trec import write_qrels as write_qrels
    from karat.benchmarks.truth import Fold as Fold
    from karat.benchmarks.truth import JudgedItems as JudgedItems
    from karat.benchmarks.truth import Rule as Rule
    from karat.benchmarks.truth import Truth as Truth
    from karat.benchmarks.truth import compress as compress

__all__, __getattr__, __dir__ = exports(__name__, __file__)
