"""Search: the pictures that fit a sentence best, by a model of pictures and texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from karat._util import TEXT_FORMATS, Result, check_writable
from karat.benchmarks import find_images, load_benchmark
from karat.errors import InputError
from karat.models.encoder import load_model


@dataclass(frozen=True)
class Hit:
    """A picture that was found: its name, its file, and the cosine of picture and sentence."""

    name: str
    path: str
    score: float


@dataclass(frozen=True)
class SearchResult(Result):
    """The pictures that fit a sentence best.

    Parameters
    ----------
    query
        What was looked for.
    hits
        What was found, the best first.
    notes
        What a reader should know, such as words that the model does not know.
    """

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record per picture: its place, name, file and score."""
        return [{"place": place, **asdict(hit)} for place, hit in enumerate(self.hits, start=1)]

    def parts(self) -> list[str]:
        """Return a line per picture: the place, the cosine, and the picture."""
        lines = [f"{place:>3}  {hit.score:.3f}  {hit.name}" for place, hit in enumerate(self.hits, start=1)]
        return ["\n".join(lines)] if lines else []


def search(
    model: Any,
    query: str,
    in_: str | Path,
    top: int = 10,
    *,
    output: str | Path | None = None,
    weights: str | Path | None = None,
    prompt: str | None = None,
    precision: str | None = None,
    device: str | None = None,
    batch: int | None = None,
    setting: Mapping[str, Any] | None = None,
) -> SearchResult:
    """Return the pictures that fit a sentence best.

    Parameters
    ----------
    model
        A model of pictures and texts, or its name, as `karat.load_model` takes it.
    query
        What to look for.
    in_
        A folder of pictures, with captions or without, or a benchmark.
    top
        How many pictures.
    output
        Where the result is written, such as a page with the pictures, .html; not where nothing was found.
    weights, prompt, precision, device, batch
        Of a model that is given by name, as `karat.load_model` takes them.
    setting
        Settings of a benchmark that is given by name.

    Examples
    --------
    >>> import karat
    >>> found = karat.search("model/", "a dog on a beach", "my-photos/")  # doctest: +SKIP
    """
    if not query.strip():
        raise InputError("there is nothing to look for", fix='write a sentence, such as "a dog on a beach"')
    if output is not None:
        check_writable(Path(output))
        SearchResult.check_path(output)
    encoder = load_model(
        model, weights=weights, prompt=prompt, precision=precision, device=device, batch=batch
    )
    encoder.check_pictures()
    names, paths = gallery(in_, dict(setting or {}))
    hits = tuple(Hit(names[k], paths[k], score) for k, score in encoder.search(query, paths, top))
    if not hits:
        return SearchResult(
            query, (), (f"no word of {query!r} was in the captions that the model was trained on",)
        )
    unknown = encoder.unknown_words(query)
    notes = [f"not in the captions that the model was trained on: {', '.join(unknown)}"] if unknown else []
    found = SearchResult(query, hits, tuple(notes))
    if output is not None:
        found.save(output)
    return found


def gallery(where: str | Path, settings: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return names and files of pictures: all in a folder, with captions or without, or a benchmark's."""
    folder = Path(where)
    if settings or not folder.is_dir() or (folder / "benchmark.json").is_file():
        bench = load_benchmark(where, **settings)
        return bench.images.values.astype(str).tolist(), list(bench.needed_image_paths)
    names = find_images(folder)
    if not names:
        raise InputError("holds no pictures", where=folder, fix="give a folder of jpg, png or webp files")
    return names, [str(folder / name) for name in names]
