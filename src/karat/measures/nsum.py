"""NSUM: the six NCS scores that the paper adds up."""

from collections.abc import Sequence

from karat.measures.measure import Sum, register
from karat.measures.ncs import NormalizedCumulativeSemantic
from karat.measures.semantic import GT, PHI


@register
class SemanticSum(Sum):
    """NCS@1 + NCS@5 + NCS@10 in both directions, as fractions: at most 6 (in print 600, as papers do).

    >>> [str(part.measure) + " " + part.direction for part in SemanticSum(phi="spice").parts("coco-5k")][:2]
    ['NCS(spice)@1 i2t', 'NCS(spice)@5 i2t']
    """

    name = "NSUM"
    params = (PHI, GT)
    formula = "NCS@1 + NCS@5 + NCS@10, image-to-text and text-to-image"
    source = "Semantic margin tables 2 and 3"
    plain = "the sum of NCS@1, NCS@5 and NCS@10 by {phi} in both directions"
    phi: str
    gt: bool

    def measures(self) -> Sequence[NormalizedCumulativeSemantic]:
        """Return the three scores."""
        return [NormalizedCumulativeSemantic(phi=self.phi, gt=self.gt, k=k) for k in (1, 5, 10)]
