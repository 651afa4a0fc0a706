"""``hf:FOLDER``: a dual encoder of transformers, from files on this machine.

Every architecture here computes the vectors of a picture and of a text separately, in one space. Pictures are
prepared by the library's own processor, in its form for Pillow, so that the numbers are the same with and
without torchvision.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from karat._util import parsing, require
from karat.errors import InputError, MissingDataError
from karat.models.embedding_cache import digest_files, kept_facts
from karat.models.encoder import Encoder, Scheme, register_encoder
from karat.models.local_files import (
    LOCAL,
    READ,
    cached_folder,
    check_model_folder,
    check_network_size,
    check_tensors,
    digest_weights,
    entries_of,
    failures,
    is_of_tokenizer,
    is_over,
    loading,
    version_of,
    versions,
    weight_files,
)
from karat.models.torch_model import (
    PICTURE_FACTS,
    SETTINGS,
    Inputs,
    TorchModel,
    TorchParts,
    is_out_of_memory,
    listed,
)
from karat.runs import Fact

if TYPE_CHECKING:
    import torch

HEAD = "config.json"
LIBRARIES = ("transformers", "torch", "tokenizers", "pillow")
VOLATILE = ("transformers_version", "_name_or_path", "architectures")
"""Keys of a configuration that do not change the numbers, or are facts of their own."""
VOCABULARIES = {"tokenizer.json", "vocab.json", "vocab.txt"}
"""Files that list the words of a tokenizer; sentencepiece's end in ``.model``."""
FIX = "give the complete folder of a model of transformers, with its weights as safetensors"
MOST_PREPARED = 1 << 12
"""How many pixels wide or high pictures are prepared, or of how many patches, at most."""


class TextReading(NamedTuple):
    """How an architecture reads texts: how short ones are filled up, and how many tokens it takes at most."""

    padding: str = "longest"
    most: int | None = None


ARCHITECTURES = {
    "AlignModel": TextReading("max_length", 64),
    "AltCLIPModel": TextReading(),
    "BlipForImageTextRetrieval": TextReading(),
    "BlipModel": TextReading(),
    "CLIPModel": TextReading(),
    "CLIPSegModel": TextReading(),
    "ChineseCLIPModel": TextReading(),
    "MetaClip2Model": TextReading(),
    # SigLIP was trained on texts of one length, and looks at what fills them up.
    "Siglip2Model": TextReading("max_length", 64),
    "SiglipModel": TextReading("max_length", 64),
}
"""The architectures that encode pictures and texts separately, by the names that ``config.json`` has."""


def load(name: str, **settings: Any) -> Encoder:
    """Return a model of transformers; its weights are read when something has to be encoded."""
    require("transformers", "torch", "PIL", extra_name="hf")
    folder = find_folder(name)
    check_model_folder(folder)
    files = HuggingFaceFiles(folder)
    model = TorchModel(files.load, **settings)
    read = {path.name: path for path in sorted(folder.iterdir()) if path.suffix in READ}
    known = (f"{library} {version_of(library)}" for library in LIBRARIES)
    fingerprint = digest_files(read, "hf", model.precision, model.device, *known)[:24]
    return Encoder(
        name=folder.resolve().name if folder == Path(name) else name,
        images=model.encode_images,
        texts=model.encode_texts,
        fingerprint=fingerprint,
        facts=lambda: kept_facts(fingerprint, lambda: {**files.facts(), **model.facts()}),
    )


def find_folder(name: str) -> Path:
    """Return the folder of a model: itself, or the one in the cache of Hugging Face."""
    folder = Path(name) if Path(name).is_dir() else cached_folder(name, HEAD)
    if folder is None:
        raise MissingDataError(f"there is no folder {name!r}", fix="give the local folder of a model")
    if not (folder / HEAD).is_file():
        raise MissingDataError(f"there is no {HEAD}", where=folder, fix=FIX)
    return folder


