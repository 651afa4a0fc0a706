"""The text kernels of Hodosh et al. (2013) by name."""

from __future__ import annotations

from collections.abc import Callable

from karat._util import Registry
from karat.baselines.text.alignment_similarity import AlignmentSimilarity
from karat.baselines.text.bag_of_words import BagOfWords
from karat.baselines.text.distributional_similarity import DistributionalSimilarity, Sentences
from karat.baselines.text.kernel import TextKernel
from karat.baselines.text.lin_similarity import LinSimilarity
from karat.baselines.text.similarity import MaxSimilarity, MeanSimilarity, Similarity
from karat.baselines.text.tag_rank import TagRank
from karat.baselines.text.trigram import Trigram

TEXT_KERNELS: Registry[Callable[[Sentences], TextKernel]] = Registry(
    "text kernel", group="karat.text_kernels"
)
"""What makes a kernel, given the sentences of a corpus: names are those of the paper's appendix B."""


def text_kernel(name: str, corpus: Sentences = ()) -> TextKernel:
    """Return an unfitted text kernel by its name in the paper.

    Parameters
    ----------
    name
        One of `TEXT_KERNELS`, letter case ignored: BoW1, BoW5, BoW5-idf, BoW5-sqrt-idf, TAGRANK; TRI5, and
        TRI5 with similarities: Lin, Dic (distributions in the training captions), Dcorpus (in your own
        corpus, for the paper's BNC), Dcorpus+ic (their mean), A (alignments), A,Dic and so on (the larger
        of both); all of these also with -sqrt-idf.
    corpus
        Sentences as sequences of words, for kernels with Dcorpus; see
        :func:`karat.baselines.text.read_corpus`.

    Examples
    --------
    >>> text_kernel("tri5-sqrt-idf")
    Trigram(weight='sqrt-idf')
    """
    return TEXT_KERNELS[name](corpus)


_DISTRIBUTIONS: dict[str, Callable[[Sentences], Similarity]] = {
    "Dic": lambda corpus: DistributionalSimilarity(),
    "Dcorpus": lambda corpus: DistributionalSimilarity(corpus=corpus),
    "Dcorpus+ic": lambda corpus: MeanSimilarity(
        DistributionalSimilarity(corpus=corpus), DistributionalSimilarity()
    ),
}
_SIMILARITIES: dict[str, Callable[[Sentences], Similarity | None]] = {
    "": lambda corpus: None,
    "-Lin": lambda corpus: LinSimilarity(),
    "-A": lambda corpus: AlignmentSimilarity(),
}


def _with_alignment(make: Callable[[Sentences], Similarity]) -> Callable[[Sentences], Similarity]:
    return lambda corpus: MaxSimilarity(AlignmentSimilarity(), make(corpus))


def _trigram(
    make: Callable[[Sentences], Similarity | None], weight: str
) -> Callable[[Sentences], TextKernel]:
    return lambda corpus: Trigram(weight, make(corpus))


for _name, _make in _DISTRIBUTIONS.items():
    _SIMILARITIES[f"-{_name}"] = _make
    _SIMILARITIES[f"-A,{_name}"] = _with_alignment(_make)

TEXT_KERNELS.add("BoW1", lambda corpus: BagOfWords(caption=0))
TEXT_KERNELS.add("BoW5", lambda corpus: BagOfWords())
TEXT_KERNELS.add("BoW5-idf", lambda corpus: BagOfWords(weight="idf"))
TEXT_KERNELS.add("BoW5-sqrt-idf", lambda corpus: BagOfWords(weight="sqrt-idf"))
TEXT_KERNELS.add("TAGRANK", lambda corpus: TagRank())
for _weight, _ending in (("none", ""), ("sqrt-idf", "-sqrt-idf")):
    for _name, _similarity in _SIMILARITIES.items():
        TEXT_KERNELS.add(f"TRI5{_name}{_ending}", _trigram(_similarity, _weight))
