"""Models by name, of any library; models that need no pretraining; and the fusion of any runs."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.models.encoder import ENCODERS as ENCODERS
    from karat.models.encoder import MODEL_FORMATS as MODEL_FORMATS
    from karat.models.encoder import MODEL_HEAD as MODEL_HEAD
    from karat.models.encoder import Encoded as Encoded
    from karat.models.encoder import Encoder as Encoder
    from karat.models.encoder import Scheme as Scheme
    from karat.models.encoder import as_encoder as as_encoder
    from karat.models.encoder import load_model as load_model
    from karat.models.encoder import register_encoder as register_encoder
    from karat.models.encoding import encode as encode
    from karat.models.encoding import vector_files as vector_files
    from karat.models.fusion import check_fusion as check_fusion
    from karat.models.fusion import fuse as fuse
    from karat.models.fusion_methods import FUSIONS as FUSIONS
    from karat.models.image_text_model import IMAGE_KERNELS as IMAGE_KERNELS
    from karat.models.image_text_model import FitSummary as FitSummary
    from karat.models.image_text_model import ImageTextModel as ImageTextModel
    from karat.models.image_text_model import fit as fit
    from karat.models.image_text_model import pictures_of as pictures_of
    from karat.models.incomplete_cholesky import IncompleteCholesky as IncompleteCholesky
    from karat.models.kcca import KCCA as KCCA
    from karat.models.kcca import KCCAPath as KCCAPath
    from karat.models.kcca_algebra import DecomposedSide as DecomposedSide
    from karat.models.kcca_algebra import KCCAView as KCCAView
    from karat.models.kernel_matrix import KernelCentrer as KernelCentrer
    from karat.models.kernel_matrix import scale_diagonal as scale_diagonal
    from karat.models.nearest import DirectedRun as DirectedRun
    from karat.models.nearest import NearestNeighbour as NearestNeighbour
    from karat.models.picture_search import SearchResult as SearchResult
    from karat.models.picture_search import search as search
    from karat.models.selection import Setting as Setting
    from karat.models.selection import best_settings as best_settings
    from karat.models.selection import dev_scores as dev_scores
    from karat.models.summariser import SUMMARISERS as SUMMARISERS
    from karat.models.summariser import Summariser as Summariser
    from karat.models.summariser import load_summariser as load_summariser
    from karat.models.text.bag_of_words import WordF1 as WordF1
    from karat.models.text_metric import TextMetric as TextMetric
    from karat.models.torch_model import DEVICES as DEVICES
    from karat.models.torch_model import PRECISIONS as PRECISIONS

__all__, __getattr__, __dir__ = exports(__name__, __file__)
