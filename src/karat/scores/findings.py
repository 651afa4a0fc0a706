"""What was seen in a run: facts, warnings and errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Level = Literal["fact", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was seen; a warning or an error says how to mend it."""

    level: Level
    text: str


@dataclass
class Inspection:
    """Everything that was seen, in order."""

    findings: list[Finding] = field(default_factory=list)

    def add(self, level: Level, text: str) -> None:
        """Note a finding."""
        self.findings.append(Finding(level, text))

    @property
    def worst(self) -> Level:
        """The most serious level."""
        levels: tuple[Level, ...] = ("error", "warning")
        return next((level for level in levels if any(f.level == level for f in self.findings)), "fact")

    def __str__(self) -> str:
        marks = {"fact": "  ", "warning": "! ", "error": "✗ "}
        return "\n".join(marks[f.level] + f.text for f in self.findings)
