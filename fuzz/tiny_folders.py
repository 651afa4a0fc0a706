"""One small valid folder of every kind of model that karat loads, and what loads it."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parents[1] / "tests"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "cat", "red", "##s", "two"]
TEXTS = ["a dog", "two red cats " * 9]
SMALL = {"side": 96, "points": 24, "colour_words": 8, "texture_words": 8, "sift_words": 8, "cache": False}
BERT = {
    "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
    "vocab_size": len(WORDS), "max_position_embeddings": 12,
}  # fmt: skip


def save_bert(folder: Path) -> None:
    """Write a BERT with its list of words, as older folders have it: vocab.txt beside tokenizer.json."""
    from transformers import BertConfig, BertModel, BertTokenizer

    BertModel(BertConfig(**BERT)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=12).save_pretrained(folder)


def save_sentence(folder: Path) -> None:
    """Write a sentence model of four modules."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    save_bert(folder.parent / "bert")
    first = Transformer(str(folder.parent / "bert"))
    shutil.rmtree(folder.parent / "bert")
    modules = [first, Pooling(16), Dense(16, 8), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)


def save_static(folder: Path) -> None:
    """Write a sentence model that has one vector per token."""
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: k for k, w in enumerate(WORDS)}, "[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    static = StaticEmbedding(inner, embedding_dim=8)
    SentenceTransformer(modules=[static], device="cpu").save(str(folder), create_model_card=False)


