"""Is a judge also a competitor? Its labels would then favour itself."""

from __future__ import annotations

import re
from collections.abc import Sequence


def competitor(judge: str, model: str, systems: Sequence[str]) -> str:
    """Return the system that a judge seems to be, by name; "" when none.

    >>> competitor("my judge", "openai/CLIP-ViT-B-32", ["bm25", "clip_vit_b32"])
    'clip_vit_b32'
    >>> competitor("gpt", "gpt-4o", ["vilt"])
    ''
    """
    told = [squeezed(one) for one in (judge, model, model.rsplit("/", 1)[-1]) if one]
    for system in systems:
        name = squeezed(system)
        if len(name) >= 3 and any(
            name == one or name in one or (len(one) >= 3 and one in name) for one in told
        ):
            return system
    return ""


def squeezed(name: str) -> str:
    """Return a name without what people vary: case, blanks and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())
