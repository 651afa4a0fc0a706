"""What a command showed and wrote, as plain data that reads well in a diff: long tables by sums, no prose.

How a thing is said may change, what is said may not. Of a sentence only its numbers are kept, of a printed
table the numbers of each row, and of a note nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FEW = 20  # values of a long column that are kept as they are
SHORT = 1500  # characters of json that are kept whole
LINES = 90  # lines of a text file that are kept whole
NOTES = ("note", "notes")
WORDING = (
    "about", "correction", "formula", "guidelines", "help", "needs", "paper", "picture", "question", "scale",
    "title",
)  # fmt: skip
"""Keys of json whose values say nothing about a result; only that they are there is kept."""
SENTENCES = ("basis", "left_out", "reasons", "text", "why")
"""Keys of json, and columns, whose values are sentences about a result (``text`` not, in tables)."""
HASHES = ("files", "fingerprints")
"""Keys with hashes of files by their names: these depend on the library that packs them."""
NUMBER = re.compile(r"(?<![\w.@-])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


def fingerprint(data: bytes | str) -> str:
    """Return a short hash, for what has to stay the same to the last byte."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


def plain(value: Any) -> Any:
    """Return a value as json knows it, numbers with 12 digits."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.12g}") if math.isfinite(value) else str(float(value))
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray | pl.Series):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str) else str(value)


def weights(n: int) -> np.ndarray:
    """Return a weight for each place, so that values which change places change the weighted sum."""
    return 0.5 + np.modf(np.arange(1, n + 1) * 0.6180339887498949)[0]


def numbers(values: list | np.ndarray) -> dict[str, Any]:
    """Summarise numbers: the first ones, and sums which any change of any value or place would change."""
    array = np.array([math.nan if one is None else one for one in values], dtype=float).ravel()
    finite = np.isfinite(array)
    kept = np.where(finite, array, 0.0)
    return {
        "n": len(array),
        "missing": int((~finite).sum()),
        "least": float(kept.min()) if len(kept) else 0.0,
        "most": float(kept.max()) if len(kept) else 0.0,
        "size": float(np.abs(kept).sum()),
        "sum": float(kept.sum()),
        "weighted": float(kept @ weights(len(kept))),
        "first": [plain(one if one is None else float(f"{one:.10g}")) for one in values[:FEW]],
    }


def is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def said(text: str) -> str:
    """Return the numbers of a text, as they are written there.

    >>> said("a beats b on 1,000 of R@5: 12.50% against −3")
    '1,000 12.50 −3'
    """
    return " ".join(NUMBER.findall(text))


def unworded(value: Any, key: str = "") -> Any:
    """Return json data without its notes and wording, and of its sentences the numbers."""
    if isinstance(value, dict):
        if key in HASHES:
            return sorted(value)
        kept = {name: name if name in WORDING + SENTENCES + HASHES else key for name in value}
        return {name: unworded(one, kept[name]) for name, one in value.items() if name not in NOTES}
    if isinstance(value, list) and key not in WORDING:
        return [unworded(one, key) for one in value]
    if key in WORDING:
        return "…" if value else value
    return said(value) if key in SENTENCES and isinstance(value, str) else value


def printed_rows(lines: list[str]) -> list[str]:
    """Return the numbers of each row of the tables in a text: of the lines below a rule.

    >>> lines = ["Two runs.", "", "run  R@1", "───  ─────", "a    12.50", "b     7.00", "Of 24.", "note: 3"]
    >>> printed_rows(lines)
    ['12.50', '7.00']
    """
    found, inside = [], False
    for line in lines:
        if not line.strip() or line.startswith("note: "):
            inside = False
        elif "──" in line:
            inside = True
        # A line without columns is a sentence below the table.
        elif inside and "  " in line.strip():
            found.append(said(line))
    return found


def rows(lines: list[str]) -> Any:
    """Return the numbers of rows as they are written, of many rows the first ones and sums of all."""
    if len(lines) <= LINES:
        return lines
    words = " ".join(lines).replace(",", "").replace("−", "-").split()
    return {"rows": len(lines), "first": lines[:12], "numbers": numbers([float(word) for word in words])}


def unrecorded(lines: list[str], records: Any) -> str:
    """Return how many decimals of printed rows are no rounded number of the records nor its percent.

    >>> unrecorded(["62.50 3.14", "7"], [{"value": 0.625}])
    '1 of 2'
    """
    values = np.array(sorted(set(all_numbers(records))))
    values = np.concatenate([values, 100 * values, -values, -100 * values])
    words = [word for word in " ".join(lines).replace(",", "").replace("−", "-").split() if "." in word]
    missing = 0
    for word in words:
        off = 0.5001 * 10.0 ** -len(word.partition(".")[2]) if "e" not in word else 1e-3 * abs(float(word))
        missing += not (np.abs(values - float(word)) <= off).any()
    return f"{missing} of {len(words)}"


def all_numbers(value: Any) -> list[float]:
    """Return every number of json data, those in its texts too."""
    if isinstance(value, dict):
        return [one for inner in value.values() for one in all_numbers(inner)]
    if isinstance(value, list):
        return [one for inner in value for one in all_numbers(inner)]
    if isinstance(value, str):
        return [float(one.replace(",", "").replace("−", "-")) for one in NUMBER.findall(value)]
    return [float(value)] if is_number(value) and value is not None and math.isfinite(value) else []


def summary(value: Any) -> Any:
    """Return json data as it is where that is short, else the same with long lists summed up."""
    if len(json.dumps(value)) <= SHORT:
        return plain(value)
    if isinstance(value, dict):
        if len(value) <= 60:
            return {key: summary(one) for key, one in value.items()}
        return {"n": len(value), "keys": summary(list(value)), "values": summary(list(value.values()))}
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, list):
        return plain(value)
    if all(is_number(one) for one in value):
        return numbers(value)
    if all(isinstance(one, dict) for one in value):
        names = list(dict.fromkeys(name for one in value for name in one))
        if len(value) * len(names) <= 150:
            return [summary(one) for one in value]
        return {
            "n": len(value),
            "columns": {name: summary([one.get(name) for one in value]) for name in names},
        }
    if all(isinstance(one, list) for one in value):
        flat = [deep for one in value for deep in one]
        return {"n": len(value), "lengths": summary([len(one) for one in value]), "all": summary(flat)}
    return {"n": len(value), "first": summary(value[:5]), "hash": fingerprint(json.dumps(plain(value)))}


def tersely(value: Any) -> Any:
    """Return json data with a hash in place of each long part, its numbers rounded to 9 digits before."""
    if isinstance(value, dict) and len(json.dumps(value)) > 400 and len(value) <= 60:
        return {key: tersely(one) for key, one in value.items()}
    if len(json.dumps(value)) <= 400:
        return plain(value)
    rounded = re.sub(r"\d+\.\d{9,}(e-?\d+)?", lambda found: f"{float(found[0]):.9g}", json.dumps(value))
    return {"n": len(value), "hash": fingerprint(rounded)}


def text(content: str) -> Any:
    """Return lines; of a long text only the first, and a hash of all."""
    lines = content.splitlines()
    if len(lines) <= LINES and len(content) < 12000:
        return lines
    return {"lines": len(lines), "first": [line[:300] for line in lines[:12]], "hash": fingerprint(content)}


def table(frame: pl.DataFrame, terse: bool = False) -> dict[str, Any]:
    """Return the columns of a table, each with its type; where there are many tables or columns, tersely."""
    if frame.width > 60:
        whole = fingerprint(frame.write_csv())
        return {"rows": frame.height, "names": summary(frame.columns), "hash": whole}
    terse = terse or frame.width > 25
    columns: dict[str, Any] = {}
    for name in frame.columns:
        values = plain(frame[name].to_list())
        if name in SENTENCES and name != "text":
            values = [said(one) if isinstance(one, str) else one for one in values]
        kind = {"type": str(frame[name].dtype)}
        if all(is_number(one) for one in values) and values:
            found = numbers(values)
            kept = ("missing", "size", "sum", "weighted") if terse else tuple(found)[1:]
            columns[name] = kind | {key: found[key] for key in kept}
        elif terse:
            columns[name] = kind | {"first": shortened(values[:2]), "hash": fingerprint(json.dumps(values))}
        elif len(json.dumps(values)) <= FEW * 25:
            columns[name] = kind | {"values": values}
        else:
            columns[name] = kind | {"first": shortened(values[:6]), "hash": fingerprint(json.dumps(values))}
    return {"rows": frame.height, "columns": columns}


def shortened(values: list) -> list:
    """Return values that are not long."""
    return [one if len(json.dumps(one)) <= 80 else f"{json.dumps(one)[:77]}…" for one in values]


def array(values: np.ndarray, turned: bool = False, terse: bool = False) -> dict[str, Any]:
    """Return an array's shape, type and sums; only the sum of squares where its axes may be ``turned``."""
    found: dict[str, Any] = {"shape": list(values.shape), "dtype": str(values.dtype)}
    if values.dtype.kind not in "biuf":
        return found | {"values": summary(plain(values.ravel().tolist()))}
    if turned:
        return found | {"squares": float((values.astype(float) ** 2).sum())}
    left_out = ("n", "first", "least", "most") if terse else ("n",)
    return found | {name: one for name, one in numbers(values.ravel()).items() if name not in left_out}


