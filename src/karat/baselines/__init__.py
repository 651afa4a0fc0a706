"""Baselines without pretraining: nearest neighbours, KCCA and its kernels; and the fusion of any runs."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.baselines.fusion import FUSIONS as FUSIONS
    from karat.baselines.fusion import check_fusion as check_fusion
    from karat.baselines.fusion import fuse as fuse
    from karat.baselines.image_text_model import IMAGE_KERNELS as IMAGE_KERNELS
    from karat.baselines.image_text_model import FitSummary as FitSummary
    from karat.baselines.image_text_model import ImageTextModel as ImageTextModel
    from karat.baselines.image_text_model import fit as fit
    from karat.baselines.incomplete_cholesky import IncompleteCholesky as IncompleteCholesky
    from karat.baselines.kcca import KCCA as KCCA
    from karat.baselines.kcca import KCCAPath as KCCAPath
    from karat.baselines.kcca_algebra import DecomposedSide as DecomposedSide
    from karat.baselines.kcca_algebra import KCCAView as KCCAView
    from karat.baselines.kernel_matrix import KernelCentrer as KernelCentrer
    from karat.baselines.nearest import DirectedRun as DirectedRun
    from karat.baselines.nearest import NearestNeighbour as NearestNeighbour
    from karat.baselines.selection import Setting as Setting
    from karat.baselines.selection import best_settings as best_settings
    from karat.baselines.selection import dev_scores as dev_scores
    from karat.baselines.text.bag_of_words import WordF1 as WordF1

__all__, __getattr__, __dir__ = exports(__name__, __file__)
