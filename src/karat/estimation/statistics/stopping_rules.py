"""Rules for stopping: when a sequence of looks says enough, or the budget is spent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from karat._util import check_choice, plural, split_names
from karat.errors import InputError
from karat.estimation.statistics.sequences import ConfidenceSequence


@dataclass(frozen=True)
class StoppingDecision:
    """Whether to stop, and why, in a sentence."""

    stop: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class StoppingRule:
    """When to stop asking: a name of `RULES` with its limit; `parse` reads it.

    Examples
    --------
    >>> StoppingRule.parse("within<=2%"), str(StoppingRule.parse("winner"))
    (StoppingRule(name='within', limit=0.02), 'winner')
    """

    name: str
    limit: float = 0.0

    def __str__(self) -> str:
        sign = RULES[self.name].sign
        return f"{self.name}{sign}{self.limit:g}" if sign else self.name

    @classmethod
    def parse(cls, text: str | StoppingRule) -> StoppingRule:
        """Return the rule that a text means, or raise."""
        if isinstance(text, cls):
            return text
        match = re.fullmatch(r"\s*([A-Za-z]+)\s*(?:(<=|=|≤)\s*([\d.]+)(%?))?\s*", str(text))
        fix = f"write {', '.join(kind.example for kind in RULES.values())}"
        if match is None:
            raise InputError(f"{text!r} is not a rule for stopping", fix=fix)
        name = check_choice(match[1], tuple(RULES), "rule")
        if bool(RULES[name].sign) != bool(match[3]):
            raise InputError(f"{text!r} is not a rule for stopping", fix=f"write {RULES[name].example}")
        try:
            limit = float(match[3] or 0) / (100 if match[4] else 1)
        except ValueError:
            raise InputError(f"{text!r} has no number", fix=f"write {RULES[name].example}") from None
        if match[3] and limit <= 0:
            raise InputError(f"the limit of {text!r} is 0", fix=f"write {RULES[name].example}")
        if RULES[name].sign == "<=" and limit >= 1:
            raise InputError(
                f"the limit of {text!r} is {100 * limit:g} points", fix=f"write {RULES[name].example} or 2%"
            )
        return cls(name, limit)


@dataclass(frozen=True)
class RuleKind:
    """What a rule for stopping compares: its sign, an example, and the function that decides."""

    sign: str
    example: str
    decide: Callable[[StoppingRule, ConfidenceSequence, tuple[str, str]], StoppingDecision]


def decide_width(rule: StoppingRule, looks: ConfidenceSequence, runs: tuple[str, str]) -> StoppingDecision:
    """Stop where the interval is narrow enough: from end to end (width), or to either side (within)."""
    half = float(looks.width[-1]) / 2
    goal = rule.limit / 2 if rule.name == "width" else rule.limit
    if not np.isfinite(half):
        return StoppingDecision(
            False, f"Go on: {plural(int(looks.labels[-1]), 'label')} are too few for an interval."
        )
    reached = half <= goal
    begin = "Stop" if reached else "Go on"
    return StoppingDecision(
        reached,
        f"{begin}: the score is known to ± {100 * half:.2f} points, and ± {100 * goal:.2f} was asked for.",
    )


def decide_winner(rule: StoppingRule, looks: ConfidenceSequence, runs: tuple[str, str]) -> StoppingDecision:
    """Stop where the sequence of the difference, the first run's score less the second's, excludes 0."""
    first, second = runs
    # Bounds are certain.
    sure = f" at {100 * looks.level:g}%" if looks.level < 1 else ""
    if (looks.low > 0).any():
        return StoppingDecision(True, f"Stop: {first} beats {second}{sure}.")
    if (looks.high < 0).any():
        return StoppingDecision(True, f"Stop: {second} beats {first}{sure}.")
    if looks.labels[-1] >= looks.frame:
        return StoppingDecision(True, f"Stop: everything is labelled, and {first} and {second} are equal.")
    if not np.isfinite(looks.width[-1]):
        return StoppingDecision(
            False, f"Go on: {plural(int(looks.labels[-1]), 'label')} are too few for an interval."
        )
    return StoppingDecision(
        False,
        f"Go on: whether {first} beats {second} is open{sure}; the difference is between "
        f"{100 * looks.low[-1]:+.2f} and {100 * looks.high[-1]:+.2f} points.",
    )


def decide_budget(rule: StoppingRule, looks: ConfidenceSequence, runs: tuple[str, str]) -> StoppingDecision:
    """Stop where as many labels are there as were paid for."""
    labels = int(looks.labels[-1])
    left = int(np.ceil(rule.limit)) - labels
    if left <= 0:
        return StoppingDecision(True, f"Stop: the budget of {plural(int(rule.limit), 'label')} is spent.")
    return StoppingDecision(False, f"Go on: {labels:,} of {plural(int(rule.limit), 'label')} are spent.")


RULES = {
    "width": RuleKind("<=", "width<=0.04", decide_width),
    "within": RuleKind("<=", "within<=0.02", decide_width),
    "winner": RuleKind("", "winner", decide_winner),
    "budget": RuleKind("=", "budget=500", decide_budget),
}
"""The rules for stopping, by name."""


def parse_rules(rules: str | StoppingRule | Sequence[str | StoppingRule]) -> list[StoppingRule]:
    """Return the rules that a text with commas, or several texts, mean.

    >>> [str(rule) for rule in parse_rules("winner, budget=500")]
    ['winner', 'budget=500']
    """
    if isinstance(rules, StoppingRule):
        return [rules]
    parts = split_names(rules) if isinstance(rules, str) else rules
    return [StoppingRule.parse(part) for part in parts]


def decide(
    rules: str | StoppingRule | Sequence[str | StoppingRule],
    looks: ConfidenceSequence,
    *,
    difference: ConfidenceSequence | None = None,
    runs: tuple[str, str] = ("A", "B"),
) -> StoppingDecision:
    """Say whether to stop: at the first rule that is fulfilled.

    Parameters
    ----------
    rules
        One or several: "within<=0.02" (to either side), "width<=0.04" (from end to end), "winner",
        "budget=500".
    looks
        The sequence of the score.
    difference
        That of the first run's score less the second's, which "winner" needs.
    runs
        What the two are called.

    Examples
    --------
    >>> from karat.estimation import confidence_sequence
    >>> looks = confidence_sequence([0.31, 0.29], [9e-4, 1e-4], [60, 500], 4000)
    >>> print(decide("within<=2%, budget=800", looks))
    Go on: the score is known to ± 3.04 points, and ± 2.00 was asked for.
    >>> gap = confidence_sequence([0.07, 0.08], [9e-4, 1e-4], [60, 500], 4000)
    >>> print(decide("winner", looks, difference=gap, runs=("new", "old")))
    Stop: new beats old at 95%.
    """
    chosen = parse_rules(rules)
    decisions = []
    for rule in chosen:
        wanted = difference if rule.name == "winner" else looks
        if wanted is None:
            raise InputError("the rule winner compares two runs, and there is one", fix="give a second run")
        decisions.append(RULES[rule.name].decide(rule, wanted, runs))
    return next((decision for decision in decisions if decision.stop), decisions[0])
