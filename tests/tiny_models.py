"""Real architectures of transformers in tiny sizes, with random weights, as folders; and pictures."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

WORDS = ["a", "dog", "cat", "red", "blue", "photo", "of", "runs", "sits", "two"]
LENGTH = 12
TEXTS = ["a dog", "two red cat sits", "", "A Dog", "a photo of a blue dog " * 400]
"""The last one has nearly 10,000 characters."""
SMALL = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**SMALL, "image_size": 32, "patch_size": 8}
TEXT = {**SMALL, "vocab_size": 64, "max_position_embeddings": LENGTH}
SQUARE = {"height": 32, "width": 32}


def save_tokenizer(folder):
    """Write a tokenizer of whole words, lower-cased."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    known = {word: k for k, word in enumerate(["<pad>", "<s>", "</s>", "<unk>", *WORDS])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="<unk>"))
    inner.normalizer = tokenizers.normalizers.Lowercase()
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        model_max_length=LENGTH,
    ).save_pretrained(folder)  # fmt: skip


def save_clip_tokenizer(folder):
    """Write CLIP's own kind of tokenizer: byte pairs, a few of them merged."""
    from transformers import CLIPTokenizer

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    units = [*letters, *(f"{letter}</w>" for letter in letters), "do", "dog</w>"]
    known = {unit: k for k, unit in enumerate([*units, "<|startoftext|>", "<|endoftext|>"])}
    CLIPTokenizer(known, [("d", "o"), ("do", "g</w>")], model_max_length=LENGTH).save_pretrained(folder)


def save_clip(folder):
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    text = {**TEXT, "bos_token_id": 54, "eos_token_id": 55, "pad_token_id": 55}
    CLIPModel(CLIPConfig(text_config=text, vision_config=VISION, projection_dim=16)).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 36}, crop_size=SQUARE).save_pretrained(folder)
    save_clip_tokenizer(folder)


def save_siglip(folder):
    from transformers import SiglipConfig, SiglipModel
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    SiglipModel(SiglipConfig(text_config=TEXT, vision_config=VISION)).save_pretrained(folder)
    SiglipImageProcessorPil(size=SQUARE).save_pretrained(folder)
    save_tokenizer(folder)


def save_siglip2(folder):
    from transformers import Siglip2Config, Siglip2Model
    from transformers.models.siglip2.image_processing_pil_siglip2 import Siglip2ImageProcessorPil

    vision = {**SMALL, "patch_size": 8, "num_patches": 16}
    Siglip2Model(Siglip2Config(text_config=TEXT, vision_config=vision)).save_pretrained(folder)
    Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16).save_pretrained(folder)
    save_tokenizer(folder)


def save_blip(folder):
    from transformers import BlipConfig, BlipForImageTextRetrieval
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil

    text = {**TEXT, "encoder_hidden_size": 32, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = BlipConfig(text_config=text, vision_config=VISION, image_text_hidden_size=16)
    BlipForImageTextRetrieval(config).save_pretrained(folder)
    BlipImageProcessorPil(size=SQUARE).save_pretrained(folder)
    save_tokenizer(folder)


MODELS = {"clip": save_clip, "siglip": save_siglip, "siglip2": save_siglip2, "blip": save_blip}


def save_models(folder: Path, names=tuple(MODELS)) -> Path:
    """Write some of them, each into a folder of its own; skip where the library is not installed."""
    torch = pytest.importorskip("torch")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for name in names:
        torch.manual_seed(0)
        (folder / name).mkdir()
        MODELS[name](folder / name)
        weights = folder / name / "model.safetensors"
        loud(weights)
    return folder


def loud(weights: Path) -> None:
    """Make random weights larger: with those of the libraries all vectors are nearly the same."""
    from safetensors.torch import load_file, save_file

    tables = {key: table * 8 if table.ndim > 1 else table for key, table in load_file(weights).items()}
    save_file(tables, weights, {"format": "pt"})


def save_pictures(folder: Path, count: int = 5) -> list[str]:
    """Write noise of several shapes; one has transparency."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    paths = []
    for k in range(count):
        pixels = rng.integers(0, 256, (40 + 9 * k, 64, 4 if k == 1 else 3), dtype=np.uint8)
        paths.append(str(folder / f"{k}.png"))
        image.fromarray(pixels).save(paths[-1])
    return paths


def edit_json(path: Path, **changes) -> None:
    """Change a few keys of a json file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
