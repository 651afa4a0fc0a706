"""Models by name, of any library: what turns images and captions into vectors; encoding and search."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.models.cosine import check_dimensions as check_dimensions
    from karat.models.cosine import cosines as cosines
    from karat.models.cosine import nested_cosines as nested_cosines
    from karat.models.cosine import unit as unit
    from karat.models.cosine import unit_sparse as unit_sparse
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
    from karat.models.picture_search import SearchResult as SearchResult
    from karat.models.picture_search import search as search
    from karat.models.pixels import SIDE as SIDE
    from karat.models.pixels import Source as Source
    from karat.models.pixels import decode_bytes as decode_bytes
    from karat.models.pixels import decode_image as decode_image
    from karat.models.pixels import open_bytes as open_bytes
    from karat.models.pixels import open_picture as open_picture
    from karat.models.pixels import read_bytes as read_bytes
    from karat.models.summariser import SUMMARISERS as SUMMARISERS
    from karat.models.summariser import Summariser as Summariser
    from karat.models.summariser import load_summariser as load_summariser
    from karat.models.text_metric import TextMetric as TextMetric
    from karat.models.torch_model import DEVICES as DEVICES
    from karat.models.torch_model import PRECISIONS as PRECISIONS

__all__, __getattr__, __dir__ = exports(__name__, __file__)