class HuggingFaceFiles:
    """The folder of a model: its configuration is checked at once, everything else is loaded when needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.weights = weight_files(folder)
        with parsing(folder / HEAD, "is not a configuration of a model", FIX):
            self.config: dict[str, Any] = json.loads((folder / HEAD).read_text(encoding="utf-8"))
            self.architecture = str((self.config.get("architectures") or ["unknown"])[0])
        if self.architecture not in ARCHITECTURES:
            what = f"has the architecture {self.architecture}, which is not a dual encoder that karat knows"
            raise InputError(what, where=folder / HEAD, fix=f"give one of {', '.join(ARCHITECTURES)}")
        self.reading = ARCHITECTURES[self.architecture]
        check_vocabulary(folder)
        self.vocabulary = sys.maxsize
        """How many tokens the network knows, once it is loaded."""

    @cached_property
    def processor(self) -> Any:
        """What prepares pictures."""
        with loading(self.folder, FIX):
            from transformers import AutoImageProcessor

            processor = AutoImageProcessor.from_pretrained(self.folder, backend="pil", **LOCAL)
            check_prepared_size(processor.to_dict(), self.folder)
            return processor

    @property
    def preparation(self) -> dict[str, Fact]:
        """How pictures are prepared, as facts."""
        with failures(self.folder, FIX):
            return picture_facts(self.processor.to_dict())

    @cached_property
    def tokenizer(self) -> Any:
        """What prepares texts."""
        with loading(self.folder, FIX):
            from transformers import AutoTokenizer

            try:
                return AutoTokenizer.from_pretrained(self.folder, **LOCAL)
            except ImportError:
                require("sentencepiece", extra_name="hf")
                raise

    @cached_property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads."""
        with loading(self.folder, FIX):
            from transformers import AutoConfig

            # Configurations do not repeat what is as in the architecture.
            places = AutoConfig.from_pretrained(self.folder, **LOCAL).text_config.max_position_embeddings
            limits = [self.reading.most, places, self.tokenizer.model_max_length]
            return int(min(limit for limit in limits if limit))

    def load(self) -> TorchParts:
        """Return the network and what prepares its inputs."""
        # Loaded here, and not by several threads at once.
        _ = self.processor
        options: dict[str, Any] = {"use_safetensors": True, "output_loading_info": True}
        # Not the configuration's choice: weights are rounded to the precision alone, and what computes
        # attention may be code that is downloaded.
        options |= {"dtype": "float32", "attn_implementation": None, "return_dict": True}
        options["ignore_mismatched_sizes"] = True
        with loading(self.folder, FIX):
            import transformers

            architecture = getattr(transformers, self.architecture)
            self.check_network(architecture)
            network, found = architecture.from_pretrained(self.folder, **options, **LOCAL)
        shapes = [entry[0] for entry in found["mismatched_keys"]]
        spare = [name for name in found["unexpected_keys"] if not name.endswith("position_ids")]
        check_tensors(self.folder, found["missing_keys"], shapes, spare)
        if hasattr(network, "get_image_features"):
            images, texts = network.get_image_features, network.get_text_features
        else:
            images, texts = contrastive_images(network), contrastive_texts(network)

        def embed_images(inputs: Inputs) -> torch.Tensor:
            try:
                return pooled(images(**inputs))
            except Exception as error:
                if not is_out_of_memory(error):
                    self.check_size(inputs, network.config.vision_config)
                self.explain(error)
                raise

        def embed_texts(inputs: Inputs) -> torch.Tensor:
            try:
                return pooled(texts(**inputs))
            except Exception as error:
                self.explain(error)
                raise

        self.vocabulary = int(network.config.text_config.vocab_size)
        return TorchParts(network, self.picture, self.texts, embed_images, embed_texts)

    def explain(self, error: Exception) -> None:
        """Raise one sentence for what the network cannot compute; memory that does not suffice stays so."""
        if not is_out_of_memory(error):
            with failures(self.folder, FIX, "cannot be computed with"):
                raise error

    def check_network(self, architecture: Any) -> None:
        """Raise where the network would be much larger than its weights, before it takes any memory."""
        import torch

        with torch.device("meta"):
            config = architecture.config_class.from_pretrained(
                self.folder, attn_implementation="eager", **LOCAL
            )
            network = architecture(config)
        check_network_size(network, self.weights, self.folder / HEAD)

    def check_size(self, inputs: Inputs, config: Any) -> None:
        """Raise where pictures are prepared in another size than the network was made for."""
        size = getattr(config, "image_size", None)
        shape, expected = tuple(inputs["pixel_values"].shape[-2:]), (size, size)
        if isinstance(size, int) and shape != expected:
            prepared = f"{shape[0]} x {shape[1]} pixels"
            what = f"pictures are prepared with {prepared}, and the network takes {size} x {size}"
            raise InputError(what, where=self.folder, fix="give the folder with the model's own preprocessor")

    def picture(self, picture: Any) -> Inputs:
        """Return a picture as the network takes it."""
        with failures(self.folder, FIX, "cannot prepare a picture"):
            made = dict(self.processor(images=[picture], return_tensors="pt"))
            if not all(hasattr(table, "shape") for table in made.values()):
                raise ValueError("it becomes no table of numbers")
            return made

    def texts(self, texts: list[str]) -> tuple[Inputs, Sequence[bool]]:
        """Return texts as the network takes them, and which ones were cut."""
        with failures(self.folder, FIX, "cannot split texts"):
            made = self.tokenizer(
                texts,
                padding=self.reading.padding,
                truncation=True,
                max_length=self.max_tokens,
                return_tensors="pt",
            )
            largest = int(made["input_ids"].max()) if texts else 0
        if largest >= self.vocabulary:
            numbers = f"it gives token {largest:,}, and the network knows {self.vocabulary:,}"
            what = f"the tokenizer is of another model: {numbers}"
            raise InputError(what, where=self.folder, fix="give the folder with the model's own tokenizer")
        names = ("input_ids", "attention_mask")
        return {name: made[name] for name in names if name in made}, self.cut(made, texts)

    def cut(self, made: Any, texts: list[str]) -> list[bool]:
        """Return which texts have more tokens than the model reads."""
        if made.encodings is not None:
            # What was cut off is kept beside each text.
            return [bool(encoding.overflowing) for encoding in made.encodings]
        # Tokenizers written in Python, such as SigLIP's, do not keep it.
        whole = self.tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        return [len(tokens) > self.max_tokens for tokens in whole]

    def facts(self) -> dict[str, Fact]:
        """Return what changes the numbers: weights, and how pictures and texts are prepared."""
        config = {key: value for key, value in self.config.items() if key not in VOLATILE}
        tokens = {path.name: path for path in sorted(self.folder.iterdir()) if is_of_tokenizer(path)}
        return {
            "architecture": self.architecture,
            "weights.sha256": digest_weights(self.weights),
            "config.sha256": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
            **PICTURE_FACTS,
            **self.preparation,
            "text.tokenizer.sha256": digest_files(tokens),
            "text.lower_case": lower_cases(self.tokenizer),
            "text.max_tokens": self.max_tokens,
            "text.truncation": str(self.tokenizer.truncation_side),
            "text.padding": self.reading.padding,
            **versions(LIBRARIES),
        }


