"""Duplicates: images, captions and vectors that a benchmark has twice, or that the training set has, too."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.duplicates.pairs import DuplicatePairs as DuplicatePairs
    from karat.duplicates.pairs import group_items as group_items
    from karat.duplicates.pictures import NEAR_PICTURE as NEAR_PICTURE
    from karat.duplicates.pictures import SAME_PICTURE as SAME_PICTURE
    from karat.duplicates.pictures import PicturePrints as PicturePrints
    from karat.duplicates.pictures import picture_duplicates as picture_duplicates
    from karat.duplicates.pictures import print_pictures as print_pictures
    from karat.duplicates.report import DuplicateReport as DuplicateReport
    from karat.duplicates.report import find_duplicates as find_duplicates
    from karat.duplicates.texts import NEAR_WORDS as NEAR_WORDS
    from karat.duplicates.texts import caption_duplicates as caption_duplicates
    from karat.duplicates.truths import duplicates_truth as duplicates_truth
    from karat.duplicates.vectors import close_rows as close_rows

__all__, __getattr__, __dir__ = exports(__name__, __file__)
