"""The sources of karat as a graph: which file imports which, and through which door."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "karat"


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports_of(module: str) -> list[tuple[str, str]]:
    """Return what a file imports of karat, late and for types too: the module, and the name or ""."""
    return imports_in(tree_of(module))


def imports_in(tree: ast.AST) -> list[tuple[str, str]]:
    """Return what a tree imports of karat, by statements or by a text that names a module."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names if alias.name.split(".")[0] == "karat"]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "karat":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = inner in MODULES and alias.name not in exports_of(str(node.module))
                found.append((inner, "") if is_module else (str(node.module), alias.name))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # As `import_module` takes it, with the end missing where that is computed; or "module:name".
            named, _, name = node.value.partition(":")
            if named.removesuffix(".") in MODULES and named.startswith("karat."):
                found.append((named.removesuffix("."), name.partition(".")[0]))
    return found


def later() -> dict[str, tuple[str, ...]]:
    """Return what the top of karat says of each kind: the modules of later packages that register some."""
    for node in ast.walk(tree_of("karat")):
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "LATER":
            return ast.literal_eval(node.value)
    return {}


def askers() -> list[tuple[str, str]]:
    """Return each kind whose registry is filled from later packages, and the file of the registry."""
    return [
        (ast.literal_eval(call.args[0]), module)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.keyword) and node.arg == "fill"
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "import_later"
    ]


@cache
def exports_of(package: str) -> dict[str, str]:
    """Return per public name of a package the module that it is imported from; {} for a plain module."""
    return {name: module for name, (module, _) in doors_of(package).items()}


@cache
def doors_of(package: str) -> dict[str, tuple[str, str]]:
    """Return per public name of a package the module that it is imported from, and its name there."""
    if package not in PACKAGES:
        return {}
    return {
        alias.asname: (str(line.module), alias.name)
        for line in ast.walk(tree_of(package))
        # Its own packages are listed, too: they are modules, not names of it.
        if isinstance(line, ast.ImportFrom) and str(line.module).startswith("karat.")
        for alias in line.names
        if alias.asname is not None
    }


def home(module: str, name: str) -> str:
    """Return the module that defines a name, behind the doors of packages."""
    while name in doors_of(module):
        module, name = doors_of(module)[name]
    return module


def package_of(module: str) -> str:
    """Return the innermost package that holds a module."""
    while module not in PACKAGES:
        module = module.rpartition(".")[0]
    return module


def edges() -> dict[str, set[str]]:
    """Return per file the files that it needs; doors are looked through, not counted."""
    return {
        module: {home(*imported) for imported in imports_of(module)} - PACKAGES - {module}
        for module in MODULES
        if module not in PACKAGES
    }


def room_of(module: str) -> str:
    """Return the package inside a package that holds a file; a file that lies beside some is its own room."""
    package = package_of(module)
    return package if package.count(".") > 1 else module


def rooms() -> dict[str, set[str]]:
    """Return per room the others that it needs."""
    graph: dict[str, set[str]] = {}
    for module, needed in edges().items():
        graph.setdefault(room_of(module), set()).update(map(room_of, needed))
    return {room: needed - {room} for room, needed in graph.items()}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files or rooms that import each other (Tarjan's strongly connected components)."""
    order, low, stack, groups = {}, {}, [], []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for needed in graph.get(module, ()):
            if needed not in order:
                visit(needed)
            if needed in stack:
                low[module] = min(low[module], low[needed])
        if low[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for module in graph:
        if module not in order:
            visit(module)
    return groups


def through_no_door() -> Iterator[str]:
    """Yield each import that goes past the ``__init__.py`` of the package that it reaches into."""
    for module in MODULES.keys() - PACKAGES:
        for target, name in imports_of(module):
            # A package is entered from outside when the importing file does not lie in it.
            inner = package_of(target)
            inside = module == inner or module.startswith(f"{inner}.")
            if inside or inner == "karat":
                continue
            if target != inner:
                yield f"{module} imports {name or 'the module'} from {target}: import it from {inner}"
            elif name and name not in exports_of(inner):
                yield f"{module} imports {name} from {inner}, which does not export it"


def single_importers() -> list[str]:
    """Return the files that only one neighbour in their package imports; compiled kernels are exempt."""
    importers: dict[str, set[str]] = {}
    for module, needed in edges().items():
        for target in needed:
            importers.setdefault(target, set()).add(module)
    return [
        module
        for module, users in importers.items()
        if len(users) == 1
        and package_of(next(iter(users))) == package_of(module)
        and not module.endswith("kernels")
        and module not in {m for package in PACKAGES for m in exports_of(package).values()}
    ]
