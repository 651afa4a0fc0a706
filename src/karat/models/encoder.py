"""A model as karat uses it: one function that encodes pictures, one that encodes texts, or either alone.

Models are found by their name: a scheme such as ``hf:FOLDER``, a folder, or ``module:function``. Every scheme
is a file in `karat.models.encoders`; every kind of folder that karat itself writes is registered in
`MODEL_FORMATS` by the format that its ``model.json`` names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._util import Registry, import_all, import_later, keeping, plural, setting_of, shorten, stage
from karat.errors import InputError, printable
from karat.models.cosine import unit
from karat.models.embedding_cache import KeptRow, VectorCache, picture_keys, text_keys
from karat.runs import ENCODED, Fact, Fingerprint

Encode = Callable[[list[Any]], Any]
"""Takes pictures (paths) or texts, and returns one row of numbers for each."""
PART = 1024
"""How many texts or pictures are encoded at a time: what is shown, and kept when the work is interrupted."""
PROMPT = "{}"
"""What a text is put into before it is encoded: the text alone."""
LONGEST_ITEM = 80
"""How many characters of a text or of a picture's path a message has."""
VERSION = 1
"""Of how karat turns files and captions into what a model reads; a fact of every run."""
PICTURES = f"pictures-2.{VERSION}"
"""The folder of pictures' vectors in the cache of a model, by how files are read: the first number grows when
files that were read are refused, the second when their pixels change."""


class Encoded(NamedTuple):
    """One row per item, and of which items the model read only the beginning."""

    rows: Any
    cut: Sequence[bool] | np.ndarray


def no_words(text: str) -> list[str]:
    """Return no unknown word: the model knows all."""
    return []


