"""RSUM: the six recalls that papers add up."""

from collections.abc import Sequence

from karat.measures.hit_rate import HitRate
from karat.measures.measure import Sum, register


@register
class RecallSum(Sum):
    """R@1 + R@5 + R@10 in both directions, as fractions: at most 6 (in print 600, as papers do).

    >>> [str(part.measure) + " " + part.direction for part in RecallSum().parts("coco-5k")][:4]
    ['R@1 i2t', 'R@5 i2t', 'R@10 i2t', 'R@1 t2i']
    """

    name = "RSUM"
    formula = "R@1 + R@5 + R@10, image-to-text and text-to-image"
    source = "Semantic margin §5; in use since Lee et al., ECCV 2018"
    plain = "the sum of R@1, R@5 and R@10 in both directions"

    def measures(self) -> Sequence[HitRate]:
        """Return the three recalls."""
        return [HitRate(k=k) for k in (1, 5, 10)]
