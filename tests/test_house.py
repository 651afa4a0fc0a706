"""The house itself: import order, a light core, documented public names, current reference pages."""

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "karat"
# A package imports only from those before it; DESIGN's order. Modules of the package itself come first.
ORDER = [
    "exports", "validation", "registry", "benchmarks", "runs", "measures", "stats", "scores", "lexicon",
    "captions", "world", "systems", "explain", "judging", "estimate", "train", "reports", "web", "cli",
]  # fmt: skip


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_packages_import_only_from_those_above(path: Path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    assert own in ORDER, f"{own} has no place in the order of packages"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "karat" and len(parts) > 1 and parts[1] in ORDER:
            assert ORDER.index(parts[1]) <= ORDER.index(own), f"{path} imports {name}"


def public_modules():
    for package in ["karat", *(f"karat.{p.name}" for p in SOURCE.iterdir() if (p / "__init__.py").exists())]:
        module = importlib.import_module(package)
        if hasattr(module, "__all__"):
            yield module


def test_every_public_name_is_documented():
    reference = (ROOT / "docs" / "reference" / "api.md").read_text()
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{module.__name__}.{name} has no docstring"
                for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                    if not member.startswith("_") and inspect.isfunction(value):
                        assert inspect.getdoc(value), f"{module.__name__}.{name}.{member} has no docstring"
            assert f"`{name}`" in reference, f"{module.__name__}.{name} is not in docs/reference/api.md"


def test_reference_pages_are_current():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for path, text in generate.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run `make docs`"


def test_importing_karat_loads_nothing_heavy():
    code = "import sys, karat; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numba", "scipy", "polars", "rich", "typer", "sklearn", "torch", "numpy"} & set(loaded)
    code = "import sys, karat.cli.main; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numba", "scipy", "polars", "sklearn", "torch"} & set(loaded)


def test_evaluating_does_not_load_scipy():
    code = (
        "import sys, numpy as np\n"
        "from karat.runs import MatrixRun, Question\n"
        "q = np.arange(2)\n"
        "MatrixRun(np.eye(2, dtype=np.float32)).place([Question('i2t', q, q)])\n"
        "print('scipy.linalg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_nothing_unpickles():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert "allow_pickle=True" not in text
        assert not any(name.split(".")[0] in ("pickle", "marshal", "shelve") for name in imports(path)), path


def test_the_version_is_said_once_in_both_places():
    import karat

    assert f'version = "{karat.__version__}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("page", ["add-a-measure.md", "add-a-benchmark.md"])
def test_code_in_the_docs_runs(page: str):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    if page == "add-a-measure.md":
        code += "\nassert abs(FScore(k=4)(Ranked.from_places([[1, 3]], [[1, 1]], size=10))[0] - 2 / 3) < 1e-9"
    # In its own process: it registers a measure that other tests must not see.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