def no_facts() -> Mapping[str, Fact]:
    """Return no fact: the model states none."""
    return {}


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
        each item, as an array, a tensor or lists; for texts also `Encoded`, which says which ones were cut.
    fingerprint
        A digest of everything that changes the numbers (weights, settings, versions). Vectors are then kept
        in the cache folder, by the text and by the bytes of the picture; without one nothing is kept.
    unknown_words
        Returns the words of a text that the model does not know; by default it knows all.
    facts
        Returns what a run of the model states of it (`made_with`), under dotted names.
    prompt
        What each text is put into, such as "a photo of {}".
    part
        How many items are passed at a time.

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
    facts: Callable[[], Mapping[str, Fact]] = field(default=no_facts, repr=False)
    prompt: str = PROMPT
    part: int | None = None

    @property
    def made_with(self) -> Fingerprint:
        """What a run of the model is made with: its facts, the prompt, and how karat reads items."""
        own: dict[str, Fact] = {"model": self.name, ENCODED: VERSION, "text.prompt": self.prompt}
        return Fingerprint({**own, **self.facts()})

    def encode_images(self, images: Sequence[Any]) -> np.ndarray:
        """Return one row per picture, as the model gives it.

        With a `fingerprint`, the bytes of each distinct file are encoded once, and never again.
        """
        self.check_pictures()
        assert self.images is not None
        items = list(images)
        if self.fingerprint is None or not all(isinstance(item, str | Path) for item in items):
            return self._encode(self.images, items, "picture").rows
        cache = VectorCache(self.fingerprint, PICTURES)
        return self._kept(cache, self.images, items, picture_keys(items), "picture").rows

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row per text, as the model gives it: the rows of `read_texts`."""
        return self.read_texts(texts).rows

    def read_texts(self, texts: Sequence[str]) -> Encoded:
        """Return one row per text, and which texts were too long for the model.

        With a `fingerprint`, each distinct text is encoded once, and never again: rows are kept in the cache
        folder, part by part. Texts of similar length are encoded together, which wastes least on padding.
        """
        if self.texts is None:
            raise InputError(f"{self.name} encodes no texts", fix="give a model of pictures and texts")
        check_texts(texts)
        prompted = [self.prompt.replace(PROMPT, text) for text in texts]
        if self.fingerprint is None:
            return self._encode(self.texts, prompted, "text")
        cache = VectorCache(self.fingerprint)
        return self._kept(cache, self.texts, prompted, text_keys(prompted), "text", key=len)

    def search(self, query: str, images: Sequence[Any], top: int = 10) -> list[tuple[int, float]]:
        """Return the numbers of the pictures that fit a sentence best, with their cosines.

        Nothing is found for a sentence whose vector is zero.
        """
        sentence = unit(self.encode_texts([query]))[0]
        if not sentence.any():
            return []
        scores = unit(self.encode_images(images)) @ sentence
        best = np.argsort(-scores, kind="stable")[:top]
        return [(int(image), float(scores[image])) for image in best]

    def check_pictures(self) -> None:
        """Raise, before the work starts, where the model encodes no pictures."""
        if self.images is None:
            raise InputError(f"{self.name} encodes no pictures", fix="give a model of pictures and texts")

    def _encode(self, encode: Encode, items: list[Any], kind: str) -> Encoded:
        parts, step = list[Encoded](), self.part or PART
        with stage(f"encoding {kind}s", len(items)) as encoded:
            for begin in range(0, len(items), step):
                parts.append(self._rows(encode, items[begin : begin + step], kind))
                encoded.at(min(begin + step, len(items)))
        rows = stacked([row for part in parts for row in part.rows], self.name)
        return Encoded(rows, np.concatenate([part.cut for part in parts]) if parts else np.zeros(0, bool))

    def _kept(
        self,
        cache: VectorCache,
        encode: Encode,
        items: list[Any],
        keys: list[bytes],
        kind: str,
        key: Callable[[Any], int] | None = None,
    ) -> Encoded:
        """Return rows from the cache, after encoding what it lacks; `key` sorts what is encoded together."""
        distinct = dict(zip(keys, items))
        known = cache.read(distinct)
        missing = [(own, item) for own, item in distinct.items() if own not in known]
        if key is not None:
            missing.sort(key=lambda pair: key(pair[1]))
        step, kept = self.part or PART, 0

        def said() -> str:
            """Return how many vectors would stay."""
            return f"{plural(kept, 'new vector')} kept in the cache" if kept else ""

        with (
            keeping(said),
            stage(f"encoding {kind}s", len(distinct), len(distinct) - len(missing)) as encoded,
        ):
            for begin in range(0, len(missing), step):
                part = missing[begin : begin + step]
                own = [digest for digest, _ in part]
                rows, cut = self._rows(encode, [item for _, item in part], kind)
                if cache.write(own, rows, np.asarray(cut)):
                    kept += len(part)
                known |= {digest: KeptRow(*row) for digest, *row in zip(own, rows, cut)}
                encoded.advance(len(part))
        rows = stacked([known[digest].vector for digest in keys], self.name)
        return Encoded(rows, np.array([known[digest].cut for digest in keys], bool))

    def _rows(self, encode: Encode, items: list[Any], kind: str) -> Encoded:
        rows = encode(items)
        cut: Any = np.zeros(len(items), bool)
        if isinstance(rows, Encoded):
            rows, cut = rows.rows, np.asarray(rows.cut, bool)
            if len(cut) != len(items):
                what = f"said of {len(cut):,} of {plural(len(items), kind)} whether it was cut"
                raise InputError(what, where=self.name, fix=f"say it of each {kind}")
        return Encoded(check_rows(rows, items, self.name, kind), cut)


@dataclass(frozen=True)
class Scheme:
    """A way to name a model.

    Parameters
    ----------
    name, form, help
        What stands before the first colon; how the whole is written; what it is.
    load
        Returns the model, given what follows the scheme, and settings as keywords.
    takes
        Whether a name without a scheme is one of these; it counts for karat's own alone.
    settings
        The settings of `load_model` that `load` takes; a prompt applies to all models.
    """

    name: str
    form: str
    help: str
    load: Callable[..., Encoder]
    takes: Callable[[str], bool] = never
    settings: tuple[str, ...] = ()

    @property
    def explicit(self) -> bool:
        """Whether its models are always named with the scheme."""
        return self.takes is never


ENCODERS: Registry[Scheme] = Registry(
    "kind of model", fill=lambda: import_all("karat.models.encoders"), group="karat.models"
)
"""The ways to name a model."""

MODEL_FORMATS: Registry[Callable[[Path], Any]] = Registry(
    "format of models", fill=lambda: import_later("model")
)
"""By the format that the ``model.json`` of a folder names, what loads it: as an object with ``encode_images``
and ``encode_texts``, or either."""

MODEL_HEAD = "model.json"
"""The file of such a folder that names its format."""

METHODS = {"images": "encode_images", "texts": "encode_texts"}


def register_encoder(scheme: Scheme) -> Scheme:
    """Make a way to name models known; a name that is taken raises."""
    return ENCODERS.add(scheme.name, scheme)


def load_model(
    name: str | Path | Any,
    *,
    weights: str | Path | None = None,
    prompt: str | None = None,
    precision: str | None = None,
    device: str | None = None,
    batch: int | None = None,
) -> Encoder:
    """Return the model of a name; nothing is downloaded.

    Parameters
    ----------
    name
        A folder that `karat fit` or `karat train` wrote; ``hf:FOLDER`` for a model of transformers;
        ``open_clip:ARCHITECTURE``; ``sentence:FOLDER`` for a model of sentence-transformers; or your own:
        ``module:function`` for a function of texts or an object with ``encode_images`` and ``encode_texts``,
        or either, ``module:images,texts`` for two functions. docs/encoders.md lists all. In Python also such
        a function, object or tuple of two functions.
    weights
        For ``open_clip:ARCHITECTURE``, the file of its weights.
    prompt
        What each text is put into, such as "a photo of {}".
    precision
        "float32" (the default), "bfloat16" or "float16".
    device
        "auto" (a GPU where there is one), "cpu" or "cuda"; by default the setting of this name, or "auto".
    batch
        How many items are computed at a time; halved where the memory does not suffice. Vectors do not depend
        on it, except for rounding.

    Examples
    --------
    >>> import karat
    >>> model = karat.load_model("hf:./siglip", prompt="a photo of {}")  # doctest: +SKIP
    >>> model.encode_texts(["a dog runs"]).shape  # doctest: +SKIP
    (1, 768)
    """
    if prompt is not None and PROMPT not in prompt:
        raise InputError(f"the prompt {prompt!r} has no {PROMPT}", fix='write "a photo of {}"')
    if batch is not None and batch < 1:
        raise InputError(f"the batch is {batch}", fix="give 1 or more")
    settings = {"weights": weights, "precision": precision, "device": device, "batch": batch}
    chosen = {key: value for key, value in settings.items() if value is not None}
    if isinstance(name, str | Path):
        scheme, rest = scheme_of(str(name))
        if "device" in scheme.settings:
            chosen["device"] = setting_of("device", device)
        taken = taken_settings(name, chosen, scheme.settings)
        encoder = scheme.load(rest, **taken)
    else:
        encoder = as_encoder(name)
        taken = taken_settings(name, chosen, ())
    if batch is not None and "batch" not in taken:
        encoder = replace(encoder, part=batch)
    return encoder if prompt is None else replace(encoder, prompt=prompt)


def scheme_of(name: str) -> tuple[Scheme, str]:
    """Return the way in which a model is named, and what its `load` is given."""
    before, colon, rest = name.partition(":")
    if colon and before in ENCODERS:
        return ENCODERS[before], rest
    return next(known for known in ENCODERS.own().values() if known.takes(name)), name


def taken_settings(name: Any, chosen: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the chosen settings that a way of naming models knows; any other than the batch raises."""
    taken = {key: chosen[key] for key in chosen if key in known}
    for key in chosen.keys() - taken.keys() - {"batch"}:
        raise InputError(f"{name} takes no {key}", fix=f"leave out --{key}")
    return taken


