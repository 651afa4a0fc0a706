"""Text kernels: how similar items are by their captions, and words by how they are used."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.models.text.alignment_similarity import AlignmentSimilarity as AlignmentSimilarity
    from karat.models.text.bag_of_words import BagOfWords as BagOfWords
    from karat.models.text.distributional_similarity import (
        DistributionalSimilarity as DistributionalSimilarity,
    )
    from karat.models.text.distributional_similarity import read_corpus as read_corpus
    from karat.models.text.encoded_captions import encode as encode
    from karat.models.text.kernel import TextKernel as TextKernel
    from karat.models.text.lin_similarity import LinSimilarity as LinSimilarity
    from karat.models.text.parts_of_speech import TagRule as TagRule
    from karat.models.text.parts_of_speech import tagged_words as tagged_words
    from karat.models.text.registry import TEXT_KERNELS as TEXT_KERNELS
    from karat.models.text.registry import text_kernel as text_kernel
    from karat.models.text.similarity import MaxSimilarity as MaxSimilarity
    from karat.models.text.similarity import MeanSimilarity as MeanSimilarity
    from karat.models.text.similarity import Similarity as Similarity
    from karat.models.text.tag_rank import TagRank as TagRank
    from karat.models.text.trigram import Trigram as Trigram

__all__, __getattr__, __dir__ = exports(__name__, __file__)
