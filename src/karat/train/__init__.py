"""Training with PyTorch: losses with margins by the meaning of captions, the dual encoder and its loop."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.train.cider import cider_margins as cider_margins
    from karat.train.image_input import CountProjection as CountProjection
    from karat.train.loss import LOSSES as LOSSES
    from karat.train.loss import PairLoss as PairLoss
    from karat.train.loss import register_loss as register_loss
    from karat.train.losses.infonce import InfoNCE as InfoNCE
    from karat.train.losses.infonce import MultiInfoNCE as MultiInfoNCE
    from karat.train.losses.ladder import LadderLoss as LadderLoss
    from karat.train.losses.sam import SemanticAdaptiveMargin as SemanticAdaptiveMargin
    from karat.train.losses.triplet import TripletLoss as TripletLoss
    from karat.train.margins import Margins as Margins
    from karat.train.negatives import SAMPLERS as SAMPLERS
    from karat.train.network import TEXT_SIDES as TEXT_SIDES
    from karat.train.network import DualEncoder as DualEncoder
    from karat.train.network import NetworkOptions as NetworkOptions
    from karat.train.pairs import PairData as PairData
    from karat.train.retrieval_scores import recalls as recalls
    from karat.train.trained_model import TrainedModel as TrainedModel
    from karat.train.trainer import Trainer as Trainer
    from karat.train.trainer import TrainingOptions as TrainingOptions
    from karat.train.training import train_model as train_model
    from karat.train.vocabulary import CaptionVocabulary as CaptionVocabulary

__all__, __getattr__, __dir__ = exports(__name__, __file__)