def arrays(tables: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return several arrays. Axes of an embedding may be turned by another matrix library: scores may not."""
    pair = [name for name in tables if tables[name].ndim == 2 and tables[name].dtype.kind == "f"]
    if len(pair) == 2 and tables[pair[0]].shape[1] == tables[pair[1]].shape[1]:
        left, right = (tables[name].astype(float) for name in sorted(pair))
        found = {name: array(one, turned=name in pair) for name, one in sorted(tables.items())}
        return found | {"product": array(left @ right.T)}
    return {name: array(one, turned=True) for name, one in sorted(tables.items())}


class Page(HTMLParser):
    """Collects the sections of a page and the rows of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.rows: list[str] = []
        self.inside = self.hidden = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "svg", "template"):
            self.hidden += 1
        elif tag == "section":
            self.sections.append(dict(attributes).get("id") or "")
        elif tag == "tr":
            self.rows.append("")
            self.inside += 1
        elif tag in ("td", "th") and self.inside:
            self.rows[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "svg", "template"):
            self.hidden = max(0, self.hidden - 1)
        elif tag == "tr":
            self.inside = max(0, self.inside - 1)

    def handle_data(self, data: str) -> None:
        if self.inside and not self.hidden:
            self.rows[-1] += data


def page(content: str) -> dict[str, Any]:
    """Return the sections of a page and the numbers of its tables, without scripts."""
    reader = Page()
    reader.feed(content)
    return {"sections": reader.sections, "rows": rows(list(map(said, reader.rows)))}