def as_encoder(thing: Any, name: str | None = None) -> Encoder:
    """Return a function of texts, two functions, or an object that encodes, as a model.

    An object has ``encode_images`` and ``encode_texts``, or either; of two functions the first encodes
    pictures. Vectors are kept in the cache only where the object has a text called ``fingerprint``, for each
    class or module by itself. What it has as ``made_with``, a `Fingerprint`, its runs state.
    """
    if isinstance(thing, Encoder):
        return thing
    label = name or str(getattr(thing, "__name__", type(thing).__name__))
    if isinstance(thing, tuple) and len(thing) == 2:
        sides = dict(zip(METHODS, thing))
        label = name or ",".join(str(getattr(side, "__name__", "function")) for side in thing)
    else:
        sides = {side: getattr(thing, method, None) for side, method in METHODS.items()}
        if not any(map(callable, sides.values())):
            sides = {"texts": thing if callable(thing) else None}
    known = [side for side in sides.values() if side is not None]
    if not (known and all(map(callable, known))):
        fix = f"give a function of texts, or an object with {' or '.join(METHODS.values())}"
        raise InputError("is not a model", where=label, fix=fix)
    words, digest, made = (getattr(thing, key, None) for key in ("unknown_words", "fingerprint", "made_with"))
    more: dict[str, Any] = {**sides, **({"unknown_words": words} if callable(words) else {})}
    if isinstance(made, Fingerprint):
        more["facts"] = lambda: made.facts
    return Encoder(label, fingerprint=own_digest(thing, digest) if isinstance(digest, str) else None, **more)


