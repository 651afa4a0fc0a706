"""karat-judging.json: how a published truth was made, as data, with a fingerprint of every file beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.benchmarks import Benchmark
from karat.judging.forms import form_to_data
from karat.judging.pools import fingerprint
from karat.judging.publishing.correction import Correction
from karat.judging.publishing.evidence import Evidence
from karat.judging.publishing.facts import Facts, growth_record, quality_record

FORMAT, VERSION = "karat-judging", 1
FILE = "karat-judging.json"


def provenance(
    evidence: Evidence, found: Correction, facts: Facts, choices: Mapping[str, Any], made: str
) -> dict[str, Any]:
    """Return how a truth was made; nothing in it depends on when or where unless `made` says it."""
    import karat

    pool, benchmark = evidence.pool, evidence.benchmark
    return {
        "format": FORMAT,
        "version": VERSION,
        "karat": karat.__version__,
        "made": made,
        "project": evidence.project,
        "benchmark": {"name": benchmark.name, "ids": fingerprint(benchmark)},
        "truth": found.truth.name,
        "machine": found.truth.machine,
        "choices": dict(choices),
        "aggregation": {"method": found.verdicts.method, "settings": dict(found.verdicts.settings)},
        "original": found.original,
        "policies": dict(found.policies),
        "pool": {
            "systems": list(pool.systems),
            "top": pool.top,
            "pairs": len(pool),
            "suggestions": pool.suggestions,
            "judged_before": pool.judged,
            "filtered": pool.filtered,
        },
        "form": form_to_data(evidence.form),
        "counts": facts.counts,
        "left_out": list(evidence.left_out),
        "machines": list(evidence.machines),
        "agreement": facts.agreement.records(),
        "labels_against_answers": [quality_record(one) for one in facts.by_answers],
        "labels_against_truth": [quality_record(one) for one in facts.by_truth],
        "growth": [growth_record(one) for one in facts.growth],
        "conflicts": facts.conflicts.counts(),
        "invalid": {
            kind: {str(id_of(benchmark, kind, index)): why for index, why in sorted(items.items())}
            for kind, items in sorted(evidence.marked.items())
        },
        "candidates": len(facts.candidates),
    }


def id_of(benchmark: Benchmark, kind: str, index: int) -> Any:
    """Return the id of an image or caption."""
    return (benchmark.images if kind == "image" else benchmark.captions)[index]


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder but the provenance file itself."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != FILE:
            with path.open("rb") as handle:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(handle, "sha256").hexdigest()
    return found


def write_provenance(data: Mapping[str, Any], folder: Path) -> None:
    """Write the file, with the fingerprints of the others, which must be there already."""
    text = json.dumps({**data, "files": file_digests(folder)}, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def changed_files(folder: Path) -> list[str] | None:
    """Return which files of a published folder were added, changed or removed; None where it is none."""
    try:
        known = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if known["format"] != FORMAT:
            return None
        listed = {str(name): str(digest) for name, digest in known["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    there = file_digests(folder)
    return sorted(name for name in {*listed, *there} if listed.get(name) != there.get(name))
