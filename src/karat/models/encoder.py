"""A model as karat uses it: one function that encodes pictures, one that encodes texts, or either alone.

Models are found by their name: a scheme such as ``sentence:FOLDER``, a folder, or ``module:function``. Every
scheme is a file in `karat.models.encoders`; every kind of folder that karat itself writes is registered in
`MODEL_FORMATS` by the format that its ``model.json`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Registry, import_all, import_plugins, plural
from karat.errors import InputError
from karat.models.cosine import unit
from karat.models.embedding_cache import TextCache

Encode = Callable[[list[Any]], Any]
"""Takes pictures (paths) or texts, and returns one row of numbers for each."""
Progress = Callable[[int, int], object]
"""Called with how many items are done, and how many there are."""
Says = Callable[[str], object]
"""Called with a sentence before each part of the work."""
PART = 1024
"""How many texts or pictures are encoded at a time: what is shown, and kept when the work is interrupted."""


def no_words(text: str) -> list[str]:
    """Return no unknown word: the model knows all."""
    return []


def never(name: str) -> bool:
    """Return that a name without a scheme is of another kind."""
    return False


@dataclass(frozen=True, eq=False)
class Encoder:
    """A model: it turns pictures, texts or both into vectors that are compared by their cosine.

    Parameters
    ----------
    name
        As messages and runs show it.
    images, texts
        Functions of a list of picture files and of a list of texts; None where the model has none. A row for
        each item, as an array, a tensor or lists.
    fingerprint
        A digest of everything that changes the numbers (weights, settings, versions). Vectors of texts are
        then kept in the cache folder; without one nothing is kept.
    unknown_words
        Returns the words of a text that the model does not know; by default it knows all.

    Examples
    --------
    >>> lengths = Encoder("lengths", texts=lambda texts: [[len(text), 1.0] for text in texts])
    >>> lengths.encode_texts(["a dog", "two dogs"])
    array([[5., 1.],
           [8., 1.]], dtype=float32)
    >>> lengths.encode_images(["1.jpg"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: lengths encodes no pictures; give a model of pictures and texts.
    """

    name: str
    images: Encode | None = None
    texts: Encode | None = None
    fingerprint: str | None = None
    unknown_words: Callable[[str], list[str]] = field(default=no_words, repr=False)

    def encode_images(self, images: Sequence[Any], *, progress: Progress | None = None) -> np.ndarray:
        """Return one row per picture, as the model gives it."""
        self.check_pictures()
        assert self.images is not None
        return self._encode(self.images, list(images), "picture", progress)

    def encode_texts(self, texts: Sequence[str], *, progress: Progress | None = None) -> np.ndarray:
        """Return one row per text, as the model gives it.

        With a `fingerprint`, each distinct text is encoded once, and never again: rows are kept in the cache
        folder, part by part. Texts of similar length are encoded together, which wastes least on padding.
        """
        if self.texts is None:
            raise InputError(f"{self.name} encodes no texts", fix="give a model of pictures and texts")
        check_texts(texts)
        if self.fingerprint is None:
            return self._encode(self.texts, list(texts), "text", progress)
        cache = TextCache(self.fingerprint)
        distinct = list(dict.fromkeys(texts))
        known = cache.read(distinct)
        missing = sorted((text for text in distinct if text not in known), key=len)
        for begin in range(0, len(missing), PART):
            part = missing[begin : begin + PART]
            rows = self._rows(self.texts, part, "text")
            cache.write(part, rows)
            known |= dict(zip(part, rows))
            if progress is not None:
                progress(len(distinct) - len(missing) + begin + len(part), len(distinct))
        return stacked([known[text] for text in texts], self.name)

    def search(
        self, query: str, images: Sequence[Any], top: int = 10, *, says: Says | None = None
    ) -> list[tuple[int, float]]:
        """Return the numbers of the pictures that fit a sentence best, with their cosines.

        Nothing is found for a sentence whose vector is zero.
        """
        sentence = unit(self.encode_texts([query]))[0]
        if not sentence.any():
            return []
        (says or (lambda _: None))(f"reading {len(images):,} pictures")
        scores = unit(self.encode_images(images)) @ sentence
        best = np.argsort(-scores, kind="stable")[:top]
        return [(int(image), float(scores[image])) for image in best]

    def check_pictures(self) -> None:
        """Raise, before the work starts, where the model encodes no pictures."""
        if self.images is None:
            raise InputError(f"{self.name} encodes no pictures", fix="give a model of pictures and texts")

    def _encode(self, encode: Encode, items: list[Any], kind: str, progress: Progress | None) -> np.ndarray:
        rows: list[np.ndarray] = []
        for begin in range(0, len(items), PART):
            part = items[begin : begin + PART]
            rows.extend(self._rows(encode, part, kind))
            if progress is not None:
                progress(begin + len(part), len(items))
        return stacked(rows, self.name)

    def _rows(self, encode: Encode, items: list[Any], kind: str) -> np.ndarray:
        return check_rows(encode(items), len(items), self.name, kind)


@dataclass(frozen=True)
class Scheme:
    """A way to name a model.

    Parameters
    ----------
    name, form, help
        What stands before the first colon; how the whole is written; what it is.
    load
        Returns the model, given what follows the scheme.
    takes
        Whether a name without a scheme is one of these.
    """

    name: str
    form: str
    help: str
    load: Callable[[str], Encoder]
    takes: Callable[[str], bool] = never


ENCODERS: Registry[Scheme] = Registry("kind of model", fill=lambda: import_all("karat.models.encoders"))
"""The ways to name a model."""

MODEL_FORMATS: Registry[Callable[[Path], Any]] = Registry(
    "format of models", fill=lambda: import_plugins("model")
)
"""By the format that the ``model.json`` of a folder names, what loads it: as an object with ``encode_images``
and ``encode_texts``, or either."""

METHODS = {"images": "encode_images", "texts": "encode_texts"}


def register_encoder(scheme: Scheme) -> Scheme:
    """Make a way to name models known; a name that is taken raises."""
    return ENCODERS.add(scheme.name, scheme)


def load_model(name: str | Path | Any) -> Encoder:
    """Return the model of a name; nothing is downloaded.

    Parameters
    ----------
    name
        A folder that `karat fit` wrote, ``sentence:FOLDER`` for a model of sentence-transformers, or
        ``module:function`` for your own: a function of texts, or an object with ``encode_images`` and
        ``encode_texts``, or either. docs/encoders.md lists all. In Python also such a function or object.

    Examples
    --------
    >>> import karat
    >>> model = karat.load_model("sentence:all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> model.encode_texts(["a dog runs"]).shape  # doctest: +SKIP
    (1, 384)
    """
    if not isinstance(name, str | Path):
        return as_encoder(name)
    text = str(name)
    scheme, colon, rest = text.partition(":")
    if colon and scheme in ENCODERS:
        return ENCODERS[scheme].load(rest)
    return next(known for known in ENCODERS.values() if known.takes(text)).load(text)


def as_encoder(thing: Any, name: str | None = None) -> Encoder:
    """Return a function of texts, or an object with ``encode_images`` and ``encode_texts``, as a model.

    Its vectors are kept in the cache only where it has a text called ``fingerprint``.
    """
    if isinstance(thing, Encoder):
        return thing
    label = name or str(getattr(thing, "__name__", type(thing).__name__))
    sides = {side: getattr(thing, method, None) for side, method in METHODS.items()}
    if not any(map(callable, sides.values())):
        sides = {"texts": thing if callable(thing) else None}
    if not any(map(callable, sides.values())):
        fix = f"give a function of texts, or an object with {' or '.join(METHODS.values())}"
        raise InputError("is not a model", where=label, fix=fix)
    words, digest = (getattr(thing, key, None) for key in ("unknown_words", "fingerprint"))
    more: dict[str, Any] = {**sides, **({"unknown_words": words} if callable(words) else {})}
    return Encoder(label, fingerprint=digest if isinstance(digest, str) else None, **more)


def check_texts(texts: Sequence[str]) -> None:
    """Raise where one text is given in place of a list, or an item is not text."""
    if isinstance(texts, str):
        raise InputError("texts is one text", fix="give a list of texts")
    strange = next((text for text in texts if not isinstance(text, str)), None)
    if strange is not None:
        raise InputError(f"{strange!r} is not text", fix="give texts as str")


def check_rows(rows: Any, size: int, name: str, kind: str) -> np.ndarray:
    """Return what a model gave as an array with one row of finite numbers per item, or raise."""
    if hasattr(rows, "detach"):
        rows = rows.detach().cpu().float().numpy()
    fix = f"return one row of numbers for each {kind}"
    try:
        table = np.asarray(rows)
    except ValueError:
        raise InputError("returned rows of different lengths", where=name, fix=fix) from None
    if not (np.issubdtype(table.dtype, np.number) and np.isrealobj(table)):
        raise InputError(f"returned {type(rows).__name__}, not numbers", where=name, fix=fix)
    if table.dtype not in (np.float32, np.float64) or not isinstance(rows, np.ndarray):
        table = table.astype(np.float32)
    if table.ndim != 2:
        raise InputError(f"returned an array of shape {table.shape}", where=name, fix=fix)
    if len(table) != size:
        returned, given = plural(len(table), "row"), plural(size, kind)
        raise InputError(f"returned {returned} for {given}", where=name, fix=fix)
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        what = f"returned NaN or infinity for {kind} {int(np.argmin(finite)) + 1} of {size:,}"
        raise InputError(what, where=name, fix="return finite numbers")
    return table


def stacked(rows: list[np.ndarray], name: str) -> np.ndarray:
    """Return rows as a table, or raise where they have different widths."""
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise InputError(
            f"returned rows of {widths[0]} and of {widths[1]} numbers", where=name, fix="return equal widths"
        )
    return np.stack(rows) if rows else np.empty((0, 0), np.float32)
