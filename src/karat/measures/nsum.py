"""NSUM: the six NCS scores that the paper adds up."""

from collections.abc import Sequence

from karat.benchmarks import DIRECTIONS
from karat.measures.measure import Part, Sum, register
from karat.measures.ncs import NormalizedCumulativeSemantic
from karat.measures.semantic import GT, PHI


@register
class SemanticSum(Sum):
    """NCS@1 + NCS@5 + NCS@10 in both directions, as fractions: at most 6 (papers print percent).

    >>> [str(part.measure) + " " + part.direction for part in SemanticSum(phi="spice").parts("coco-5k")][:2]
    ['NCS(spice)@1 i2t', 'NCS(spice)@5 i2t']
    """

    name = "NSUM"
    params = (PHI, GT)
    formula = "NCS@1 + NCS@5 + NCS@10, image-to-text and text-to-image"
    source = "Semantic margin tables 2 and 3"
    phi: str
    gt: bool

    def parts(self, truth: str) -> Sequence[Part]:
        """Return the six columns."""
        return [
            Part(NormalizedCumulativeSemantic(phi=self.phi, gt=self.gt, k=k), truth, direction)
            for direction in DIRECTIONS
            for k in (1, 5, 10)
        ]