def check_prepared_size(settings: dict[str, Any], folder: Path) -> None:
    """Raise where pictures would be prepared in a size that no memory holds."""
    sizes = {key: value for key, value in settings.items() if "size" in key or "patches" in key}
    for key, value in entries_of(sizes):
        if is_over(value, MOST_PREPARED):
            what = f"pictures are prepared with the {key} {value:,}; the most is {MOST_PREPARED:,}"
            raise InputError(what, where=folder, fix="give the folder with the model's own preprocessor")
    patches, side = settings.get("max_num_patches"), settings.get("patch_size")
    if isinstance(patches, int) and isinstance(side, int) and patches * side**2 > MOST_PREPARED**2:
        what = f"pictures are prepared as {patches:,} patches of {side:,} x {side:,} pixels"
        raise InputError(what, where=folder, fix="give the folder with the model's own preprocessor")


def check_vocabulary(folder: Path) -> None:
    """Raise where a folder has no vocabulary: the library would make an empty one."""
    names = {path.name for path in folder.iterdir()}
    if not (names & VOCABULARIES or any(name.endswith(".model") for name in names)):
        fix = "copy the model's own tokenizer.json, or vocab.json and merges.txt, into it"
        raise MissingDataError("has no vocabulary of a tokenizer", where=folder, fix=fix)


