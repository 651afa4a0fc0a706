"""What `audit_filter` returns: shares with intervals; in sentences and as records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from karat.scores.agreement_table import numbers
from karat.scores.phrasing import percent
from karat.scores.thresholds import cut_texts
from karat.stats.estimate import Estimate
from karat.validation import InputError, plural


@dataclass(frozen=True)
class Lost:
    """The share of pairs that people rate `rated_from` or more which a filter drops.

    Parameters
    ----------
    ratings, rated_from
        Whose ratings, and from where on a pair is relevant.
    share
        Of all such pairs.
    not_original
        Of those whose caption was written for another image; None where nobody knows. An original pair
        compares a caption with itself and is never dropped.
    """

    ratings: str
    rated_from: float
    share: Estimate
    not_original: Estimate | None = None


@dataclass(frozen=True)
class Judged:
    """Of the pairs that a filter drops and people judged: how often all and most of them said no.

    Parameters
    ----------
    ratings
        Who judged.
    all_no, most_no
        The shares; an even split is no majority.
    several
        Whether a pair has several answers. A mean rating is one: then the shares are the same.
    """

    ratings: str
    all_no: Estimate
    most_no: Estimate
    several: bool = True


@dataclass(frozen=True)
class ThresholdAudit:
    """What a filter does at one threshold.

    Parameters
    ----------
    threshold
        From here on a pair is kept.
    dropped
        The share of all pairs that it drops.
    lost, judged
        What it drops of what people rated high, and what people say of what it drops.
    """

    threshold: float
    dropped: Estimate
    lost: tuple[Lost, ...] = ()
    judged: tuple[Judged, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        found: list[tuple[str, dict[str, Any], Estimate]] = [("dropped", {}, self.dropped)]
        for a in self.lost:
            about = {"ratings": a.ratings, "rated_from": a.rated_from}
            found.append(("lost", about, a.share))
            if a.not_original is not None:
                found.append(("lost, not original", about, a.not_original))
        for one in self.judged:
            found += [(f"dropped, {who} said no", {"ratings": one.ratings}, share)
                      for who, share in (("all", one.all_no), ("most", one.most_no))]  # fmt: skip
        empty = {"ratings": None, "rated_from": None}
        return [
            {"statistic": name, "from": self.threshold, **empty, **more, **numbers(share)}
            for name, more, share in found
        ]


@dataclass(frozen=True, eq=False)
class FilterAudit:
    """What a filter drops, and what that costs.

    Parameters
    ----------
    benchmark, metric
        Their names.
    images, captions
        How many there are to pair.
    thresholds
        What happens at each.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    """

    benchmark: str
    metric: str
    images: int
    captions: int
    thresholds: tuple[ThresholdAudit, ...]
    notes: tuple[str, ...] = ()
    how: str = ""

    def at(self, threshold: float) -> ThresholdAudit:
        """Return what happens at one of the thresholds."""
        for one in self.thresholds:
            if one.threshold == threshold:
                return one
        known = ", ".join(f"{one.threshold:g}" for one in self.thresholds)
        raise InputError(f"there is no audit at {threshold:g}", fix=f"known: {known}")

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        return [record for one in self.thresholds for record in one.records()]

    def to_json(self) -> str:
        """Return the records as json."""
        return json.dumps(self.records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def sentences(self) -> list[str]:
        """Return what was found in words."""
        size = f"{plural(self.images, 'image')} by {plural(self.captions, 'caption')}"
        out = [f"{self.benchmark}: {size}, {self.images * self.captions:,} pairs"]
        for text, one in zip(cut_texts([one.threshold for one in self.thresholds]), self.thresholds):
            out += ["", f"{self.metric} ≥ {text} drops {percent(one.dropped)} of all pairs."]
            for lost in one.lost:
                high = f"{lost.share.n:,} that {lost.ratings} rates {cut_texts([lost.rated_from])[0]} or more"
                out.append(f"  Of {high} it drops {percent(lost.share)}.")
                if (other := lost.not_original) is not None:
                    out.append(f"    Of the {other.n:,} among them that are not original: {percent(other)}.")
            for seen in one.judged:
                said = f"    all said no to {percent(seen.all_no)}, most to {percent(seen.most_no)}."
                if not seen.several:
                    said = f"    it rates {percent(seen.all_no)} below the middle of its scale."
                out += [f"  Of the dropped ones {seen.ratings} judged {seen.all_no.n:,}:", said]
        return [*out, "", self.how] if self.how else out

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"FilterAudit({self.metric} on {self.benchmark}, {plural(len(self.thresholds), 'threshold')})"
