"""The page's scripts and styles: plain ES modules and css files, joined in order without a build step."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import\s+(\{[^}]*\})\s+from\s+"\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export\s+((?:async\s+)?function|const|class)\s+(\w+)", re.MULTILINE)


def script(entry: str = "main.js", folder: Path = STATIC / "js") -> str:
    """Return a module with everything it imports before it, as one script.

    Modules inside a page cannot import each other by name, so each becomes a function that returns what
    it exports: scopes stay apart, and no build step is needed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as made:
    ...     _ = Path(made, "a.js").write_text("export const one = 1;\\n")
    ...     _ = Path(made, "main.js").write_text('import { one } from "./a.js";\\nlet two = one + one;\\n')
    ...     print(script("main.js", Path(made)))
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
    exported = ", ".join(found for _, found in EXPORT.findall(text))
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


def plotly_source() -> str:
    """Return plotly's script, as its package ships it; the package itself is not imported."""
    import importlib.util

    from karat.validation import MissingDataError

    found = importlib.util.find_spec("plotly")
    if found is None or not found.submodule_search_locations:
        raise MissingDataError("the package plotly is not installed", fix="pip install plotly")
    path = Path(found.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    if not path.is_file():
        raise MissingDataError("plotly came without plotly.min.js", where=path.parent, fix="reinstall plotly")
    return path.read_text(encoding="utf-8")
