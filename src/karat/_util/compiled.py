"""numba without the 0.2 s that it spends on importing all of scipy.linalg, with a cache of the user's alone.

What numba keeps of compiled functions are pickles and machine code: who can write it can run code here. It is
used where `karat._util.ownership` says that nobody else can; in place of any other folder, one in karat's own
cache is.

When numba first compiles or loads anything, it imports scipy.linalg only to learn whether scipy
is installed (for `np.cov`). Here it is told so by looking for the package instead. Functions that
need BLAS still import it when they are compiled. Should a numba version arrange this differently,
nothing is changed and only the time is lost.
"""

import contextlib
import importlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba

from karat._util.cache import cache_folder, make_folders
from karat._util.ownership import NotOwnError, check_own_folder, note_refused, writers
from karat.errors import KaratError

KEPT = (".nbi", ".nbc")
"""The extensions of numba's lists of compiled functions, and of these."""
FIX = "remove it, or name a folder of yours in NUMBA_CACHE_DIR"


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


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """Return a compiled function, or a decorator: `numba.njit`, whose cache on disk is the user's alone."""
    if function is None:
        return lambda function: njit(function, cache=cache, **options)
    if cache:
        # Where numba keeps them; then in karat's own cache.
        for place in (None, own_cache):
            with contextlib.suppress(RuntimeError, OSError, KaratError):  # no folder that it can write
                return kept_compiled(function, place, options)
    return numba.njit(**options)(function)


def kept_compiled(
    function: Callable[..., Any], place: Callable[[], str] | None, options: dict[str, Any]
) -> Any:
    """Return a compiled function that is kept in a folder, numba's or that of `place`, or raise."""
    config: Any = numba.config
    before = config.CACHE_DIR
    try:
        if place is not None:
            config.CACHE_DIR = place()
        chosen = config.CACHE_DIR
        found = numba.njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    folder = Path(found.stats.cache_path)
    # Nobody else gets to what karat's own folder holds, whatever the mode of that is.
    if (place is None or folder.parent != Path(chosen)) and (error := refusal(folder)) is not None:
        raise error
    return found


@lru_cache(maxsize=64)
def refusal(folder: Path) -> NotOwnError | None:
    """Return why compiled functions are not taken from a folder, and say it; None where they are."""
    try:
        check_own_folder(folder, folder.parent)
        for path in folder.iterdir():
            if path.suffix in KEPT and (who := writers(path.lstat())) is not None:
                raise NotOwnError(path, who)
    except NotOwnError as error:
        note_refused(error, folder, f"compiled functions are not taken from there; {FIX}")
        return error
    except OSError as error:
        return NotOwnError(folder, str(error))
    return None


def own_cache() -> str:
    """Return the folder of compiled functions in karat's cache, for the user alone, or raise."""
    place = cache_folder().absolute() / "compiled"
    make_folders(place)
    # One that an older program, or the user, has made more open.
    place.chmod(0o700)
    return str(place)
