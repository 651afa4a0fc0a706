"""Where benchmarks come from: one registered file per source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat.benchmarks.benchmark import Benchmark
from karat.registry import Param, Registry
from karat.validation import InputError


@dataclass(frozen=True)
class Source:
    """A benchmark that can be loaded by name.

    Parameters
    ----------
    name, about
        As it is asked for, and a line on what it is.
    load
        Takes the parameters, returns the Benchmark.
    params
        What `load` takes, as data.
    """

    name: str
    about: str
    load: Callable[..., Benchmark]
    params: tuple[Param, ...] = ()


SOURCES: Registry[Source] = Registry("benchmark")


def register(source: Source) -> Source:
    """Make `source` known to `load_benchmark`; a name that is taken raises."""
    return SOURCES.add(source.name, source)


def load_benchmark(name: str, **options: Any) -> Benchmark:
    """Return the benchmark called `name`.

    Parameters
    ----------
    name
        One of `karat benchmarks`.
    **options
        The source's parameters: for "coco", ``cxc_ratings="sits_test.csv"`` adds the raw CxC ratings.

    Examples
    --------
    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> coco.images.size, coco.captions.size
    (5000, 25000)
    """
    source = SOURCES[name]
    known = {param.name: param for param in source.params}
    for option in options:
        if option not in known:
            fix = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"benchmark {name!r} has no option {option!r}", fix=fix)
    return source.load(**{option: known[option].parse(value) for option, value in options.items()})
