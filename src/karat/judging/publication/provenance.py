"""karat-judging.json: how a published folder was made, as data, with a fingerprint of every other file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.forms import fingerprint, form_to_data
from karat.judging.publication.correction import Correction
from karat.judging.publication.evidence import Evidence
from karat.judging.publication.facts import Facts, growth_record, quality_record
from karat.judging.publication.tables import id_of

FORMAT, VERSION = "karat-judging", 1
FILE = "karat-judging.json"


def provenance(
    evidence: Evidence, correction: Correction, facts: Facts, choices: Mapping[str, Any], made: str
) -> dict[str, Any]:
    """Return how a truth was made; no date, host or path is part of it, unless `made` names one."""
    import karat

    pool, benchmark = evidence.pool, evidence.benchmark
    return {
        "format": FORMAT,
        "version": VERSION,
        "karat": karat.__version__,
        "made": made,
        "project": evidence.project,
        "benchmark": {"name": benchmark.name, "ids": fingerprint(benchmark)},
        "truth": correction.truth.name,
        "machine": correction.truth.machine,
        "choices": dict(choices),
        "aggregation": {"method": correction.verdicts.method, "settings": dict(correction.verdicts.settings)},
        "original": correction.original,
        "policies": dict(correction.policies),
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
        "labels_against_answers": [quality_record(row) for row in facts.by_answers],
        "labels_against_truth": [quality_record(row) for row in facts.by_truth],
        "growth": [growth_record(row) for row in facts.growth],
        "conflicts": facts.conflicts.counts(),
        "invalid": {
            kind: {str(id_of(benchmark, kind, index)): why for index, why in sorted(items.items())}
            for kind, items in sorted(evidence.marked.items())
        },
        "candidates": len(facts.candidates),
    }


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder except the provenance file itself."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != FILE:
            with path.open("rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
            digests[path.relative_to(folder).as_posix()] = digest
    return digests


def write_provenance(data: Mapping[str, Any], folder: Path) -> None:
    """Write the file, with the fingerprints of the other files, which must exist already."""
    text = json.dumps({**data, "files": file_digests(folder)}, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def changed_files(folder: Path) -> list[str] | None:
    """Return which files of a published folder were added, changed or removed; None if it is not one."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return None
        listed = {str(name): str(digest) for name, digest in data["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    present = file_digests(folder)
    return sorted(name for name in {*listed, *present} if listed.get(name) != present.get(name))