def save_words(folder: Path) -> None:
    """Write a sentence model of vectors of words, which has files of its own kind."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    tokens = WhitespaceTokenizer(WORDS, stop_words=[], do_lower_case=True)
    first = WordEmbeddings(tokens, np.ones((len(WORDS), 8), np.float32))
    SentenceTransformer(modules=[first, Pooling(8)], device="cpu").save(str(folder), create_model_card=False)


def save_summariser(folder: Path) -> None:
    """Write a T5."""
    import transformers

    from tiny_models import save_tokenizer

    save_tokenizer(folder)
    shape = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 64}
    config = transformers.T5Config(decoder_start_token_id=0, eos_token_id=2, pad_token_id=0, **shape)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)


def save_fitted(folder: Path) -> None:
    """Write a baseline, as karat fit does."""
    from karat.baselines import ImageTextModel
    from karat.baselines.images import ImageFeatures
    from karat.world import make_world

    world = make_world(12, captions=2, seed=3)
    captions = [[world.texts[c] for c in np.flatnonzero(world.caption_image == k)] for k in range(12)]
    model = ImageTextModel("BoW1", "histogram", n=3, features=ImageFeatures(**SMALL))
    model.fit([world.picture(k) for k in range(12)], captions).save(folder)


def save_trained(folder: Path) -> None:
    """Write a trained dual encoder of pixels, as karat train does."""
    save_network(folder, "pixels", (3, 32, 32))


def save_network(folder: Path, kind: str, shape: tuple[int, ...], *parts: Any) -> None:
    """Write a network with random weights."""
    from karat.training import NetworkOptions, TrainedModel
    from karat.training.network import DualEncoder
    from karat.training.vocabulary import CaptionVocabulary

    vocabulary = CaptionVocabulary(["a", "dog", "cat"], 12)
    options = NetworkOptions("bag+gru+transformer", dimensions=8, word_dimensions=6)
    network = DualEncoder(shape, len(vocabulary), options).eval()
    TrainedModel(network, vocabulary, kind, *parts).save(folder)


def save_counts(folder: Path) -> None:
    """Write a trained dual encoder of counted visual words."""
    from karat.baselines.images import ImageFeatures
    from karat.training.image_input import CountProjection
    from karat.world import make_world

    world = make_world(12, captions=2, seed=3)
    features = ImageFeatures(**SMALL).fit([world.picture(k) for k in range(12)])
    projection = CountProjection()
    width = 5
    projection.levels_ = features.levels
    projection.mean_ = np.zeros(features.n_features_out_, np.float32)
    projection.axes_ = np.ones((features.n_features_out_, width), np.float32)
    save_network(folder, "counts", (width,), features, projection)


def save_vectors(folder: Path) -> None:
    """Write a run as karat encode does: a folder of shards."""
    import karat

    def texts(items: list[str]) -> np.ndarray:
        return np.array([[len(item), 1.0, item.count("a")] for item in items], np.float32)

    class Mine:
        def encode_images(self, paths: list[str]) -> np.ndarray:
            return np.arange(1, 3 * len(paths) + 1, dtype=np.float32).reshape(-1, 3)

        encode_texts = staticmethod(texts)

    karat.encode(Mine(), pictures_benchmark(folder.parent), output=folder)


def pictures_benchmark(folder: Path) -> Any:
    """Return a benchmark of two pictures that are there."""
    from PIL import Image

    import karat

    place = folder / "pictures"
    if not place.is_dir():
        place.mkdir()
        for name in "ab":
            Image.new("RGB", (40, 30), (200, 30, 30)).save(place / f"{name}.png")
        (place / "captions.csv").write_text("image,caption\na.png,a dog\nb.png,two cats\n")
    return karat.load_benchmark("folder", folder=place)


def encode(kind: str) -> Callable[[Path, Path], object]:
    """Return what loads a folder as a model and encodes what is there to encode."""

    def load(folder: Path, picture: Path) -> object:
        import karat

        model = karat.load_model(f"{kind}{folder}")
        if model.texts is not None:
            model.encode_texts(TEXTS)
        if model.images is not None:
            model.encode_images([str(picture)])
        return dict(model.made_with.facts)

    return load


def summarise(folder: Path, picture: Path) -> object:
    """Make one text of two."""
    from karat.models.summarisers.seq2seq import make

    return make(str(folder), None).summarise([TEXTS])


def run_of(folder: Path, picture: Path) -> object:
    """Evaluate a folder of vectors."""
    import karat

    bench = pictures_benchmark(picture.parent)
    return karat.evaluate(karat.load_run(folder, benchmark=bench), bench, ["R@1"])


def hugging_face(name: str) -> Callable[[Path], None]:
    """Return what writes one of the folders that the tests have too."""

    def save(folder: Path) -> None:
        from tiny_models import MODELS, loud

        MODELS[name](folder)
        loud(folder / "model.safetensors")

    return save


def save_chinese(folder: Path) -> None:
    """Write a Chinese CLIP, whose texts a BERT reads."""
    from transformers import BertTokenizer, ChineseCLIPConfig, ChineseCLIPModel
    from transformers.models.chinese_clip.image_processing_pil_chinese_clip import (
        ChineseCLIPImageProcessorPil,
    )

    from tiny_models import SQUARE, VISION

    config = ChineseCLIPConfig(text_config=BERT, vision_config=VISION, projection_dim=16)
    ChineseCLIPModel(config).save_pretrained(folder)
    ChineseCLIPImageProcessorPil(size=SQUARE, crop_size=SQUARE).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=12).save_pretrained(folder)


KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path, Path], object]]] = {
    "clip": (hugging_face("clip"), encode("hf:")),
    "siglip": (hugging_face("siglip"), encode("hf:")),
    "siglip2": (hugging_face("siglip2"), encode("hf:")),
    "blip": (hugging_face("blip"), encode("hf:")),
    "chinese-clip": (save_chinese, encode("hf:")),
    "sentence": (save_sentence, encode("sentence:")),
    "static": (save_static, encode("sentence:")),
    "words": (save_words, encode("sentence:")),
    "bert": (save_bert, encode("sentence:")),
    "summariser": (save_summariser, summarise),
    "fitted": (save_fitted, encode("")),
    "trained": (save_trained, encode("")),
    "counts": (save_counts, encode("")),
    "vectors": (save_vectors, run_of),
}
"""By name: what writes a valid folder, and what loads one and uses it once."""


def save_all(folder: Path, names: tuple[str, ...] = tuple(KINDS)) -> Path:
    """Write the folders, each by its name, and return a picture to encode."""
    sys.path.insert(0, str(TESTS))
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    import transformers

    transformers.utils.logging.set_verbosity(transformers.utils.logging.CRITICAL)
    transformers.utils.logging.disable_progress_bar()
    pictures_benchmark(folder)
    for name in names:
        torch.manual_seed(0)
        place = folder / name
        if name not in ("fitted", "trained", "counts", "vectors"):
            place.mkdir()
        KINDS[name][0](place)
        assert list(place.iterdir()), json.dumps(name)
    return folder / "pictures" / "a.png"
