"""Pictures as counts of visual words, and the kernels that compare them (Hodosh et al. 2013, §3.3)."""

from karat.systems.images.decoding import decode_image as decode_image
from karat.systems.images.features import ImageFeatures as ImageFeatures
from karat.systems.images.intersection import histogram_kernel as histogram_kernel
from karat.systems.images.intersection import intersection_kernel as intersection_kernel
from karat.systems.images.intersection import pyramid_kernel as pyramid_kernel

__all__ = ["ImageFeatures", "decode_image", "histogram_kernel", "intersection_kernel", "pyramid_kernel"]
