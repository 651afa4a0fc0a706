"""A measure and a caption metric."""

from collections.abc import Sequence

import numpy as np

from karat.captions import CaptionMetric, Prepared, References, tokenise
from karat.captions import register as register_metric
from karat.measures import Measure, Ranked, register


@register
class FirstPlace(Measure):
    """Whether the first item is relevant."""

    name = "Toy"
    aliases = ("First",)
    trec_eval = {"toy_first": "Toy"}  # noqa: RUF012

    def depth(self, ranked: Ranked) -> float:
        return 1

    def values(self, ranked: Ranked) -> np.ndarray:
        return ranked.sum(ranked.count * (ranked.grade > 0) * ranked.within(1))


class SharedWords(Prepared):
    def __init__(self, references: References, candidates: Sequence[str]) -> None:
        self.known = [set().union(*map(tokenise, texts)) if texts else set() for texts in references]
        self.asked = [set(tokenise(text)) for text in candidates]
        self.n_images, self.n_captions = len(self.known), len(self.asked)

    def at(self, image, caption, leave_out=None):
        image, caption, _ = self.check_pairs(image, caption, leave_out)
        pairs = zip(image.tolist(), caption.tolist())
        return np.array([len(self.known[i] & self.asked[c]) / max(len(self.asked[c]), 1) for i, c in pairs])

    def block(self, begin, end, threads=None):
        every = np.arange(self.n_captions)
        rows = [self.at(np.full_like(every, image), every) for image in range(begin, end)]
        return np.array(rows, np.float32)


@register_metric
class Overlap(CaptionMetric):
    """The share of a caption's words that the image's captions have."""

    name = "toy-overlap"

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        return SharedWords(references, candidates)
