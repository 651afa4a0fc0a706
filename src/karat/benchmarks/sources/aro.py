"""ARO (Yuksekgonul et al., ICLR 2023): relations, attributes and the order of words.

- ``visual_genome_relation.json`` and ``visual_genome_attribution.json``: a list of objects with image_path,
  bbox_x, bbox_y, bbox_w, bbox_h, true_caption and false_caption, and relation_name or attributes. Models see
  the part of the image inside the box; an example's image is therefore called ``PATH@x,y,w,h``.
- the orders of COCO and Flickr30k are not files of the authors: their code shuffles the words of each caption
  in four ways, with spaCy's tags and random numbers. karat reads the list when you have saved it:
  ``[{"image": "a.jpg", "caption_options": [caption, four others]}]``.
"""

from __future__ import annotations

from pathlib import Path

from karat._util import LIST, NUMBER, TEXT, Param, Record, first_text, read_json_list, read_lines
from karat.benchmarks.benchmark import Benchmark
from karat.benchmarks.examples import ChoiceExample, build_choices
from karat.benchmarks.registry import Source, find_file, register

BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
FEWEST = 25
"""Pairs of attributes with fewer examples do not count in the authors' mean."""
BY = "(Yuksekgonul et al. 2023)"


def read_records(file: Path) -> list[Record]:
    """Return the objects of a json list."""
    return [Record(row, f"entry {number}", file) for number, row in enumerate(read_json_list(file))]


def box_of(row: Record) -> str:
    """Return the name of the part of an image that models see."""
    return f"{row.get('image_path', TEXT)}@{','.join(f'{row.get(key, NUMBER):g}' for key in BOX)}"


def load_genome(field: str, file: Path | None, leave_out: Path | None = None, fewest: int = 1) -> Benchmark:
    """Build the benchmark of relations or attributes."""
    name = f"aro-{field}"
    stem = "relation" if field == "relation" else "attribution"
    file = file or find_file("aro", "file", f"visual_genome_{stem}.json")
    examples = []
    for number, row in enumerate(read_records(file)):
        value = (
            row.get("relation_name", TEXT)
            if field == "relation"
            else "_".join(map(str, row.get("attributes", LIST)[:2]))
        )
        captions = [row.get("true_caption", TEXT), row.get("false_caption", TEXT)]
        examples.append(
            ChoiceExample(
                str(number), [box_of(row)], captions, [(0, 0)], {field: value}, [row.get("image_path", TEXT)]
            )
        )
    left_out = frozenset(line.strip() for line in read_lines(leave_out)) if leave_out else frozenset()
    return build_choices(
        name,
        examples,
        where=file,
        about=f"part of an image, a caption and one with {field}s exchanged {BY}",
        measures=("Macro", "Text"),
        leave_out=(fewest, left_out),
    )


def load_order(file: Path, name: str = "aro-order") -> Benchmark:
    """Build the benchmark of captions among shuffled ones."""
    examples = []
    for number, row in enumerate(read_records(file)):
        captions = row.get("caption_options", LIST)
        if len(captions) < 2 or not all(isinstance(text, str) for text in captions):
            raise row.wrong("has no list of captions", "give two texts or more, the right one first")
        examples.append(ChoiceExample(str(number), [row.get("image", TEXT)], captions, [(0, 0)]))
    about = f"an image, its caption and shuffled ones {BY}"
    return build_choices(name, examples, where=file, about=about)


register(
    Source(
        "aro-relation",
        "ARO, VG-Relation: visual_genome_relation.json; the mean accuracy of relations",
        lambda file=None, leave_out=None: load_genome("relation", file, leave_out),
        (
            Param("file", Path, "the authors' visual_genome_relation.json", None),
            Param("leave_out", Path, "relations that do not count in Macro, one per line", None),
        ),
        lambda path: path.is_file() and '"relation_name"' in first_text(path),
    )
)
register(
    Source(
        "aro-attribute",
        "ARO, VG-Attribution: visual_genome_attribution.json; the mean accuracy of pairs of attributes",
        lambda file=None: load_genome("attribute", file, fewest=FEWEST),
        (Param("file", Path, "the authors' visual_genome_attribution.json", None),),
        lambda path: (
            path.is_file() and '"false_caption"' in first_text(path) and '"attributes"' in first_text(path)
        ),
    )
)
register(
    Source(
        "aro-order",
        "ARO, COCO and Flickr30k order: a saved list of image and caption_options, the right one first",
        load_order,
        (Param("file", Path, "a json list of objects with image and caption_options"),),
        lambda path: path.is_file() and '"caption_options"' in first_text(path),
    )
)
