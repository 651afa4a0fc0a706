"""Encoding pictures and captions, against the plain loop of the library itself on the same model.

Random CLIP models of transformers: a tiny one, where everything but the network counts, and a ViT-S/32. The
plain loop is what the library's pages show: read a batch of pictures, prepare them, compute, go on; then the
captions, in the order in which they come. karat's side is `encode_images` and `encode_texts` of the same
folder with an empty cache: it also digests the files, keeps every vector and counts captions that are cut.
Both sides have their weights loaded, take turns in one process, and are checked to give the same vectors.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from _stopwatch import main, record, sized, timed

BATCH = 64
TURNS = sized(4, 1)
PICTURES = sized(96, 4)
NETWORKS = {
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "patch_size": 32},
    "ViT-S/32": {"hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 12, "patch_size": 32},
}
"""The network of pictures; that of texts is half as deep."""
WHAT = (
    "karat: from files and texts to vectors, into an empty cache; peer: load_image, processor, network, and "
    "tokenizer, network, batches of 64; weights are loaded on both sides; the best of {} turns each"
)


def make_model(folder: Path, vision: dict[str, Any]) -> None:
    """Write a CLIP model with random weights, its processor and a tokenizer of letters."""
    import torch
    from transformers import CLIPConfig, CLIPModel, CLIPTokenizer
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    torch.manual_seed(0)
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    units = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    heads = max(1, vision["hidden_size"] // 64)
    text = {key: value for key, value in vision.items() if key != "patch_size"} | {
        "num_hidden_layers": max(1, vision["num_hidden_layers"] // 2), "num_attention_heads": heads,
        "vocab_size": len(units), "bos_token_id": 52, "eos_token_id": 53, "pad_token_id": 53,
    }  # fmt: skip
    config = CLIPConfig(
        text_config=text, vision_config=vision | {"num_attention_heads": heads}, projection_dim=64
    )
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil().save_pretrained(folder)
    known = {unit: k for k, unit in enumerate(units)}
    CLIPTokenizer(known, [], model_max_length=77).save_pretrained(folder)


def make_items(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """Write JPEG files of the size of COCO's pictures, and return them with five captions each."""
    from PIL import Image

    rng = np.random.default_rng(0)
    images = []
    for k in range(count):
        coarse = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
        images.append(str(folder / f"{k}.jpg"))
        Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC).save(images[-1], quality=90)
    words = ["a", "dog", "two", "cats", "red", "bus", "on", "the", "street", "runs", "sits"]
    texts = [
        " ".join(rng.choice(words, rng.integers(5, 13))) + f" {chr(97 + k % 26)}" for k in range(5 * count)
    ]
    return images, texts


class Sides:
    """The same pictures and captions, encoded by the library's own calls and by karat."""

    def __init__(self, place: Path, count: int, vision: dict[str, Any]) -> None:
        from transformers import AutoImageProcessor, AutoTokenizer, CLIPModel

        from karat.models import load_model

        make_model(place / "model", vision)
        self.images, self.texts = make_items(place, count)
        self.network = CLIPModel.from_pretrained(place / "model").eval()
        self.processor = AutoImageProcessor.from_pretrained(place / "model")
        self.tokenizer = AutoTokenizer.from_pretrained(place / "model")
        self.model = load_model(f"hf:{place / 'model'}", batch=BATCH, device="cpu")
        self.results: dict[str, list[np.ndarray]] = {}

    def peer(self) -> None:
        """Encode everything in a plain loop."""
        import torch
        from transformers.image_utils import load_image

        options = {"padding": True, "truncation": True, "max_length": 77, "return_tensors": "pt"}
        rows: list[list[torch.Tensor]] = [[], []]
        with torch.inference_mode():
            for begin in range(0, len(self.images), BATCH):
                pictures = [load_image(path) for path in self.images[begin : begin + BATCH]]
                inputs = self.processor(images=pictures, return_tensors="pt")
                rows[0].append(self.network.get_image_features(**inputs).pooler_output)
            for begin in range(0, len(self.texts), BATCH):
                inputs = self.tokenizer(self.texts[begin : begin + BATCH], **options)
                rows[1].append(self.network.get_text_features(**inputs).pooler_output)
        self.results["peer"] = [torch.cat(side).numpy() for side in rows]

    def karat(self) -> None:
        """Encode everything with karat and an empty cache."""
        with tempfile.TemporaryDirectory() as cache:
            os.environ["KARAT_CACHE"] = cache
            self.results["karat"] = [
                self.model.encode_images(self.images),
                self.model.encode_texts(self.texts),
            ]

    def check(self) -> None:
        """Fail where the sides give different vectors."""
        for ours, theirs in zip(self.results["karat"], self.results["peer"]):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * np.abs(theirs).max())


def measure() -> list[dict[str, Any]]:
    """Time both sides of each size, in turns."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    records = []
    for name in sized([*NETWORKS], ["tiny"]):
        with tempfile.TemporaryDirectory(prefix="karat-speed-") as place:
            sides = Sides(Path(place), PICTURES, NETWORKS[name])
            sides.peer()
            sides.karat()
            sides.check()
            times = [(timed(sides.karat), timed(sides.peer)) for _ in range(TURNS)]
        karat_s, peer_s = (min(side) for side in zip(*times))
        size = f"{len(sides.images)} + {len(sides.texts)}"
        what = WHAT.format(TURNS)
        records.append(record(f"encode, {name}", size, karat_s, what, peer="transformers", theirs=peer_s))
    return records


if __name__ == "__main__":
    main(measure)
