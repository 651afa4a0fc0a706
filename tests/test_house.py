"""The house itself: import order, a light core, documented public names, current reference pages."""

import ast
import importlib
import inspect
import re
import subprocess
import sys

import pytest

from karat._util import Registry

import house
from house import MODULES, PACKAGES, ROOT, SOURCE

# A package imports only from those before it; DESIGN's order.
ORDER = [
    "errors", "guesses", "_util", "benchmarks", "runs", "measures", "stats", "scores", "lexicon", "captions",
    "perturbations", "world", "models", "duplicates", "baselines", "explanations", "forms", "store",
    "judging", "estimation", "training", "reports", "web", "board", "project", "detections", "cli",
]  # fmt: skip


def test_packages_import_only_from_those_above():
    wrong = []
    for module in sorted(set(MODULES) - {"karat", "karat.__main__"}):
        own = module.split(".")[1]
        assert own in ORDER, f"{own} has no place in the order of packages"
        for target, _ in house.imports_of(module):
            package = target.split(".")[1] if "." in target else own
            if ORDER.index(package) > ORDER.index(own):
                wrong.append(f"{module} imports {target}")
    assert wrong == []


def test_no_two_files_or_rooms_import_each_other():
    assert house.cycles(house.edges()) == []
    assert house.cycles(house.rooms()) == []
    assert house.cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]


def test_a_module_named_in_a_text_is_an_import():
    code = "load('karat.web.app', f'karat.web.{part}.routes', 'karat.reports:write_report', 'karat.toml')"
    seen = [("karat.web.app", ""), ("karat.web", ""), ("karat.reports", "write_report")]
    assert sorted(house.imports_in(ast.parse(code))) == sorted(seen)


def test_modules_that_the_top_names_only_register():
    """The one way up: a registry is filled from later packages, which import it."""
    later, askers = house.later(), house.askers()
    assert {kind for kind, _ in askers} == set(later)
    for kind, asker in askers:
        for module in later[kind]:
            assert asker in {house.home(*imported) for imported in house.imports_of(module)}, module
            own, other = (ORDER.index(name.split(".")[1]) for name in (asker, module))
            assert own <= other, f"{asker} can import {module}"
    holders = {module for module in MODULES if ("karat._util.lazy", "LATER") in house.imports_of(module)}
    assert holders == {"karat", "karat._util.registry"}


def test_packages_are_entered_through_their_door():
    past = sorted(house.through_no_door())
    # The entry point's module has the name of its function.
    assert past == ["karat.__main__ imports program from karat.cli.main: import it from karat.cli"]


def test_exported_names_exist_where_the_door_says():
    for package in sorted(PACKAGES - {"karat.cli"}):
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            getattr(module, name)
        for name in house.exports_of(package):
            # Importing the module would put it in the place of the name.
            assert f"{package}.{name}" not in MODULES, f"{package} has a module called like its name {name}"


def test_a_class_name_means_one_thing():
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for node in house.tree_of(module).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def registries() -> dict[str, tuple[str, set[str]]]:
    """Return the module and the registered names of every registry."""
    found = {}
    for module in MODULES:
        for node in house.tree_of(module).body:
            if isinstance(node, ast.AnnAssign) and "Registry[" in ast.unparse(node.annotation):
                registry = getattr(importlib.import_module(module), ast.unparse(node.target))
                assert isinstance(registry, Registry)
                found[ast.unparse(node.target)] = (house.package_of(module), set(registry))
    return found


def literals(module: str):
    """Yield the line and the texts of each list, tuple, set and dictionary of three or more texts."""
    for node in ast.walk(house.tree_of(module)):
        entries = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        texts = {entry.value for entry in entries if isinstance(entry, ast.Constant)}
        if len(texts) > 2:
            yield node.lineno, texts


def test_names_of_registered_things_are_listed_nowhere_else():
    # Extensions of files are the formats of tables and settings too.
    known = {
        registry: (package, {name for name in names if not name.startswith(".")})
        for registry, (package, names) in registries().items()
    }
    for module in MODULES:
        for line, texts in literals(module):
            for registry, (package, names) in known.items():
                both = sorted(names & texts)
                elsewhere = not module.startswith(package)
                assert not elsewhere or len(both) < 3, f"{module}:{line} lists names of {registry}: {both}"


