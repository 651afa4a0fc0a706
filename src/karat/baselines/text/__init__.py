"""Text kernels: how similar items are by their captions, and words by how they are used."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.baselines.text.alignment_similarity import AlignmentSimilarity as AlignmentSimilarity
    from karat.baselines.text.bag_of_words import BagOfWords as BagOfWords
    from karat.baselines.text.distributional_similarity import (
        DistributionalSimilarity as DistributionalSimilarity,
    )
    from karat.baselines.text.distributional_similarity import read_corpus as read_corpus
    from karat.baselines.text.encoded_captions import encode as encode
    from karat.baselines.text.kernel import TextKernel as TextKernel
    from karat.baselines.text.lin_similarity import LinSimilarity as LinSimilarity
    from karat.baselines.text.parts_of_speech import TagRule as TagRule
    from karat.baselines.text.parts_of_speech import tagged_words as tagged_words
    from karat.baselines.text.registry import TEXT_KERNELS as TEXT_KERNELS
    from karat.baselines.text.registry import text_kernel as text_kernel
    from karat.baselines.text.similarity import MaxSimilarity as MaxSimilarity
    from karat.baselines.text.similarity import MeanSimilarity as MeanSimilarity
    from karat.baselines.text.similarity import Similarity as Similarity
    from karat.baselines.text.tag_rank import TagRank as TagRank
    from karat.baselines.text.trigram import Trigram as Trigram

__all__, __getattr__, __dir__ = exports(__name__, __file__)
