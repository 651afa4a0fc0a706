"""Duplicates in a truth: what is relevant to an item is relevant to its duplicates, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat._util import plural
from karat.benchmarks.judgments import Judgments, Provenance, Share
from karat.benchmarks.pool_design import pair_key, pairs_of
from karat.benchmarks.sides import pair_of, query_side, same_side
from karat.benchmarks.truth import Truth, directed
from karat.errors import InputError

DUPLICATE = "duplicate"
"""The source of the pairs that are relevant because a duplicate of one of their items is."""
SOURCE = Provenance(DUPLICATE, "the grade of the pair that it is a duplicate of", Share(top=1))


def with_duplicates(truth: Truth, images: np.ndarray, captions: np.ndarray, name: str | None = None) -> Truth:
    """Return a truth in which duplicates of positives are positives.

    If caption c is relevant to image i, it is relevant to every duplicate of i, and so is every duplicate
    of c. Pairs have no direction, so both directions agree. Only unjudged pairs are added, with the highest
    grade among the pairs that they are duplicates of; a pair that is judged not relevant stays so. Queries
    and folds are those of the truth; an added pair of two folds is in neither.

    Parameters
    ----------
    truth
        A table of judgments.
    images, captions
        The group of each image and of each caption of the gallery: duplicates have the same number.
    name
        Of the new truth; ``duplicates(NAME)`` by default.

    Examples
    --------
    Images 0 and 1 are the same picture; captions 0 and 1 were written for image 0, caption 2 for image 1:

    >>> own = Judgments([0, 0, 1], [0, 1, 2], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(3)})
    >>> more = with_duplicates(truth, np.array([0, 0]), np.arange(3))
    >>> more.name, len(more.judgments.pairs())
    ('duplicates(own)', 6)
    >>> note_on_duplicates(more)
    'duplicates(own): 3 pairs are relevant by a duplicate; 2 images and 3 captions have a higher R'
    """
    if truth.judgments is None or truth.complete:
        what = "is a rule" if truth.judgments is None else "is complete"
        raise InputError(
            f"truth {truth.name!r} {what}: it judges duplicates itself", fix="choose another truth"
        )
    pairs = truth.judgments.pairs()
    relevant = pairs.grade > 0
    images, captions = with_outside(images, pairs.image), with_outside(captions, pairs.caption)
    columns = pairs.image[relevant], pairs.caption[relevant], pairs.grade[relevant]
    image, caption, grade = members(*columns, images, captions)
    if any(map(same_side, truth.queries)):
        # Such a pair is one, in whichever order its items are.
        image, caption = pair_of(truth.directions[0], image, caption)
        _, first = np.unique(pair_key(image, caption), return_index=True)
        first = first[image[first] < caption[first]]
        image, caption, grade = image[first], caption[first], grade[first]
    new = ~np.isin(pair_key(image, caption), pair_key(pairs.image, pairs.caption))
    added = Judgments(image[new], caption[new], rating=grade[new], sources=[SOURCE])
    about = f"{truth.name}, and duplicates of its positives count as positives"
    return replace(
        truth,
        name=name or f"duplicates({truth.name})",
        judgments=truth.judgments.merge(added),
        about=about,
    )


def with_outside(groups: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Return groups of all items up to the last; those outside the gallery are duplicates of none.

    >>> with_outside(np.array([0, 0]), np.array([3])).tolist()
    [0, 0, 1, 2]
    """
    outside = max(0, int(items.max(initial=-1)) + 1 - len(groups))
    return np.r_[groups, int(groups.max(initial=-1)) + 1 + np.arange(outside)]


def members(
    image: np.ndarray, caption: np.ndarray, grade: np.ndarray, images: np.ndarray, captions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all pairs of duplicates of pairs, themselves included, with the highest of their grades."""
    key = pair_key(images[image], captions[caption])
    order = np.lexsort((-grade, key))
    key, first = np.unique(key[order], return_index=True)
    (image_group, caption_group), grade = pairs_of(key), grade[order][first]
    image_order, image_ptr = by_group(images)
    caption_order, caption_ptr = by_group(captions)
    wide = np.diff(caption_ptr)[caption_group]
    count = np.diff(image_ptr)[image_group] * wide
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    image = image_order[image_ptr[image_group[row]] + place // wide[row]]
    caption = caption_order[caption_ptr[caption_group[row]] + place % wide[row]]
    return image, caption, grade[row]


def by_group(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the items sorted by group, and where each group begins."""
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(int(groups.max(initial=-1)) + 2))


def note_on_duplicates(truth: Truth) -> str | None:
    """Return how many pairs of a truth are duplicates of others, and which queries this changes."""
    table = truth.judgments
    if table is None or DUPLICATE not in (source.name for source in table.sources):
        return None
    number = [source.name for source in table.sources].index(DUPLICATE)
    added = table.source == number
    pairs_added = table.image[added], table.caption[added]
    changed = [
        query_side(way).counted(len(np.intersect1d(directed(way, *pairs_added)[0], queries)))
        for way, queries in truth.queries.items()
    ]
    count = int(added.sum())
    pairs = f"{plural(count, 'pair')} {'is' if count == 1 else 'are'} relevant by a duplicate"
    return f"{truth.name}: {pairs}; {' and '.join(changed)} have a higher R"
