"""What a page is put together from: templates, styles, scripts, plotly, and data.

Scripts are plain ES modules and styles css files, joined in order without a build step. Data are JSON that
cannot end its script; large ones are packed: numbers as small as they go, gzip, base64.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import cached, missing
from karat.errors import MissingDataError
from karat.reports.presentation import with_names

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import\s+(\{[^}]*\})\s+from\s+"\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export\s+((?:async\s+)?function|const|class)\s+(\w+)", re.MULTILINE)
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def template(name: str, trim: bool = False, others: Mapping[str, str] = MappingProxyType({})) -> Template:
    """Return a template: all that it shows is escaped, and a name that it was not given raises.

    `others` are templates that have no file, by name.
    """
    from jinja2 import ChoiceLoader, DictLoader, Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(TEMPLATES), DictLoader(others)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=trim,
        lstrip_blocks=trim,
    )
    environment.filters["with_names"] = with_names
    return environment.get_template(name)


def script(entry: str = "main.js", folder: Path = STATIC / "js") -> str:
    """Return a module with everything it imports before it, as one script.

    Modules inside a page cannot import each other by name, so each becomes a function that returns what
    it exports: scopes stay apart, and no build step is needed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.js").write_text("export const one = 1;\\n")
    ...     _ = Path(folder, "main.js").write_text('import { one } from "./a.js";\\nlet two = one + one;\\n')
    ...     print(script("main.js", Path(folder)))
    const modules = {};
    modules["a.js"] = (() => {
    const one = 1;
    return { one };
    })();
    modules["main.js"] = (() => {
    const { one } = modules["a.js"];
    let two = one + one;
    return {  };
    })();
    """
    order: dict[str, str] = {}

    def visit(name: str, waiting: tuple[str, ...] = ()) -> None:
        assert name not in waiting, f"{name} imports itself"
        if name in order:
            return
        text = (folder / name).read_text(encoding="utf-8")
        for _, needed in IMPORT.findall(text):
            visit(needed, (*waiting, name))
        order[name] = text

    visit(entry)
    joined = "\n".join(["const modules = {};", *(wrapped(name, text) for name, text in order.items())])
    # It would end the script, whatever stands around it.
    assert "</script" not in joined.lower()
    return joined


def wrapped(name: str, text: str) -> str:
    """Return a module as a function that is called once and returns what it exports."""
    exported = ", ".join(export for _, export in EXPORT.findall(text))
    body = EXPORT.sub(r"\1 \2", IMPORT.sub(r'const \1 = modules["\2"];', text)).strip()
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();'


def styles() -> str:
    """Return all css, in the order of the files' names."""
    files = sorted((STATIC / "css").glob("*.css"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def source_hash(text: str) -> str:
    """Return a script's hash as a content security policy names it.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def plotly_file() -> Path:
    """Return plotly's script, as its package ships it; the package itself is not imported."""
    package = importlib.util.find_spec("plotly")
    if package is None or not package.submodule_search_locations:
        raise missing("plotly")
    path = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    if not path.is_file():
        raise MissingDataError("plotly came without plotly.min.js", where=path.parent, fix="reinstall plotly")
    return path


def packed_plotly(path: Path) -> str:
    """Return plotly's script packed; packing it takes as long as scoring a run, so it is kept in the cache.

    A page names the hash of the script itself, so that a browser would not run another one.
    """
    kept = cached("plotly", [path], lambda: {"packed": np.array(packed(path.read_bytes()).encode("ascii"))})
    return kept["packed"].item().decode("ascii")


def safe_json(data: Any) -> str:
    r"""Return json that is safe inside a script element: nothing in it can end or open an element.

    >>> safe_json({"run": "</script><b>&"})
    '{"run":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def packed(data: bytes, level: int = 9) -> str:
    """Return gzip in base64; the same bytes give the same text.

    >>> gzip.decompress(base64.b64decode(packed(b"abc")))
    b'abc'
    """
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode("ascii")


class Pack:
    """Arrays of numbers behind each other, with a description of where each one lies.

    Examples
    --------
    >>> pack = Pack()
    >>> pack.add(np.array([0, 1, 300])), pack.add(np.array([1.0, 0.5, np.nan]))
    (0, 1)
    >>> pack.describe()["arrays"]
    [{'type': 'u16', 'at': 0, 'length': 3}, {'type': 'f32', 'at': 8, 'length': 3}]
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._arrays: list[dict[str, Any]] = []

    def add(self, values: np.ndarray) -> int:
        """Add an array and return its number; whole numbers take as few bytes as they need."""
        kind, plain = narrowed(np.asarray(values))
        # Typed arrays in the browser start at multiples of their own size.
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        self._arrays.append({"type": kind, "at": len(self._bytes), "length": len(plain)})
        self._bytes += plain.tobytes()
        return len(self._arrays) - 1

    def describe(self) -> dict[str, Any]:
        """Return where the arrays lie, and all of them compressed."""
        return {"arrays": self._arrays, "data": packed(bytes(self._bytes), level=6)}


def narrowed(values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the smallest of u8, u16, u32 and f32 that holds the values, and them in it.

    Values per query are 0 or 1 for most measures: 25,000 of them compress to three kilobytes.

    >>> narrowed(np.array([0.0, 1.0]))[0], narrowed(np.array([0.25]))[0], narrowed(np.array([-1]))[0]
    ('u8', 'f32', 'f32')
    """
    whole = bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    if whole and values.size and values.min() >= 0:
        for kind, dtype in (("u8", "<u1"), ("u16", "<u2"), ("u32", "<u4")):
            if values.max() <= np.iinfo(dtype).max:
                return kind, values.astype(dtype)
    # Six digits are more than the page shows, and compress far better than all 24 bits.
    return "f32", values.astype("<f4").round(4)


def packed_texts(texts: Sequence[str]) -> str:
    """Return texts compressed."""
    return packed(safe_json(list(texts)).encode("utf-8"), level=6)