def public_modules():
    for package in ["karat", *(f"karat.{p.name}" for p in SOURCE.iterdir() if (p / "__init__.py").exists())]:
        # What karat keeps for itself.
        if package == "karat._util":
            continue
        module = importlib.import_module(package)
        if hasattr(module, "__all__"):
            yield module


def test_every_public_name_is_documented():
    reference = (ROOT / "docs" / "reference" / "api.md").read_text()
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{module.__name__}.{name} has no docstring"
                for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                    if not member.startswith("_") and inspect.isfunction(value):
                        assert inspect.getdoc(value), f"{module.__name__}.{name}.{member} has no docstring"
            assert f"`{name}`" in reference, f"{module.__name__}.{name} is not in docs/reference/api.md"


def test_reference_pages_are_current():
    # In its own process: registries list things in the order in which they were imported.
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: run `make docs`"


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
        "from karat.runs import MatrixRun, pairs_to_place\n"
        "q = np.arange(2)\n"
        "MatrixRun(np.eye(2, dtype=np.float32)).place([pairs_to_place('i2t', q, q)])\n"
        "print('scipy.linalg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_nothing_unpickles():
    for module, path in MODULES.items():
        assert "allow_pickle=True" not in path.read_text()
        assert not roots_of(module) & {"pickle", "marshal", "shelve"}, path


def test_sql_is_written_in_the_store_alone():
    store = SOURCE / "store"
    for module, path in MODULES.items():
        assert store in path.parents or not roots_of(module) & {"sqlalchemy", "alembic"}, path


WRITING = {
    "write_text", "write_bytes", "write_parquet", "write_csv", "sink_parquet", "save_file", "savez",
    "savez_compressed", "np.save", "os.replace", "os.rename", "copyfile", "copy2", "copytree", "shutil.move",
    "mkdir", "mkdtemp", "mkstemp", "NamedTemporaryFile", "TemporaryDirectory",
}  # fmt: skip
"""Calls that change files, by the end of their names; and any `open` for writing."""
WRITERS = {
    "write_file", "write_folder", "fill_folder", "write_project", "replacing", "replacing_all",
    "replacing_folder", "filling_folder", "scratch_file", "write_entry", "writing",
}  # fmt: skip
"""What gives a draft to the calls inside its arguments or its block."""
DRAFTS = {
    "karat._util.files": "is the writer",
    "karat._util.cache.make_folders": "makes the cache's folders",
    "karat._util.seals": "two programs must not replace each other's key",
    "karat._util.result.write_text": "is given a draft",
    "karat._util.result.WRITERS": "are given a draft",
    "karat.runs.formats": "are given a draft by karat.runs.conversion",
    "karat.runs.id_files.write_ids": "is given a draft",
    "karat.runs.fingerprint.write_made_with": "is given a draft",
    "karat.benchmarks.karat_format.write_tables": "is given a draft",
    "karat.benchmarks.karat_format.write": "is given a draft",
    "karat.world.world.write_world": "is given a draft",
    "karat.world.world_folder.write_runs": "is given a draft",
    "karat.baselines.images.features.save_vocabularies": "its inner function is given a draft",
    "karat.models.encoders.open_clip.OpenClipFiles.library": "a temporary folder",
    "karat.captions.metric.table_of": "its inner function is given a draft",
    "karat.captions.frequencies.DocumentFrequencies": "its inner function is given a draft",
    "karat.judging.publication.publication.publish": "its inner function is given a draft",
    "karat.judging.publication.provenance.write_provenance": "is given a draft",
    "karat.store.open_file.OpenFile._empty_log": "empties the log of a project that was overwritten",
    "karat.store.open_file.OpenFile._set_logs_aside": "renames the logs of a lost project",
    "karat.web.dashboard.jobs": "temporary files, and downloads that go to the browser",
    "karat.web.service.demo_project": "a temporary folder",
}
"""Where calls that change files are not inside a writer, and why."""


