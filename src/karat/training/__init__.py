"""Training with PyTorch: losses with margins by the meaning of captions, the dual encoder and its loop."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.training.cider import cider_margins as cider_margins
    from karat.training.image_input import CountProjection as CountProjection
    from karat.training.loss import LOSSES as LOSSES
    from karat.training.loss import PairLoss as PairLoss
    from karat.training.loss import register_loss as register_loss
    from karat.training.losses.infonce import InfoNCE as InfoNCE
    from karat.training.losses.infonce import MultiInfoNCE as MultiInfoNCE
    from karat.training.losses.ladder import LadderLoss as LadderLoss
    from karat.training.losses.sam import SemanticAdaptiveMargin as SemanticAdaptiveMargin
    from karat.training.losses.triplet import TripletLoss as TripletLoss
    from karat.training.margins import Margins as Margins
    from karat.training.negatives import SAMPLERS as SAMPLERS
    from karat.training.network import TEXT_SIDES as TEXT_SIDES
    from karat.training.network import DualEncoder as DualEncoder
    from karat.training.network import NetworkOptions as NetworkOptions
    from karat.training.pairs import PairData as PairData
    from karat.training.retrieval_scores import recalls as recalls
    from karat.training.trained_model import TrainedModel as TrainedModel
    from karat.training.trained_model import TrainingSummary as TrainingSummary
    from karat.training.trainer import Trainer as Trainer
    from karat.training.trainer import TrainingOptions as TrainingOptions
    from karat.training.training import train as train
    from karat.training.vocabulary import CaptionVocabulary as CaptionVocabulary

__all__, __getattr__, __dir__ = exports(__name__, __file__)