def own_digest(thing: Any, text: str) -> str:
    """Return the digest of a model of your own: "v1" of another class or module is another model."""
    kind = thing if hasattr(thing, "__name__") else type(thing)
    names = (getattr(kind, key, "") for key in ("__module__", "__qualname__", "__name__"))
    return hashlib.sha256("\0".join([*names, text]).encode()).hexdigest()[:24]


def check_texts(texts: Sequence[str]) -> None:
    """Raise where one text is given in place of a list, or an item is not text."""
    if isinstance(texts, str):
        raise InputError("texts is one text", fix="give a list of texts")
    strange = next((text for text in texts if not isinstance(text, str)), None)
    if strange is not None:
        raise InputError(f"{strange!r} is not text", fix="give texts as str")


def as_plain(rows: Any) -> Any:
    """Return a tensor as an array of single precision, and anything else as it is."""
    return rows.detach().cpu().float().numpy() if hasattr(rows, "detach") else rows


def check_rows(rows: Any, items: Sequence[Any], name: str, kind: str) -> np.ndarray:
    """Return what a model gave as an array with one row of finite numbers per item, or raise."""
    size = len(items)
    if isinstance(rows, list | tuple) and len(rows) == size:
        rows = [as_plain(row) for row in rows]
    rows = as_plain(rows)
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
        # By itself: its place in the part that was passed helps nobody to find it.
        item = shorten(printable(str(items[int(np.argmin(finite))])), LONGEST_ITEM)
        fix = "return finite numbers; float16 overflows where bfloat16 and float32 do not"
        raise InputError(f"returned NaN or infinity for the {kind} {item!r}", where=name, fix=fix)
    return table


def stacked(rows: list[np.ndarray], name: str) -> np.ndarray:
    """Return rows as a table, or raise where they have different widths."""
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise InputError(
            f"returned rows of {widths[0]} and of {widths[1]} numbers", where=name, fix="return equal widths"
        )
    return np.stack(rows) if rows else np.empty((0, 0), np.float32)
