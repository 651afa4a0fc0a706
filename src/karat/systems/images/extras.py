"""Packages of the extra ``systems``, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from karat.validation import MissingDataError

PACKAGES = {"cv2": "opencv-python-headless", "PIL": "Pillow", "sklearn": "scikit-learn"}


def extra(module: str) -> Any:
    """Return an imported module, or raise the sentence that names what to install.

    >>> extra("json").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        first = module.split(".")[0]
        raise MissingDataError(
            f"the package {PACKAGES.get(first, first)} is not installed", fix="pip install 'karat[systems]'"
        ) from None