def read(path: Path, clean: Any, turned: bool = False, terse: bool = False) -> Any:
    """Return what a file holds. ``clean`` takes out of a text what differs from run to run."""
    kind = path.suffix.lower()
    if kind == ".db":
        return "a project"
    if kind == ".npy":
        return array(np.load(path, allow_pickle=False), turned, terse)
    if kind == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return arrays(dict(found))
    if kind == ".safetensors":
        from safetensors.numpy import load_file

        return arrays(load_file(path))
    if kind == ".parquet":
        return table(pl.read_parquet(path), terse)
    if kind in (".png", ".jpg"):
        return {"hash": fingerprint(path.read_bytes())}
    if kind == ".html":
        return page(clean(path.read_text(encoding="utf-8")))
    content = clean(path.read_text(encoding="utf-8"))
    if kind == ".json":
        found = unworded(json.loads(content))
        return tersely(found) if terse else summary(found)
    if kind == ".jsonl":
        return summary([unworded(json.loads(line)) for line in content.splitlines()])
    if kind in (".csv", ".tsv"):
        separator = "," if kind == ".csv" else "\t"
        return table(pl.read_csv(content.encode(), separator=separator, infer_schema_length=None), terse)
    if kind in (".trec", ".run"):
        lines = [line.split() for line in content.splitlines()]
        return {
            "lines": len(lines),
            "columns": [summary([number(one) for one in column]) for column in zip(*lines)],
        }
    if kind in (".md", ".tex"):
        # Its tables: between bars, or with cells that & separates.
        cells = [line for line in content.splitlines() if line.startswith("|") or " & " in line]
        return {"rows": rows(list(map(said, cells)))}
    if kind == ".xml":
        return text("\n".join(re.findall(r"<\w+|\b(?:name|toName|alias|hotkey|choice)=\"[^\"]*\"", content)))
    return text(content)


def number(word: str) -> float | int | str:
    """Return a word as the number that it is, if it is one."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
