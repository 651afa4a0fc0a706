"""Released migrations are frozen: projects out there were made by them as they are."""

import ast
import hashlib

import pytest

from karat.store.migration import STEPS, scripts

FROZEN = {
    "versions/v0001_judging.py": "16fc7148bd9c2239",
    "versions/v0002_machine_judges.py": "fa3d3440fd14e4cd",
    "versions/v0003_accounts.py": "74de1a9ef546f182",
    "versions/v0004_names.py": "d417242b16b31794",
    "versions/v0005_draws.py": "f262198930ec8f73",
    "versions/v0006_seals.py": "4f49918044d218f8",
    "append_only.py": "385390b8905c709c",
    "columns.py": "ac44a482dc271c9c",
}
"""The start of the SHA-256 of each file; a new migration adds a line."""


@pytest.mark.parametrize("name", FROZEN)
def test_a_released_migration_never_changes(name):
    data = (STEPS / name).read_bytes()
    assert hashlib.sha256(data).hexdigest()[:16] == FROZEN[name], "write a new migration instead"


def test_every_migration_is_frozen():
    # Everything but the doors, which define nothing.
    files = {path.relative_to(STEPS).as_posix() for path in STEPS.rglob("*.py") if path.name != "__init__.py"}
    assert files == set(FROZEN)
    versions = [script.revision for script in scripts().walk_revisions()]
    assert versions == sorted(versions, reverse=True)
    assert len(versions) == sum(name.startswith("versions/") for name in FROZEN)


def test_a_migration_depends_on_nothing_that_may_change():
    for name in FROZEN:
        for node in ast.walk(ast.parse((STEPS / name).read_text(encoding="utf-8"))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                own = str(module).startswith("karat")
                assert not own or str(module).startswith("karat.store.migrations"), (name, module)
