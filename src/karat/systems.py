"""The name of `karat.models` before version 0.5; it goes with version 0.6."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import karat.models
import karat.models.images
import karat.models.text

__all__ = karat.models.__all__

warnings.warn("karat.systems is called karat.models now", DeprecationWarning, stacklevel=2)

# Its two subpackages, for `import karat.systems.text` and `from karat.systems.text import …`.
for _package in ("images", "text"):
    sys.modules[f"{__name__}.{_package}"] = sys.modules[f"karat.models.{_package}"]


def __getattr__(name: str) -> Any:
    return getattr(karat.models, name)
