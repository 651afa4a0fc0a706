"""Public names are listed once and loaded when first asked for."""

import sys

import pytest

from karat.errors import MissingDataError

INIT = '''"""A package."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from PACKAGE.shapes import Square as Square
    from PACKAGE.heavy import train as train

__all__, __getattr__, __dir__ = exports(__name__, __file__)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which needs what is not installed."""
    name = f"lazy_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT.replace("PACKAGE", name))
    (folder / "shapes.py").write_text("class Square: pass\n")
    (folder / "heavy.py").write_text("import sqlalchemy.orm\ndef train(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__(name)
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]


def test_a_name_is_loaded_when_first_asked_for(package):
    assert package.__all__ == dir(package) == ["Square", "train"]
    assert f"{package.__name__}.shapes" not in sys.modules
    square = package.Square
    assert f"{package.__name__}.shapes" in sys.modules
    # The second time without asking.
    assert vars(package)["Square"] is square


def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=r"has no attribute 'Circle'"):
        _ = package.Circle
    assert not hasattr(package, "Circle")


def test_a_package_that_is_not_installed_is_named(package, monkeypatch):
    for name in ("sqlalchemy", "sqlalchemy.orm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        MissingDataError, match=r"the package sqlalchemy is not installed; pip install 'karat\[judging\]'"
    ):
        _ = package.train


def test_another_missing_module_is_a_bug(package):
    (home,) = package.__path__
    with open(f"{home}/heavy.py", "w") as file:
        file.write("import no_such_module_of_ours\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_ours"):
        _ = package.train
