"""Pictures as counts of visual words, and the kernels that compare them (Hodosh et al. 2013, §3.3)."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.models.images.features import ImageFeatures as ImageFeatures
    from karat.models.images.intersection import check_power as check_power
    from karat.models.images.intersection import histogram_kernel as histogram_kernel
    from karat.models.images.intersection import intersection_kernel as intersection_kernel
    from karat.models.images.intersection import pyramid_kernel as pyramid_kernel
    from karat.models.images.pixels import Source as Source
    from karat.models.images.pixels import decode_bytes as decode_bytes
    from karat.models.images.pixels import decode_image as decode_image
    from karat.models.images.pixels import open_bytes as open_bytes
    from karat.models.images.pixels import open_picture as open_picture
    from karat.models.images.pixels import read_bytes as read_bytes
    from karat.models.images.pyramid import level_weights as level_weights

__all__, __getattr__, __dir__ = exports(__name__, __file__)