def contrastive_images(network: Any) -> Any:
    """Return what gives the vectors of pictures in BLIP's space of pictures and texts.

    As ``BlipForImageTextRetrieval`` itself does for ``use_itm_head=False``.
    """
    return lambda **inputs: network.vision_proj(network.vision_model(**inputs).last_hidden_state[:, 0])


def contrastive_texts(network: Any) -> Any:
    """Return what gives the vectors of texts there."""
    return lambda **inputs: network.text_proj(network.text_encoder(**inputs).last_hidden_state[:, 0])


def pooled(output: Any) -> torch.Tensor:
    """Return the vectors of what a network gave: in older versions of the library the vectors themselves."""
    return output if hasattr(output, "detach") else output.pooler_output


def lower_cases(tokenizer: Any) -> bool:
    """Whether a tokenizer reads capital letters as small ones."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:
        capital, small = tokenizer(["ABC", "abc"])["input_ids"]
        return bool(capital == small)
    return inner.normalizer is not None and "abc" in inner.normalizer.normalize_str("ABC")


def picture_facts(settings: dict[str, Any]) -> dict[str, Fact]:
    """Return how a processor of the library prepares pictures.

    >>> facts = picture_facts({"do_resize": True, "size": {"shortest_edge": 224}, "resample": 3})
    >>> facts["image.resize"], facts["image.interpolation"], facts["image.crop"]
    ('shortest_edge 224', 'bicubic', None)
    """
    facts: dict[str, Fact] = {}
    for key, done, name in STEPS:
        value = settings.get(key)
        if not settings.get(done, value is not None):
            # A step that is left out is stated, too: what a run does not state is not compared.
            facts[name] = None
        elif value is not None:
            facts[name] = in_words(value, name)
    known = {key for step in STEPS for key in step} | SILENT
    for key, value in sorted(settings.items()):
        if key not in known and value is not None:
            facts[f"image.{key}"] = in_words(value, key)
    return facts


STEPS = (
    ("size", "do_resize", "image.resize"),
    ("resample", "do_resize", "image.interpolation"),
    ("crop_size", "do_center_crop", "image.crop"),
    ("rescale_factor", "do_rescale", "image.rescale"),
    ("image_mean", "do_normalize", "image.mean"),
    ("image_std", "do_normalize", "image.std"),
)
"""The settings of a processor, what switches each on, and the fact that it is."""
SILENT = {"image_processor_type", "processor_class", "do_convert_rgb", "feature_extractor_type"}
"""Settings that are no facts: pictures are RGB when they come."""
INTERPOLATIONS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
"""Pillow's, by number."""


def in_words(value: Any, name: str) -> Fact:
    """Return a setting as one plain value.

    >>> in_words({"height": 32, "width": 32}, "size"), in_words([0.5, 0.25], "mean")
    ('height 32, width 32', '0.5, 0.25')
    """
    if name == "image.interpolation":
        return INTERPOLATIONS[int(value)]
    if hasattr(value, "items"):
        return ", ".join(f"{key} {part}" for key, part in value.items() if part is not None)
    if isinstance(value, list | tuple):
        return listed(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


register_encoder(
    Scheme(
        "hf",
        "hf:FOLDER",
        "a model of transformers that encodes pictures and texts: CLIP, SigLIP, BLIP, ALIGN and others",
        load,
        settings=SETTINGS,
    )
)