def is_writing(call: ast.Call) -> bool:
    """Whether a call changes files; a table that returns its text does not."""
    name, last = ast.unparse(call.func), called(call)
    if last == "open":
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        texts = [str(part.value) for part in given if isinstance(part, ast.Constant)]
        return any(re.fullmatch("[wax][bt+]*", text) for text in texts)
    return (name in WRITING or last in WRITING) and (last != "write_csv" or bool(call.args))


def called(node: ast.AST) -> str:
    """Return the last part of what a call calls."""
    return ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""


def written_past(node: ast.AST, where: str):
    """Yield the place of each call that changes files past the writer."""
    contexts = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    if WRITERS & {called(part) for part in (node, *contexts)}:
        return
    if isinstance(node, ast.Call) and is_writing(node):
        yield where
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", None) or getattr(getattr(child, "target", None), "id", None)
        named = isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AnnAssign) and name
        yield from written_past(child, f"{where}.{name}" if named else where)


def test_files_are_written_by_one_writer():
    places = {place for module in MODULES for place in written_past(house.tree_of(module), module)}
    known = {place: [name for name in DRAFTS if f"{place}.".startswith(f"{name}.")] for place in places}
    assert [place for place, names in known.items() if not names] == [], "use karat._util.write_file"
    assert {name for names in known.values() for name in names} == set(DRAFTS), "some are not needed"


def roots_of(module: str) -> set[str]:
    """Return the packages that a file imports from, late imports too."""
    names = set()
    for node in ast.walk(house.tree_of(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


def test_the_version_is_said_once_in_both_places():
    import karat

    assert f'version = "{karat.__version__}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "page", ["add-a-measure.md", "add-a-benchmark.md", "add-a-caption-metric.md", "add-an-aggregation.md"]
)
def test_code_in_the_docs_runs(page: str):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    if page == "add-a-measure.md":
        code += "\nassert abs(FScore(k=4)(Ranked.from_places([[1, 3]], [[1, 1]], size=10))[0] - 2 / 3) < 1e-9"
    if page == "add-a-caption-metric.md":
        code += '\nassert Rouge1().pair(["a dog runs", "the dog"], "a dog") == 0.6'
    if page == "add-an-aggregation.md":
        code += """
from karat.forms import load_form, make_answers
from karat.judging import aggregate
answers = make_answers([0, 0, 0], [7, 7, 7], [0, 1, 2], [1, 3, 4], ("ann", "bob", "eve"))
assert aggregate(answers, load_form("pair"), "middle").rating.tolist() == [3]
"""
    # In its own process: it registers a measure that other tests must not see.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_imports_on_the_pages_work():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        lines = re.findall(
            r"^(?:>>> )?from (karat[\w.]*) import ([\w, ]+)$", page.read_text(encoding="utf-8"), re.M
        )
        for module, names in lines:
            for name in names.split(", "):
                assert hasattr(importlib.import_module(module), name), f"{page.name}: {name} from {module}"


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_of_the_house_is_a_map_of_it():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path for path in re.findall(r"`((?:\w+/)*\w+\.py)`", page) if not path.startswith("tests/")}
    lost = [path for path in sorted(files) if not list(SOURCE.rglob(path))]
    # A step of a walk: its files, and the functions that are defined in one of them.
    steps = re.findall(r"^\| \d+ \| (`[^|]*) \| ([^|]*) \|", page, re.M)
    assert len(steps) > 40
    for paths, functions in steps:
        first, *others = re.findall(r"`([\w/]+\.py)`", paths)
        places = [
            SOURCE / first,
            *((SOURCE if "/" in name else (SOURCE / first).parent) / name for name in others),
        ]
        text = "".join(path.read_text(encoding="utf-8") for path in places)
        names = re.findall(r"`(?:\w+\.)?(\w+)`", functions)
        lost += [f"{name} in {paths}" for name in names if not re.search(rf"\b(def|class) {name}\b", text)]
    assert lost == []
    assert len(page.split()) < 2500
