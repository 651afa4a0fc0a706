"""Text kernels: how similar items are by their captions, and words by how they are used."""

from karat.systems.text.alignment import AlignmentSimilarity
from karat.systems.text.bag import BagOfWords
from karat.systems.text.distributional import DistributionalSimilarity, read_corpus
from karat.systems.text.kernel import TextKernel
from karat.systems.text.lin import LinSimilarity
from karat.systems.text.named import TEXT_KERNELS, text_kernel
from karat.systems.text.parts import Rule, tagged_words
from karat.systems.text.similarity import MaxSimilarity, MeanSimilarity, Similarity
from karat.systems.text.tag_rank import TagRank
from karat.systems.text.trigram import Trigram

__all__ = [
    "TEXT_KERNELS",
    "AlignmentSimilarity",
    "BagOfWords",
    "DistributionalSimilarity",
    "LinSimilarity",
    "MaxSimilarity",
    "MeanSimilarity",
    "Rule",
    "Similarity",
    "TagRank",
    "TextKernel",
    "Trigram",
    "read_corpus",
    "tagged_words",
    "text_kernel",
]
