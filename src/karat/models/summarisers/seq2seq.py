"""``transformers:FOLDER``: an abstractive summariser such as T5 or Pegasus, from files on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat._util import require
from karat.errors import MissingDataError
from karat.models.encoder import Encoder
from karat.models.local_files import (
    LOCAL,
    check_model_folder,
    check_network_size,
    check_tensors,
    failures,
    loading,
    weight_files,
)
from karat.models.summariser import SUMMARISERS

BATCH = 16
LONGEST = 64
"""New tokens of a summary, at most."""
FIX = "give the folder of a sequence-to-sequence model, with its tokeniser"


class SequenceSummariser:
    """A sequence-to-sequence model of transformers: captions, joined by blanks, in; a summary out.

    What the configuration asks to put before a text to summarise (T5: ``summarize:``) is put there. Nothing
    is drawn at random. Weights are read as safetensors; nothing is downloaded.

    Parameters
    ----------
    folder
        As `save_pretrained` of the model and its tokeniser wrote it.
    """

    def __init__(self, folder: Path) -> None:
        require("transformers", "torch", extra_name="sentences")
        if not folder.is_dir():
            raise MissingDataError("there is no such folder", where=folder, fix="give a T5 or Pegasus folder")
        check_model_folder(folder)
        self.folder = folder
        with loading(folder, FIX):
            import torch
            from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

            with torch.device("meta"):
                config = AutoConfig.from_pretrained(str(folder), **LOCAL)
                network = AutoModelForSeq2SeqLM.from_config(config)
            check_network_size(network, weight_files(folder), folder / "config.json")
            self.tokens = AutoTokenizer.from_pretrained(str(folder), **LOCAL)
            options = {"use_safetensors": True, "output_loading_info": True, **LOCAL}
            self.model, found = AutoModelForSeq2SeqLM.from_pretrained(str(folder), **options)
            # What is missing the library would draw at random.
            check_tensors(folder, found["missing_keys"], (), ())
            tasks = getattr(self.model.config, "task_specific_params", None) or {}
            self.prefix = str(tasks.get("summarization", {}).get("prefix", ""))

    def summarise(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Return a summary per group; of equal groups one is computed."""
        texts = [self.prefix + " ".join(group) for group in groups]
        # Similar lengths together waste least on padding.
        distinct = sorted(dict.fromkeys(texts), key=len)
        summaries: dict[str, str] = {}
        for begin in range(0, len(distinct), BATCH):
            part = distinct[begin : begin + BATCH]
            with failures(self.folder, FIX, "cannot summarise"):
                tokens = self.tokens(part, return_tensors="pt", padding=True, truncation=True)
                made = self.model.generate(**tokens, max_new_tokens=LONGEST, do_sample=False)
                decoded = self.tokens.batch_decode(made, skip_special_tokens=True)
                summaries |= dict(zip(part, decoded, strict=True))
        return [summaries[text] for text in texts]


def make(rest: str, encoder: Encoder) -> SequenceSummariser:
    """Return the summariser of a folder."""
    return SequenceSummariser(Path(rest))


SUMMARISERS.add("transformers", make)
