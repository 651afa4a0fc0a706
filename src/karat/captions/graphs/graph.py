"""A scene graph: the objects that a caption names, what they are like, and how they relate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

Tuple = tuple[str, ...]
Item = TypeVar("Item")


def once(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items in order, each once.

    >>> once(["dog", "cat", "dog"])
    ('dog', 'cat')
    """
    return tuple(dict.fromkeys(items))


@dataclass(frozen=True)
class SceneGraph:
    """What one caption says, in three kinds of tuples; every word is a lower-case lemma.

    Parameters
    ----------
    objects
        The things that are named, in order.
    attributes
        (object, what it is like).
    relations
        (subject, how it relates, object).

    Examples
    --------
    >>> graph = SceneGraph(("man", "horse"), (("horse", "brown"),), (("man", "ride", "horse"),))
    >>> print(graph)
    man, horse; horse is brown; man – ride – horse
    >>> graph.tuples
    (('man',), ('horse',), ('horse', 'brown'), ('man', 'ride', 'horse'))
    >>> print(graph.listing())
    ( man , ride , horse ) , ( horse , is , brown )
    """

    objects: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()

    @property
    def tuples(self) -> tuple[Tuple, ...]:
        """What SPICE counts: every object, attribute and relation, each once."""
        return (*((name,) for name in self.objects), *self.attributes, *self.relations)

    def listed(self) -> tuple[Tuple, ...]:
        """Return the tuples that the original tool prints.

        These are the relations, then the attributes as (object, is, attribute). The objects are printed only
        where there is neither.
        """
        attributes = ((name, "is", what) for name, what in self.attributes)
        return (*self.relations, *attributes) or tuple((name,) for name in self.objects)

    def listing(self) -> str:
        """Return the tuples in the notation of the original tool."""
        return " , ".join(f"( {' , '.join(parts)} )" for parts in self.listed())

    def to_dict(self) -> dict[str, list[str] | list[list[str]]]:
        """Return plain lists, for json."""
        return {
            "objects": list(self.objects),
            "attributes": [list(pair) for pair in self.attributes],
            "relations": [list(triple) for triple in self.relations],
        }

    def __str__(self) -> str:
        parts = [", ".join(self.objects)]
        parts += [f"{name} is {what}" for name, what in self.attributes]
        parts += [" – ".join(triple) for triple in self.relations]
        return "; ".join(part for part in parts if part) or "nothing"
