"""What a command wrote, as plain data that reads well in a diff: files by their kind, long tables by sums."""

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
        # A hash of another file's bytes depends on the library that packs it; the file is compared anyway.
        return {key: tersely(one) for key, one in value.items() if key not in ("files", "fingerprints")}
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
    """Collects what a reader of a report sees first: headings, paragraphs of its head, tables."""

    BLOCKS = (
        "title",
        "h1",
        "h2",
        "h3",
        "h4",
        "caption",
        "p",
        "li",
        "tr",
        "th",
        "td",
        "figcaption",
        "summary",
        "dt",
        "dd",
    )

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.kind = ""
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "svg", "template"):
            self.hidden += 1
        elif tag in ("td", "th") and self.kind == "tr":
            self.words.append(" | ")
        elif tag in self.BLOCKS:
            self.end()
            self.kind = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "svg", "template"):
            self.hidden = max(0, self.hidden - 1)
        elif tag == self.kind:
            self.end()

    def handle_data(self, data: str) -> None:
        if self.kind and not self.hidden:
            self.words.append(data)

    def end(self) -> None:
        """Keep the block that is open."""
        said = re.sub(r"\s+", " ", "".join(self.words)).strip(" |")
        if self.kind and said:
            self.found.append(f"{self.kind}: {said}")
        self.kind, self.words = "", []


def page(content: str, clean: Any) -> dict[str, Any]:
    """Return the headings of a page, and the text of its paragraphs and tables, without scripts."""
    reader = Page()
    reader.feed(content)
    reader.end()
    # Only what is left is cleaned: the scripts of a page are long.
    found = clean("\n".join(reader.found)).splitlines()
    headings = [one for one in found if re.match(r"title|h\d", one)]
    return {"headings": headings, "text": text("\n".join(one for one in found if one not in headings))}


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
        return page(path.read_text(encoding="utf-8"), clean)
    content = clean(path.read_text(encoding="utf-8"))
    if kind == ".json":
        return tersely(json.loads(content)) if terse else summary(json.loads(content))
    if kind == ".jsonl":
        return summary([json.loads(line) for line in content.splitlines()])
    if kind in (".csv", ".tsv"):
        separator = "," if kind == ".csv" else "\t"
        return table(pl.read_csv(content.encode(), separator=separator, infer_schema_length=None), terse)
    if kind in (".trec", ".run"):
        rows = [line.split() for line in content.splitlines()]
        return {
            "lines": len(rows),
            "columns": [summary([number(one) for one in column]) for column in zip(*rows)],
        }
    return text(content)


def number(word: str) -> float | int | str:
    """Return a word as the number that it is, if it is one."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
