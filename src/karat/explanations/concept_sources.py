"""Where concepts come from: objects with boxes, captions, and Visual Genome's scene graphs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_file, plural, read_text
from karat.benchmarks import Benchmark, Ids, Objects
from karat.errors import InputError, MissingDataError
from karat.explanations.concepts import Concepts, rows_of, with_facts, with_unmapped
from karat.explanations.noun_senses import NounSenses, names_in


def find_concepts(
    benchmark: Benchmark,
    source: str | Path | None = None,
    *,
    synset_map: Mapping[str, str] | str | Path | None = None,
    facts: bool = True,
) -> Concepts:
    """Return the concepts of every image of a benchmark.

    Parameters
    ----------
    benchmark
        One with objects, or with captions.
    source
        "objects": the categories of its objects with boxes; "captions": the nouns of the captions written for
        an image, as karat's own parser finds them, without counts and areas; or the json file of Visual
        Genome's scene graphs, whose image ids are those of the benchmark. By default the objects where there
        are any, else the captions.
    synset_map
        Names with their synsets, or the json file of such a mapping (Visual Genome's object_synsets.json).
        Without it a name has the synset that the benchmark gives it, COCO's 80 categories those of a
        hand-checked table, and any other name its most frequent noun sense.
    facts
        Whether colours, numbers, sizes, positions and relations are wanted too.

    Returns
    -------
    Concepts
        Names without a synset are counted in `unmapped` and named in a note.

    Examples
    --------
    >>> from karat.world import make_world
    >>> concepts = find_concepts(make_world(20, seed=1).benchmark())
    >>> concepts.source, sorted(concepts.facts)
    ('objects', ['colour', 'number', 'position', 'size'])
    """
    senses = NounSenses(synset_map)
    if source is None:
        try:
            things = benchmark.needed_objects
        except MissingDataError as missing:
            try:
                return concepts_of_captions(benchmark, senses, facts)
            except MissingDataError:
                raise missing from None
        return concepts_of_objects(things, benchmark.images.size, senses, facts)
    if source == "objects":
        return concepts_of_objects(benchmark.needed_objects, benchmark.images.size, senses, facts)
    if source == "captions":
        return concepts_of_captions(benchmark, senses, facts)
    check_source(source)
    return read_scene_graphs(source, benchmark.images, senses, facts)


def check_source(source: str | Path | None) -> None:
    """Raise where concepts do not come from there, or from a file that there is not; nothing is read."""
    if source in (None, "objects", "captions"):
        return
    if Path(str(source)).suffix != ".json":
        raise InputError(
            f"concepts is {str(source)!r}",
            fix="choose objects or captions, or give the json file of Visual Genome's scene graphs",
        )
    check_file(Path(str(source)))


def concepts_of_objects(things: Objects, n_images: int, senses: NounSenses, facts: bool = True) -> Concepts:
    """Return the concepts of objects: each category's synset."""
    from karat.lexicon import COCO_SYNSETS

    given = dict(zip(things.categories, things.synsets)) if things.synsets is not None else {}
    # All 80 or none: elsewhere a mouse may be an animal.
    table = COCO_SYNSETS if set(things.categories) == set(COCO_SYNSETS) else {}
    senses = NounSenses({**table, **given, **senses.mapping})
    per_category = np.bincount(things.category, minlength=len(things.categories)).tolist()
    names = [
        senses.synset(name, times) if times else None for name, times in zip(things.categories, per_category)
    ]
    kept = np.flatnonzero(np.array([name is not None for name in names], bool)[things.category])
    category = things.category[kept].tolist()
    box = things.box[kept].astype(np.float64)
    area = box[:, 2] * box[:, 3]
    image = things.image[kept].astype(np.int64)
    one = np.arange(len(kept))
    concepts = rows_of(
        n_images, image, [str(names[c]) for c in category], np.ones(len(kept), int), (one, area)
    )
    if facts:
        number = {name: k for k, name in enumerate(concepts.synsets)}
        concept = np.array([number[str(names[c])] for c in category], np.int64)
        said = {
            kind: (image, concept, things.attributes[kind][kept])
            for kind in ("colour", "size")
            if kind in things.attributes
        }
        concepts = with_facts(concepts, said, (image, concept, box))
    return with_unmapped(concepts, senses.unmapped)


def concepts_of_captions(benchmark: Benchmark, senses: NounSenses, facts: bool = True) -> Concepts:
    """Return the concepts that the captions of each image name."""
    from karat.captions import references_of, scene_graphs

    references = references_of(benchmark)
    owner = [image for image, texts in enumerate(references) for _ in texts]
    graphs = scene_graphs([text for texts in references for text in texts])
    entries: list[tuple[int, str]] = []
    attributes: list[tuple[int, str, str]] = []
    relations: list[tuple[int, str, str, str]] = []
    for image, graph in zip(owner, graphs):
        known = {name: senses.synset(full) for name, full in names_in(graph)}
        entries += [(image, synset) for synset in known.values() if synset is not None]
        attributes += [
            (image, synset, what)
            for name, what in graph.attributes
            if (synset := known.get(name)) is not None
        ]
        relations += [
            (image, first, second, how)
            for one, how, two in graph.relations
            if (first := known.get(one)) is not None and (second := known.get(two)) is not None
        ]
    pairs = sorted(set(entries))
    nothing = np.zeros(0, np.int64), np.zeros(0)
    image_of = np.array([image for image, _ in pairs], np.int64)
    concepts = rows_of(
        len(references), image_of, [name for _, name in pairs], np.ones(len(pairs), int), nothing
    )
    concepts = replace(concepts, source="captions", counted=False)
    if facts:
        number = {name: k for k, name in enumerate(concepts.synsets)}
        said = attribute_rows(attributes, number)
        concepts = with_facts(
            concepts, said, relations=[(image, number[a], number[b], how) for image, a, b, how in relations]
        )
    note = "concepts are the nouns of an image's captions: numbers and sizes of things are not known"
    return with_unmapped(replace(concepts, notes=(note,)), senses.unmapped)


def read_scene_graphs(
    path: str | Path, images: Ids, senses: NounSenses | None = None, facts: bool = True
) -> Concepts:
    """Return the concepts of Visual Genome's scene graphs.

    An object has the synset that the file gives it, else that of its name. Boxes are in pixels and the file
    has no image sizes: an area is a share of the smallest rectangle that holds all boxes of the image.

    Parameters
    ----------
    path
        ``scene_graphs.json``: per image its ``image_id``, ``objects`` and ``relationships``.
    images
        The ids of the benchmark's images; graphs of other images are left out.
    senses
        What finds the synsets of names; a mapping of names comes before the file's own synsets.
    facts
        Whether attributes, positions and relations are wanted too.
    """
    senses = senses or NounSenses()
    things = GraphThings(senses)
    seen = read_graphs(Path(path), images, things)
    table = np.array(things.boxes, float).reshape(-1, 4)
    if not np.isfinite(table).all():
        raise InputError(
            "has a box that is not made of numbers", where=path, fix="give x, y, w and h in pixels"
        )
    owner, names = np.array(things.image, np.int64), things.names
    areas = np.arange(len(names)), table[:, 2] * table[:, 3]
    concepts = rows_of(images.size, owner, names, np.ones(len(names), int), areas)
    concepts = replace(concepts, source=Path(path).name)
    if facts:
        number = {name: k for k, name in enumerate(concepts.synsets)}
        # Numbers are counted.
        attributes = attribute_rows(things.attributes, number)
        attributes.pop("number", None)
        concepts = with_facts(
            concepts,
            attributes,
            (owner, np.array([number[name] for name in names], np.int64), table),
            [(at, number[a], number[b], how) for at, a, b, how in things.relations],
        )
    note = (
        "the scene graphs have no image sizes: areas are shares of the rectangle around all boxes of an image"
    )
    missing = images.size - seen
    notes = (note, *([f"{plural(missing, 'image')} without a scene graph"] if missing else []))
    return with_unmapped(replace(concepts, notes=notes), senses.unmapped)


def read_graphs(path: Path, images: Ids, things: GraphThings) -> int:
    """Add what a file says of a benchmark's images to the things; return how many of the images it has."""
    place = {str(value): k for k, value in enumerate(images.gallery.tolist())}
    seen: set[int] = set()
    try:
        graphs = [graph for graph in json.loads(read_text(path)) if str(graph["image_id"]) in place]
        for graph in graphs:
            at = place[str(graph["image_id"])]
            if at in seen:
                raise InputError(f"has image {graph['image_id']} twice", where=path, fix="give each once")
            seen.add(at)
            things.add(at, graph)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise InputError(
            f"is not a file of scene graphs ({type(error).__name__}: {error})",
            where=path,
            fix="give Visual Genome's scene_graphs.json",
        ) from None
    if not seen:
        raise InputError("has no image of the benchmark", where=path, fix="check the ids of its images")
    return len(seen)


class GraphThings:
    """The things of scene graphs that have a synset: their boxes, attributes and relations."""

    def __init__(self, senses: NounSenses) -> None:
        self.senses = senses
        self.image: list[int] = []
        self.names: list[str] = []
        self.boxes: list[list[float]] = []
        self.attributes: list[tuple[int, str, str]] = []
        self.relations: list[tuple[int, str, str, str]] = []

    def add(self, image: int, graph: Mapping[str, Any]) -> None:
        """Add the graph of an image; boxes become shares of the rectangle that holds all of them."""
        objects = graph["objects"]
        corners = [(float(o["x"]) + float(o["w"]), float(o["y"]) + float(o["h"])) for o in objects]
        width, height = np.maximum(np.array(corners).reshape(-1, 2).max(axis=0, initial=0), 1)
        synset_of: dict[Any, str] = {}
        for thing in objects:
            synset = self.synset(thing)
            if synset is None:
                continue
            synset_of[thing["object_id"]] = synset
            self.image.append(image)
            self.names.append(synset)
            x, y, w, h = (float(thing[key]) for key in "xywh")
            self.boxes.append([x / width, y / height, w / width, h / height])
            self.attributes += [(image, synset, str(what)) for what in thing.get("attributes") or ()]
        for relation in graph.get("relationships") or ():
            first, second = (synset_of.get(relation[key]) for key in ("subject_id", "object_id"))
            if first is not None and second is not None:
                self.relations.append((image, first, second, str(relation["predicate"]).strip().lower()))

    def synset(self, thing: Mapping[str, Any]) -> str | None:
        """Return the synset of a thing: by the mapping, else of the file, else of its name."""
        name = str(thing["names"][0])
        given = [str(synset) for synset in thing.get("synsets") or ()]
        mapped = self.senses.mapping.get(name.lower()) or self.senses.mapping.get(name)
        return self.senses.checked(given[0]) if given and not mapped else self.senses.synset(name)


def attribute_rows(
    said: Sequence[tuple[int, str, str]], number: Mapping[str, int]
) -> dict[str, tuple[list[int], list[int], list[str]]]:
    """Return words said of concepts by the attribute that they are about, as images, concepts and values.

    >>> attribute_rows([(0, "dog.n.01", "big"), (1, "dog.n.01", "furry")], {"dog.n.01": 7})
    {'size': ([0], [7], ['large'])}
    """
    from karat.lexicon import attribute_of

    rows: dict[str, tuple[list[int], list[int], list[str]]] = {}
    for image, synset, what in said:
        if (pair := attribute_of(what)) is not None:
            images, concepts, values = rows.setdefault(pair[0], ([], [], []))
            images.append(image)
            concepts.append(number[synset])
            values.append(pair[1])
    return rows
