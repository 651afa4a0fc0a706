"""Released migrations are frozen: projects out there were made by them as they are."""

import hashlib

import pytest

from karat.judging.store.migration import STEPS, scripts

FROZEN = {
    "versions/v0001_judging.py": "78f7cdd37c6ee73c",
    "versions/v0002_machine_judges.py": "eb7177cfa3394b9d",
    "versions/v0003_accounts.py": "5b7e18fa1a8c43ac",
    "versions/v0004_names.py": "d417242b16b31794",
    "append_only.py": "385390b8905c709c",
    "columns.py": "ac44a482dc271c9c",
}
"""The start of the SHA-256 of each file; a new migration adds a line."""


@pytest.mark.parametrize("name", FROZEN)
def test_a_released_migration_never_changes(name):
    data = (STEPS / name).read_bytes()
    assert hashlib.sha256(data).hexdigest()[:16] == FROZEN[name], "write a new migration instead"


def test_every_migration_is_frozen():
    files = {f"versions/{path.name}" for path in (STEPS / "versions").glob("v*.py")}
    assert files == {name for name in FROZEN if name.startswith("versions")}
    versions = [script.revision for script in scripts().walk_revisions()]
    assert versions == sorted(versions, reverse=True)
    assert len(versions) == len(files)
