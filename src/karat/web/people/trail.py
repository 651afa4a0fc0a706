"""The audit trail in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def readable(entry: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """Return an entry with names instead of numbers, as far as there are people behind them.

    >>> entry = {"at": 0.0, "actor": 1, "what": "role changed", "subject": 2, "detail": '{"to": "owner"}'}
    >>> readable(entry, {1: "ann"})
    {'at': 0.0, 'actor': 'ann', 'what': 'role changed', 'subject': 'removed-2', 'detail': 'to owner'}
    """
    detail = json.loads(entry["detail"])
    return {
        "at": entry["at"],
        "actor": called(entry["actor"], names),
        "what": entry["what"],
        "subject": "" if entry["subject"] == entry["actor"] else called(entry["subject"], names),
        "detail": ", ".join(f"{key} {value}" for key, value in detail.items() if value is not None),
    }


def called(number: int | None, names: Mapping[int, str]) -> str:
    """Return how somebody is called."""
    return "" if number is None else names.get(number, f"removed-{number}")
