"""Pictures as counts of visual words, and the kernels that compare them (Hodosh et al. 2013, §3.3)."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.baselines.images.features import ImageFeatures as ImageFeatures
    from karat.baselines.images.intersection import check_power as check_power
    from karat.baselines.images.intersection import histogram_kernel as histogram_kernel
    from karat.baselines.images.intersection import intersection_kernel as intersection_kernel
    from karat.baselines.images.intersection import pyramid_kernel as pyramid_kernel
    from karat.baselines.images.pyramid import level_weights as level_weights

__all__, __getattr__, __dir__ = exports(__name__, __file__)
