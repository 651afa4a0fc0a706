"""What the runs were made with: the facts in which they differ, then those in which they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat._util import MISSING, plural
from karat.errors import printable
from karat.reports.material import Material
from karat.reports.presentation import table
from karat.reports.section import SectionData, section
from karat.runs import Fingerprint, of_model, show_fact, split_facts

FAIR = (
    "Of those that differ, the last say which model it was, the others how a model was applied; a difference "
    "between the scores may come from any of them."
)


@section("fingerprints", "Made with", "Made with", order=115, scripted=False)
def collect(material: Material) -> SectionData:
    """Return the facts, as far as the runs' files state them; nothing where none does."""
    card = material.card
    if card is None:
        return None
    made_with = {run: made for run in card.runs if (made := card.made_with.get(run)) and made.facts}
    if not made_with:
        return None
    differ, same = split_facts(made_with)
    about = "What the files of the runs state about how they were made."
    if differ:
        about += f" {FAIR}" if any(map(of_model, differ)) else " They differ in how a model was applied."
    return {
        "about": about,
        "silent": [run for run in card.runs if run not in made_with],
        "differ": differing_facts(differ, made_with) if differ else None,
        "same": other_facts(same, made_with) if same else None,
        "folded": f"{plural(len(same), 'fact')} in which they are not known to differ" if differ else None,
    }


def differing_facts(names: Sequence[str], made_with: Mapping[str, Fingerprint]) -> dict[str, Any]:
    """Return facts by run, those of the model last; a dash where a run does not state one."""
    rows = [
        [
            printable(name),
            *(show_fact(made.facts[name]) if name in made.facts else MISSING for made in made_with.values()),
        ]
        for name in sorted(names, key=of_model)
    ]
    return table("Facts in which the runs differ", ["Fact", *made_with], rows)


def other_facts(names: Sequence[str], made_with: Mapping[str, Fingerprint]) -> dict[str, Any]:
    """Return facts with their one value, and with the runs that state it where not all do."""
    rows: list[list[Any]] = []
    for name in names:
        runs = [run for run, made in made_with.items() if name in made.facts]
        value = show_fact(made_with[runs[0]].facts[name])
        few = {"s": f"stated by {', '.join(runs)}"} if len(runs) < len(made_with) else {}
        rows.append([printable(name), {"t": value, **few}])
    caption = "Facts" if len(made_with) == 1 else "Facts not known to differ"
    return table(caption, ["Fact", "Value"], rows)
