"""Models of Hugging Face's libraries, from files on this machine: no download, no code of theirs, no bars."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from karat.errors import InputError

LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""What every loading of a model is given."""


@contextmanager
def loading(folder: Path, fix: str) -> Iterator[None]:
    """Load a model inside the block: what its folder lacks is an error in one sentence."""
    # Read when the library is imported.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(f"cannot be loaded ({first})", where=folder, fix=fix) from None
    finally:
        if shown:
            logging.enable_progress_bar()
