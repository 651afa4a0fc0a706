"""numba without the 0.2 s that it spends on importing all of scipy.linalg.

When numba first compiles or loads anything, it imports scipy.linalg only to learn whether scipy
is installed (for `np.cov`). Here it is told so by looking for the package instead. Functions that
need BLAS still import it when they are compiled. Should a numba version arrange this differently,
nothing is changed and only the time is lost.
"""

import contextlib
import importlib
import importlib.util
from typing import Any

import numba


def _blas_is_installed() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("scipy 0.16+ is required for linear algebra")


with contextlib.suppress(ImportError, AttributeError):
    _linalg: Any = importlib.import_module("numba.np.linalg")
    _original = _linalg.ensure_blas
    _linalg.ensure_blas = _blas_is_installed
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        _linalg.ensure_blas = _original

njit = numba.njit
