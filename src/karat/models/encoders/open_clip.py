"""``open_clip:ARCHITECTURE`` or ``open_clip:FOLDER``: a model of open_clip, from files on this machine.

The weights are a safetensors file, and have to be exactly those of the architecture: nothing is resized or
left out. A folder has ``open_clip_config.json``, as on the Hugging Face Hub, which also says how pictures are
prepared; an architecture alone takes open_clip's defaults for it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from karat._util import parsing, require
from karat.errors import InputError, MissingDataError
from karat.models.embedding_cache import digest_files, kept_facts
from karat.models.encoder import Encoder, Scheme, register_encoder
from karat.models.local_files import (
    LOCAL,
    check_model_folder,
    check_tensors,
    digest_weights,
    is_of_tokenizer,
    loading,
    offline,
    version_of,
    versions,
    weight_files,
)
from karat.models.torch_model import PICTURE_FACTS, SETTINGS, Inputs, TorchModel, TorchParts, listed
from karat.runs import Fact

HEAD = "open_clip_config.json"
LIBRARIES = ("open_clip_torch", "torch", "torchvision", "timm", "pillow")
FIX = (
    "give an architecture of open_clip, or a folder with open_clip_config.json and its weights as safetensors"
)
BUILDS = "install builds of torch and torchvision that belong together"
WHOLE_SENTENCE = 2
"""How many tokens mark the beginning and the end of a text."""


def load(name: str, weights: str | Path | None = None, **settings: Any) -> Encoder:
    """Return a model of open_clip; its weights are read when something has to be encoded."""
    require("open_clip", "torchvision", "PIL", extra_name="open_clip")
    files = OpenClipFiles(name, None if weights is None else Path(weights))
    model = TorchModel(files.load, **settings)
    known = (f"{library} {version_of(library)}" for library in LIBRARIES)
    key = "\0".join(("open_clip", files.digest, model.precision, model.device, *known))
    fingerprint = hashlib.sha256(key.encode()).hexdigest()[:24]
    return Encoder(
        name=files.name,
        images=model.encode_images,
        texts=model.encode_texts,
        fingerprint=fingerprint,
        facts=lambda: kept_facts(fingerprint, lambda: {**files.facts(), **model.facts()}),
    )


class OpenClipFiles:
    """An architecture and its weights: checked at once, loaded when needed.

    Parameters
    ----------
    name
        The name of an architecture, or a folder.
    weights
        The file of the weights; a folder has its own.
    """

    def __init__(self, name: str, weights: Path | None = None) -> None:
        self.folder = Path(name) if Path(name).is_dir() else None
        self.config: dict[str, Any] = {}
        self.preparation: dict[str, Any] = {}
        if self.folder is not None:
            head = self.folder / HEAD
            if not head.is_file():
                raise MissingDataError(f"there is no {HEAD}", where=self.folder, fix=FIX)
            check_model_folder(self.folder)
            with parsing(head, "is not a configuration of open_clip", FIX):
                content = json.loads(head.read_text(encoding="utf-8"))
                self.config, self.preparation = dict(content["model_cfg"]), dict(content["preprocess_cfg"])
            files = weight_files(self.folder) if weights is None else [weights]
            self.architecture = self.name = self.folder.resolve().name
        else:
            if weights is None:
                raise InputError(
                    f"open_clip:{name} has no weights",
                    fix="give --weights FILE.safetensors to karat encode or search",
                )
            files, self.architecture = [weights], name
            self.name = f"{name}-{weights.stem}"
        self.weights = next((path for path in files if path.name == "open_clip_model.safetensors"), files[0])
        if not self.weights.is_file():
            raise MissingDataError(
                "there is no such file", where=self.weights, fix="give a .safetensors file"
            )
        if self.weights.suffix != ".safetensors":
            what = "is not a safetensors file; other formats can run code"
            raise InputError(what, where=self.weights, fix="save the weights as safetensors")

    @cached_property
    def digest(self) -> str:
        """A digest of the weights and of what a folder says about the model."""
        content = json.dumps(
            [self.architecture if self.folder is None else "", self.config, self.preparation, self.vocabulary]
        )
        return digest_weights([self.weights]) + hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def vocabulary(self) -> str | None:
        """A digest of the folder's tokenizer; None where it is the library's own."""
        if self.folder is None or "hf_tokenizer_name" not in self.config.get("text_cfg", {}):
            return None
        return digest_files({p.name: p for p in sorted(self.folder.iterdir()) if is_of_tokenizer(p)})

    @cached_property
    def library(self) -> Any:
        """The library, which knows the configuration of the folder under its name from now on."""
        offline()
        try:
            import open_clip
        except (ImportError, RuntimeError, OSError) as error:
            first = str(error).strip().split("\n")[0]
            raise InputError(f"open_clip does not load ({first})", fix=BUILDS) from None
        if self.folder is not None:
            self.architecture = f"{self.name}-{self.digest[:8]}"
            text = dict(self.config.get("text_cfg", {}))
            if "hf_tokenizer_name" in text and (self.folder / "tokenizer_config.json").is_file():
                text["hf_tokenizer_name"] = str(self.folder)
            with tempfile.TemporaryDirectory(prefix="karat-") as place:
                path = Path(place) / f"{self.architecture}.json"
                path.write_text(json.dumps({**self.config, "text_cfg": text}), encoding="utf-8")
                open_clip.add_model_config(path)
        if self.architecture not in open_clip.list_models():
            raise InputError(f"open_clip has no architecture {self.architecture!r}", fix=FIX)
        return open_clip

    @cached_property
    def network(self) -> Any:
        """The network with its weights."""
        known = inspect.signature(self.library.create_model).parameters
        # Weights of a text side from elsewhere would be downloaded, only to be replaced.
        options = {key: False for key in ("pretrained_hf", "pretrained_text") if key in known}
        with loading(self.weights, FIX):
            from safetensors.torch import load_file

            with without_warnings():
                network = self.library.create_model(self.architecture, **options)
            tensors = {key.removeprefix("module."): table for key, table in load_file(self.weights).items()}
            own = network.state_dict()
            if "positional_embedding" in tensors and "positional_embedding" not in own:
                from open_clip.model import convert_to_custom_text_state_dict

                tensors = convert_to_custom_text_state_dict(tensors)
        for key in {"logit_scale", "logit_bias"} & own.keys() & tensors.keys():
            # One number, with a dimension of its own or without.
            tensors[key] = tensors[key].reshape(own[key].shape)
        shapes = [key for key in own.keys() & tensors.keys() if own[key].shape != tensors[key].shape]
        spare = [key for key in tensors.keys() - own.keys() if not key.endswith("position_ids")]
        check_tensors(self.weights, own.keys() - tensors.keys(), shapes, spare)
        network.load_state_dict({key: tensors[key] for key in own})
        return network

    @cached_property
    def tokenizer(self) -> Any:
        """What splits texts."""
        text = self.library.get_model_config(self.architecture).get("text_cfg", {})
        # A configuration could otherwise allow code of the folder to run.
        options = LOCAL if text.get("hf_tokenizer_name") else {}
        with loading(self.folder or self.weights, "give the folder of the model, with its tokenizer"):
            return self.library.get_tokenizer(self.architecture, **options)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """How pictures are prepared."""
        from open_clip.transform import merge_preprocess_dict

        return merge_preprocess_dict(self.network.visual.preprocess_cfg, self.preparation)

    def load(self) -> TorchParts:
        """Return the network and what prepares its inputs."""
        network = self.network
        from open_clip.transform import PreprocessCfg, image_transform_v2

        prepare = image_transform_v2(PreprocessCfg(**self.settings), is_train=False)
        return TorchParts(
            network,
            lambda picture: {"image": prepare(picture)[None]},
            self.texts,
            lambda inputs: network.encode_image(inputs["image"]),
            lambda inputs: network.encode_text(inputs["text"]),
        )

    def texts(self, texts: list[str]) -> tuple[Inputs, Sequence[bool]]:
        """Return texts as the network takes them, and which ones were cut."""
        tokens = self.tokenizer(texts)
        most = tokens.shape[1]
        # CLIP's own fills up with zeros, after which nothing was cut; others may fill up with the end mark.
        full = [hasattr(self.tokenizer, "tokenizer") or last != 0 for last in tokens[:, -1].tolist()]
        return {"text": tokens}, [end and self.length(text) > most for end, text in zip(full, texts)]

    def length(self, text: str) -> int:
        """Return how many tokens a text has, whole."""
        inner = getattr(self.tokenizer, "tokenizer", None)
        if inner is not None:
            return len(inner(getattr(self.tokenizer, "clean_fn", str)(text))["input_ids"])
        return len(self.tokenizer.encode(text)) + WHOLE_SENTENCE

    def facts(self) -> dict[str, Fact]:
        """Return what changes the numbers: weights, and how pictures and texts are prepared."""
        config = self.config or self.library.get_model_config(self.architecture)
        upper, lower = self.tokenizer(["A DOG"]), self.tokenizer(["a dog"])
        return {
            "architecture": self.name if self.folder is not None else self.architecture,
            "weights.sha256": digest_weights([self.weights]),
            "config.sha256": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
            **PICTURE_FACTS,
            **size_facts(self.settings.get("size"), self.settings.get("resize_mode", "shortest")),
            "image.interpolation": str(self.settings.get("interpolation")),
            "image.mean": listed(self.settings.get("mean")),
            "image.std": listed(self.settings.get("std")),
            **({} if self.vocabulary is None else {"text.tokenizer.sha256": self.vocabulary}),
            "text.lower_case": bool((upper == lower).all()),
            "text.max_tokens": int(lower.shape[1]),
            "text.truncation": "right",
            **versions(LIBRARIES),
        }


def size_facts(size: Any, how: str) -> dict[str, Fact]:
    """Return to which size pictures are brought, in the words that models of transformers have for it.

    >>> size_facts(224, "shortest")
    {'image.resize': 'shortest_edge 224', 'image.crop': 'height 224, width 224'}
    >>> size_facts((224, 336), "squash")
    {'image.resize': 'height 224, width 336', 'image.crop': None}
    """
    height, width = size if isinstance(size, list | tuple) else (size, size)
    whole = f"height {height}, width {width}"
    if how == "shortest":
        edge = f"shortest_edge {height}" if height == width else f"shortest {whole}"
        return {"image.resize": edge, "image.crop": whole}
    return {"image.resize": whole if how == "squash" else f"{how} {whole}", "image.crop": None}


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep the library from saying that the weights are random: they are loaded after the network is made."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


register_encoder(
    Scheme(
        "open_clip",
        "open_clip:ARCHITECTURE",
        "a model of open_clip with `--weights FILE.safetensors`; or `open_clip:FOLDER`, with "
        "open_clip_config.json and its weights",
        load,
        settings=("weights", *SETTINGS),
    )
)
